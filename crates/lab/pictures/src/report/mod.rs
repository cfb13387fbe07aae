//! A run as one page: its answer first, as in a terminal, then its charts and all its figures, in a file that needs no
//! other.
//!
//! The page loads nothing, has no script and can be printed. The runs are in the record that it names.

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::Context as _;
use lab_cases::Case;
use lab_protocol::{Metric, Note};
use lab_report::{
    CaseRecord, Cell, ComparisonAnswer, Headline, Meaning, NoteLine, Record, code, notes,
    origin::{command_line, day, relative},
    plural, reason,
    tables::{details, how_measured, requests},
    thousands,
};
use lab_system::write_whole;
use maud::{Markup, PreEscaped, html};

use crate::{
    chart,
    html::{document, header, made, note_list},
};

/// Writes the page of a record to `path`. `cases` are those that the workspace knows, and `flame` is
/// the directory of their flame graphs.
pub fn write(record: &Record, cases: &[Case], flame: &Path, path: &Path) -> anyhow::Result<()> {
    let [path, flame] = [path, flame].map(std::path::absolute);
    let (path, flame) = (path?, flame?);
    let dir = path.parent().context("a file has a directory")?;
    let link = |case: &str| {
        let page = flame.join(case).join("index.html");
        page.is_file().then(|| relative(dir, &page))
    };
    write_whole(&path, &page(record, cases, link))
}

fn page(record: &Record, cases: &[Case], flame: impl Fn(&str) -> Option<String>) -> String {
    let about = |case: &CaseRecord| cases.iter().find(|about| case.case == about.name);
    let answer = ComparisonAnswer::of(record);
    let title = answer.headline.text();
    let body = match &record.cases[..] {
        [case] => one(record, case, &answer, about(case), flame(case.case.as_str())),
        several => html! {
            (header(&in_short(record), html! { (title) }, None))
            (overview(&answer))
            (note_list(&doubts(record)))
            @for case in several { (section(case, about(case), flame(case.case.as_str()))) }
        },
    };
    let body = html! {
        (body)
        section { (made(&origin(record), &[command_line(&record.command)])) }
    };
    document(&title, body)
}

/// A single comparison: its answer is the title.
fn one(
    record: &Record,
    case: &CaseRecord,
    answer: &ComparisonAnswer,
    about: Option<&Case>,
    flame: Option<String>,
) -> Markup {
    let question = about.map(|about| html! { (about.question) }).or_else(|| given(case));
    html! {
        (header(&in_short(record), in_colour(&answer.headline), question))
        (first_screen(answer, doubts(record)))
        (chart(case))
        section { h2 { "All figures" } (figures(case, flame)) }
    }
}

/// What the reader of `lab compare` gave.
fn given(case: &CaseRecord) -> Option<Markup> {
    let given = case.variants.iter().filter(|it| !it.given.is_empty());
    let lines = html! {
        @for (at, side) in given.clone().enumerate() {
            @if at > 0 { br; }
            (side.variant) ": " code { (side.given) }
        }
    };
    (given.count() > 0).then_some(lines)
}

/// One of several cases.
fn section(case: &CaseRecord, about: Option<&Case>, flame: Option<String>) -> Markup {
    // The overview says once what each candidate differs in.
    let answer = ComparisonAnswer { besides: Vec::new(), ..ComparisonAnswer::of_case(case) };
    html! {
        section id=(case.case.as_str()) {
            @if about.is_some() { p class="case" { (case.case.as_str()) } }
            h2 { (about.map_or(case.case.as_str(), |about| about.title.as_str())) }
            @if let Some(about) = about { p { (about.question) } }
            @if let Some(given) = given(case) { p { (given) } }
            p class="verdict" { (in_colour(&answer.headline)) }
            (first_screen(&answer, Vec::new()))
            (chart(case))
            details {
                summary { "All figures of " (case.case.as_str()) }
                (figures(case, flame))
            }
        }
    }
}

pub(crate) fn in_colour(headline: &Headline) -> Markup {
    let Headline::Case { before, verdict, after } = headline else { return Markup::default() };
    let verdict = Cell::new(verdict.to_string(), Meaning::Verdict(*verdict));
    html! { (before) (verdict.html()) (after) }
}

/// What a terminal shows below the answer. `doubts` go before the notes.
fn first_screen(answer: &ComparisonAnswer, doubts: Vec<String>) -> Markup {
    let line = |NoteLine { code, text }: &NoteLine| in_code(code.as_deref()) + &capital(text);
    let rest = answer.notes.rest;
    let more = (rest > 0).then(|| format!("And {}, below.", plural(rest, "more note")));
    let first = answer.notes.lines.iter().map(line);
    let notes: Vec<_> = doubts.into_iter().chain(first).chain(more).collect();
    html! {
        @for reason in answer.reasons.iter().filter(|reason| !reason.is_decided()) {
            p { (capital(&reason.sentence)) }
        }
        div class="answer" { (table(answer)) }
        (besides(answer))
        (note_list(&notes))
    }
}

