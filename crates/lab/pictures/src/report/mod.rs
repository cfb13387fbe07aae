//! A run as one page: its answer first, as in a terminal, then its charts and all its figures, in a file that needs no
//! other.
//!
//! The page loads nothing, has no script and can be printed. The runs are in the record that it names.

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::Context as _;
use lab_cases::Case;
use lab_model::{Metric, Note};
use lab_report::{
    CaseRecord, Record, code, notes,
    origin::{command_line, day, relative},
    plural, reason, rows,
    screen::{self, NoteLine},
    tables::{details, how_measured, requests},
    tally, thousands,
};
use lab_stats::Verdict;
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
    let about = |case: &CaseRecord| cases.iter().find(|about| about.name == case.case);
    let (title, body) = match &record.cases[..] {
        [case] => {
            let title = screen::verdict(case).concat();
            (title, one(record, case, about(case), flame(&case.case)))
        }
        several => {
            let title =
                if record.is_of_own_servers() { tallied(several) } else { in_how_many(several) };
            let body = html! {
                (header(&in_short(record), html! { (title) }, None))
                (overview(record))
                (note_list(&doubts(record)))
                @for case in several { (section(case, about(case), flame(&case.case))) }
            };
            (title, body)
        }
    };
    let body = html! {
        (body)
        section { (made(&origin(record), &[command_line(&record.command)])) }
    };
    document(&title, body)
}

/// A single comparison: its answer is the title.
fn one(record: &Record, case: &CaseRecord, about: Option<&Case>, flame: Option<String>) -> Markup {
    let question = about.map(|about| html! { (about.question) }).or_else(|| given(case));
    html! {
        (header(&in_short(record), answer(case), question))
        (first_screen(case, doubts(record)))
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
    html! {
        section id=(case.case) {
            @if about.is_some() { p class="case" { (case.case) } }
            h2 { (about.map_or(&case.case, |about| &about.title)) }
            @if let Some(about) = about { p { (about.question) } }
            @if let Some(given) = given(case) { p { (given) } }
            p class="verdict" { (answer(case)) }
            (first_screen(case, Vec::new()))
            (chart(case))
            details {
                summary { "All figures of " (case.case) }
                (figures(case, flame))
            }
        }
    }
}

/// `fixed is faster: 7.26× the throughput (6.92–7.68)`
fn answer(case: &CaseRecord) -> Markup {
    let [before, verdict, after] = screen::verdict(case);
    html! { (before) (coloured(case.verdict, &verdict)) (after) }
}

/// A verdict's colour. The word is always there, too.
fn coloured(verdict: Verdict, text: &str) -> Markup {
    let class = match verdict {
        Verdict::Faster | Verdict::SlightlyFaster => "better",
        Verdict::Slower | Verdict::SlightlySlower => "worse",
        Verdict::Undecided => "undecided",
        Verdict::Equivalent => "equivalent",
    };
    html! { strong class=(class) { (text) } }
}

/// What a terminal shows below the answer. `doubts` go before the notes.
fn first_screen(case: &CaseRecord, doubts: Vec<String>) -> Markup {
    let (first, rest) = screen::first_notes(case);
    let line = |NoteLine { code, text }| in_code(code) + &capital(&text);
    let more = (rest > 0).then(|| format!("And {}, below.", plural(rest, "more note")));
    let notes: Vec<_> = doubts.into_iter().chain(first.into_iter().map(line)).chain(more).collect();
    html! {
        @if let Some(why) = screen::why(case) { p { (capital(&why)) } }
        div class="answer" { (table(case)) }
        (note_list(&notes))
    }
}

/// The table of the screen. Its last column, the mark of the metric that decides, is part of the name here: a phone has
/// no room for it.
fn table(case: &CaseRecord) -> Markup {
    let mut table = screen::table(case);
    if case.variants.len() > 2 {
        return table.html();
    }
    let decides = |row: &Vec<String>| row.last().is_some_and(|it| !it.is_empty());
    let deciding = table.rows.iter().position(decides);
    let judged: Vec<_> = table.rows.iter().map(|row| judged(case, &row[0])).collect();
    let last = table.head.len().saturating_sub(1);
    table = table.columns(&(0..last).collect::<Vec<_>>());
    table.html_with(|row, column| {
        let text = &table.rows[row][column];
        match column {
            0 if deciding == Some(row) => Some(html! { strong { (text) } " decides" }),
            column if column + 1 == last => judged[row].map(|it| coloured(it, text)),
            _ => None,
        }
    })
}

/// What the metric with this name shows, if it shows something.
fn judged(case: &CaseRecord, name: &str) -> Option<Verdict> {
    let metric = Metric::all().find(|metric| case.short(*metric) == name)?;
    let is_factor = case.speedup.of(metric).is_some()
        && (metric != Metric::Cpu || case.idle_baseline().is_none());
    Some(case.judged_by(metric).0).filter(|it| is_factor && it.direction() != 0)
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
            p class="onward" { a href=(flame) { "Where the time of " (case.case) " goes: its flame graphs" } }
        }
    }
}

/// All cases, a row each, and why some are not decided.
fn overview(record: &Record) -> Markup {
    let table = rows(record);
    let cell = |row: usize, column: usize| {
        let text = &table.rows[row][column];
        let case = record.cases.iter().find(|case| case.case == table.rows[row][0])?;
        match column {
            0 => Some(html! { a href={ "#" (case.case) } { (text) } }),
            1 => Some(coloured(case.verdict, text)),
            _ => None,
        }
    };
    let undecided = record.cases.iter().filter_map(|case| Some((case, screen::why(case)?)));
    html! {
        div class="answer all" { (table.html_with(cell)) }
        @for (case, why) in undecided { p { (case.case) ": " (capital(&why)) } }
    }
}

/// `fixed is faster in 5 of 6 cases`
fn in_how_many(cases: &[CaseRecord]) -> String {
    let candidate = cases.first().map_or("fixed", |case| case.names()[1]);
    let faster = cases.iter().filter(|case| case.verdict == Verdict::Faster).count();
    format!("{candidate} is faster in {faster} of {} cases", cases.len())
}

/// `faster: mimalloc and jemalloc; undecided: musl`
fn tallied(cases: &[CaseRecord]) -> String {
    let all = tally(cases).into_iter().map(|(verdict, names)| format!("{verdict}: {names}"));
    all.collect::<Vec<_>>().join("; ")
}

/// A note with its code, which `lab explain` explains.
pub fn in_html(note: &Note) -> String {
    in_code(code(note)) + &capital(&lab_report::sentence(note))
}

fn in_code(code: Option<String>) -> String {
    code.map_or(String::new(), |code| format!("`note[{code}]` "))
}

/// A clause as a sentence. A variant's name at its start keeps its case.
fn capital(clause: &str) -> String {
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
        [one] => one.case.clone(),
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
