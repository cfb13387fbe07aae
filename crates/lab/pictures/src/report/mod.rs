//! A run as one page: its summary, its charts and all its figures, in a file that needs no other.
//!
//! The page loads nothing, has no script and can be printed. The runs are in the record that it names.

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::Context as _;
use lab_cases::Case;
use lab_model::Note;
use lab_report::{
    CaseRecord, Record, code, notes,
    origin::{command_line, day, relative},
    plural, reason,
    tables::{how_measured, requests, summary, tables},
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
    let names = record.cases.iter().map(CaseRecord::names).next();
    let [baseline, candidate] = names.unwrap_or(["slow", "fixed"]);
    let title = format!("Measured: {candidate} against {baseline}");
    let body = html! {
        (header("lab report", &title, &in_short(record)))
        (note_list(&general_notes(record)))
        section {
            h2 { "Summary" }
            (summary(&record.cases).html())
        }
        @for case in &record.cases {
            @let about = cases.iter().find(|about| about.name == case.case);
            (section(case, about, flame(&case.case)))
        }
        section { (made(&origin(record), &[command_line(&record.command)])) }
    };
    document(&title, body)
}

/// One case: the verdict with its reason, the charts, and every figure as a table.
/// `flame` is a link to the case's flame graphs.
fn section(case: &CaseRecord, about: Option<&Case>, flame: Option<String>) -> Markup {
    let notes: Vec<_> = notes(case).iter().map(in_html).collect();
    html! {
        section id=(case.case) {
            p class="case" { (case.case) }
            h2 { (about.map_or(&case.case, |about| &about.title)) }
            @if let Some(about) = about { p { (about.question) } }
            p { (capital(&how_measured(case))) }
            p class="verdict" {
                "Verdict: " strong { (case.verdict) } ". " (capital(&reason(case)))
            }
            figure class="chart" { (PreEscaped(chart::deciding(case).svg)) }
            (note_list(&notes))
            @for table in tables(case) { (table.html()) }
            (requests(case).html())
            @if let Some(flame) = flame {
                p class="onward" { a href=(flame) { "Where the time of " (case.case) " goes: its flame graphs" } }
            }
        }
    }
}

/// A note with its code, which `lab explain` explains.
pub fn in_html(note: &Note) -> String {
    let code = code(note).map_or(String::new(), |code| format!("`note[{code}]` "));
    code + &capital(&lab_report::sentence(note))
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
        [one] => one.case.clone(),
        several => format!("{} cases", several.len()),
    };
    let pairs = record.cases.iter().map(|case| case.pairs).min().unwrap_or(0);
    let machine = &record.machine;
    let pairs = plural(pairs, "pair");
    format!("{cases}, {pairs} of runs each, on {machine}, {}", day(record.created))
}

/// What makes all of the figures doubtful, if anything does.
fn general_notes(record: &Record) -> Vec<String> {
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