/// What differs besides the code in a line, and all of it in a fold.
fn besides(answer: &ComparisonAnswer) -> Markup {
    html! {
        @for besides in &answer.besides {
            details class="besides" {
                summary { (capital(&besides.line)) }
                (besides.table.html())
            }
        }
    }
}

/// The table of the screen. Its last column, the mark of the metric that decides, is part of the name here: a phone has
/// no room for it.
fn table(answer: &ComparisonAnswer) -> Markup {
    let table = &answer.table;
    match table.head.last() {
        Some(name) if name.is_empty() => {
            table.columns(&(0..table.head.len() - 1).collect::<Vec<_>>()).html()
        }
        _ => table.html(),
    }
}

fn chart(case: &CaseRecord) -> Markup {
    html! { figure class="chart" { (PreEscaped(chart::deciding(case).svg)) } }
}

/// Why the case has its verdict, all notes, and every figure as a table.
fn figures(case: &CaseRecord, flame: Option<String>) -> Markup {
    let notes: Vec<_> = notes(case).iter().map(in_html).collect();
    let how = format!("{}, after {} s of warm-up each", how_measured(case), case.warm_up_s);
    html! {
        p { (capital(&how)) " " (capital(&reason(case))) }
        @for table in details(case) { (table.html()) }
        @if case.metric != Metric::Time { (requests(case).html()) }
        (note_list(&notes))
        @if let Some(flame) = flame {
            p class="onward" { a href=(flame) { "Where the time of " (case.case.as_str()) " goes: its flame graphs" } }
        }
    }
}

/// All cases, a row each, and why some are not decided.
fn overview(answer: &ComparisonAnswer) -> Markup {
    html! {
        div class="answer all" { (answer.table.html()) }
        (besides(answer))
        @for reason in answer.reasons.iter().filter(|reason| !reason.is_decided()) {
            p { (reason.case) ": " (capital(&reason.sentence)) }
        }
    }
}

/// A note with its code, which `lab explain` explains.
pub fn in_html(note: &Note) -> String {
    in_code(code(note).as_deref()) + &capital(&lab_report::sentence(note))
}

fn in_code(code: Option<&str>) -> String {
    code.map_or(String::new(), |code| format!("`note[{code}]` "))
}

/// A clause as a sentence. A variant's name at its start keeps its case.
pub(crate) fn capital(clause: &str) -> String {
    let clause = clause.trim().trim_end_matches('.');
    let mut rest = clause.chars();
    let is_name =
        clause.split_once(':').is_some_and(|(name, _)| !name.contains(' ') && name != "throughput");
    match rest.next() {
        Some(first) if !is_name => format!("{}{}.", first.to_uppercase(), rest.as_str()),
        Some(_) => format!("{clause}."),
        None => String::new(),
    }
}

fn in_short(record: &Record) -> String {
    let cases = match &record.cases[..] {
        [_] if record.is_of_own_servers() => "lab compare".to_owned(),
        [one] => one.case.to_string(),
        several if record.is_of_own_servers() => {
            format!("lab compare, {}", plural(several.len(), "candidate"))
        }
        several => format!("{} cases", several.len()),
    };
    let pairs = record.cases.iter().map(|case| case.pairs).min().unwrap_or(0);
    let machine = &record.machine;
    let pairs = plural(pairs, "pair");
    format!("{cases}: {pairs} of runs on {machine}, {}", day(record.created))
}

/// What makes all of the figures doubtful, if anything does.
fn doubts(record: &Record) -> Vec<String> {
    let mut notes = Vec::new();
    if record.quick {
        notes.push(
            "This was a quick run: its runs are short and its figures rough. Quote those of a run \
             without `--quick`."
                .to_owned(),
        );
    }
    if record.build.profile == "debug" {
        notes.push("This was a debug build: its figures do not apply to a release build.".into());
    }
    let unclean = record.cases.iter().filter(|case| case.has_faults());
    let unclean: Vec<_> = unclean.map(|case| case.case.as_str()).collect();
    if !unclean.is_empty() {
        notes.push(format!(
            "Some answers were wrong or missing, in {}: do not use its figures.",
            unclean.join(", ")
        ));
    }
    notes
}

/// Where, when and of what the record was made.
fn origin(record: &Record) -> Vec<(String, String)> {
    let (machine, build) = (&record.machine, &record.build);
    let commit = build.commit.as_ref().map(|commit| match build.dirty {
        Some(true) => format!("{commit}, with uncommitted changes"),
        _ => commit.clone(),
    });
    let facts = [
        // The name of its file, which has every single run.
        ("record", Some(record.created.strftime("%Y%m%dT%H%M%S%3fZ.json").to_string())),
        ("made", Some(record.created.strftime("%Y-%m-%d %H:%M UTC").to_string())),
        ("machine", Some(machine.to_string())),
        ("memory", machine.memory_mib.map(|mib| format!("{} MiB", thousands(mib as f64)))),
        ("system", Some(format!("{}, {}", machine.os, machine.arch))),
        ("kernel", machine.kernel.clone()),
        ("governor", machine.governor.clone()),
        ("compiler", build.rustc.clone()),
        ("profile", Some(build.profile.clone())),
        ("commit", commit),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
