//! A run as one page: its summary, its charts and all its figures, in a file that needs no other.
//!
//! The page loads nothing, it can be printed, and it contains the record itself, so that readers can
//! check every figure. Its one script only offers that record as a file.

mod case;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::Context as _;
use lab_display::{
    NONE, noise,
    page::{Table, document},
    plural, significant, speedup_or, thousands,
};
use lab_model::{
    Case, CaseRecord, Record, confidence,
    words::{command_line, day, machine_in_words, relative},
    write_whole,
};
use maud::{Markup, PreEscaped, html};

const SCRIPT: &str = include_str!("download.js");

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
    write_whole(&path, &page(record, cases, link)?)
}

fn page(
    record: &Record,
    cases: &[Case],
    flame: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<String> {
    let names = record.cases.iter().map(sides).next();
    let [baseline, candidate] = names.unwrap_or(["slow", "fixed"]);
    let title = format!("Measured: {candidate} against {baseline}");
    let json = serde_json::to_string(record).context("the record cannot be written")?;
    let file = record.created.strftime("%Y%m%dT%H%M%S%3fZ.json").to_string();
    let body = html! {
        header {
            p class="case" { "lab report" }
            h1 { (title) }
            p class="question" { (in_short(record)) }
        }
        (notices(&doubts(record)))
        section {
            h2 { "Summary" }
            (summary(record, [baseline, candidate]).html())
        }
        @for case in &record.cases {
            @let about = cases.iter().find(|about| about.name == case.case);
            (case::section(case, about, flame(&case.case)))
        }
        section {
            h2 { "How it was made" }
            dl { @for (name, value) in &origin(record) { dt { (name) } dd { (value) } } }
            pre { code { (command_line(&record.command)) } }
        }
        section class="raw" {
            h2 { "The record" }
            p {
                "Every single run, as JSON. It is part of this page, in the element "
                code { "#record" } "; latencies are pairs of microseconds and requests. "
                // Without a script there is no link, and nothing else is missing.
                a id="download" download=(file) hidden { "Download it" }
            }
            // In JSON, `<` occurs only in strings. Escaped, it cannot end the element.
            script type="application/json" id="record" { (PreEscaped(json.replace('<', "\\u003c"))) }
            script { (PreEscaped(SCRIPT)) }
        }
    };
    Ok(document(&title, body))
}

/// The names of what is compared.
fn sides(case: &CaseRecord) -> [&str; 2] {
    case.sides().map_or(["slow", "fixed"], |(one, other)| [&one.variant, &other.variant])
}

fn in_short(record: &Record) -> String {
    let cases = match &record.cases[..] {
        [one] => one.case.clone(),
        several => format!("{} cases", several.len()),
    };
    let pairs = record.cases.iter().map(|case| case.pairs).min().unwrap_or(0);
    let machine = machine_in_words(&record.machine);
    let pairs = plural(pairs, "pair");
    format!("{cases}, {pairs} of runs each, on {machine}, {}", day(record.created))
}

/// What makes all of the figures doubtful, if anything does.
fn doubts(record: &Record) -> Vec<String> {
    let mut doubts = Vec::new();
    if record.quick {
        doubts.push(
            "This was a quick run: its runs are short and its figures rough. Quote those of a run \
             without `--quick`."
                .to_owned(),
        );
    }
    if record.build.profile == "debug" {
        doubts.push("This was a debug build: its figures do not apply to a release build.".into());
    }
    let unclean = record.cases.iter().filter(|case| !case.is_clean());
    let unclean: Vec<_> = unclean.map(|case| case.case.as_str()).collect();
    if !unclean.is_empty() {
        doubts.push(format!(
            "Some answers were wrong or missing, in {}: do not use its figures.",
            unclean.join(", ")
        ));
    }
    doubts
}

fn summary(record: &Record, names: [&str; 2]) -> Table {
    // The factors come first: a phone shows no more.
    let [baseline, candidate] = names.map(|name| format!("{name}, req/s"));
    let claims = ["case", "by req/s", "A/A", "by CPU per request", "A/A", "verdict"];
    let row = |case: &CaseRecord| {
        let sides = case.sides();
        let rps = |side: Option<f64>| side.map_or(NONE.to_owned(), significant);
        let [cpu, cpu_noise] = case.cpu_in_words();
        vec![
            case.case.clone(),
            speedup_or(NONE, case.speedup.throughput),
            case.control.speedup.throughput.map_or(NONE.into(), |control| noise(&control)),
            cpu,
            cpu_noise,
            case.verdict.to_string(),
            rps(sides.map(|(baseline, _)| baseline.throughput_rps)),
            rps(sides.map(|(_, candidate)| candidate.throughput_rps)),
        ]
    };
    let interval = confidence(&record.cases).map_or(String::new(), |confidence| {
        format!("The brackets show a {confidence} interval, from pairs of runs. ")
    });
    Table {
        caption: format!(
            "{interval}A/A is the noise of the metric on its left: how far the baseline, measured against \
             itself, is from 1."
        ),
        head: claims.map(str::to_owned).into_iter().chain([baseline, candidate]).collect(),
        rows: record.cases.iter().map(row).collect(),
    }
}

/// Where, when and of what the record was made.
fn origin(record: &Record) -> Vec<(&'static str, String)> {
    let (machine, build) = (&record.machine, &record.build);
    let commit = build.commit.as_ref().map(|commit| match build.dirty {
        Some(true) => format!("{commit}, with uncommitted changes"),
        _ => commit.clone(),
    });
    let facts = [
        ("made", Some(record.created.strftime("%Y-%m-%d %H:%M UTC").to_string())),
        ("machine", Some(machine_in_words(machine))),
        ("memory", machine.memory_mib.map(|mib| format!("{} MiB", thousands(mib as f64)))),
        ("system", Some(format!("{}, {}", machine.os, machine.arch))),
        ("kernel", machine.kernel.clone()),
        ("governor", machine.governor.clone()),
        ("compiler", build.rustc.clone()),
        ("profile", Some(build.profile.clone())),
        ("commit", commit),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Notes with backticks around code.
fn notices(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul class="notices" { @for note in notes { li {
                @for (index, part) in note.split('`').enumerate() {
                    @if index % 2 == 1 { code { (part) } } @else { (part) }
                }
            } } }
        }
    }
}
