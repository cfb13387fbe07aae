//! `lab practice`: the reader writes the fix of a case, and the laboratory judges it.

use std::{
    io::{BufRead as _, Write as _},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser};
use console::style;
use jiff::Timestamp;
use lab_display::{NONE, Table, err, factor, out, paragraph};
use lab_measure::bench::Effort;
use lab_model::{Case, MINE, Metric, SUSPECTS, Workspace};
use lab_practice::{Entry, Gate, Mark, Report, Servers};

use super::{Places, interrupted, interruptible};

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Copy `slow.rs` to `mine.rs`, for you to fix
    Try { case: String },
    /// Move your `mine.rs` to `mine.rs.old`, and begin again
    Reset {
        case: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Judge your fix: answers, mechanism, speed [exit code: 0 passed, 1 not yet, 2 error, 3 undecided]
    Check(CheckOptions),
    /// Write down what you suspect and what a fix would gain, before you measure
    Predict {
        case: String,
        /// What you suspect
        #[arg(long, value_parser = suspects())]
        suspect: Option<String>,
        /// How many times better a fixed server is, by the metric that decides
        #[arg(long, value_name = "N", value_parser = factor_of)]
        factor: Option<f64>,
    },
    /// Show a hint; one more each time
    Hint { case: String },
    /// Explain our fix and compare it with yours, once yours has passed
    Solution {
        case: String,
        /// Show it anyway
        #[arg(long)]
        give_up: bool,
    },
    /// List what you can fix, and how far you are
    Exercises {
        /// Print one JSON document instead of a table
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub struct CheckOptions {
    /// The cases; all that you have tried if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// Only the gates without a clock
    #[arg(long)]
    pub fast: bool,
    /// Measure the speed with longer runs, for a narrower interval
    #[arg(long, conflicts_with = "fast")]
    pub longer: bool,
    /// Draw the same requests and waits as a check that printed this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Check again after each save
    #[arg(long)]
    pub watch: bool,
    /// Print a JSON document for each case instead of text
    #[arg(long)]
    pub json: bool,
}

fn suspects() -> PossibleValuesParser {
    SUSPECTS.map(|(name, help)| PossibleValue::new(name).help(help)).into()
}

fn factor_of(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['x', '×']).parse().ok();
    let usable = number.filter(|it| (0.01..=1e6).contains(it));
    usable.ok_or_else(|| "a factor is a number such as 4 or 1.5".to_owned())
}

pub fn run(places: &Places, verb: &Verb) -> anyhow::Result<ExitCode> {
    let workspace = &places.workspace()?;
    let named = match verb {
        Verb::Check(options) => return check(places, workspace, options),
        Verb::Exercises { json } => return exercises(workspace, *json),
        Verb::Try { case } | Verb::Reset { case, .. } | Verb::Predict { case, .. } => case,
        Verb::Hint { case } | Verb::Solution { case, .. } => case,
    };
    let case = &workspace.cases_named(std::slice::from_ref(named))?.remove(0);
    match verb {
        Verb::Reset { yes, .. } => {
            let answer = |it: &str| Some(["y", "yes"].contains(&it));
            let is_sure =
                *yes || ask("Begin again? Your file becomes mine.rs.old (y/n)", "--yes", answer)?;
            ensure!(is_sure, "nothing was changed");
            lab_practice::reset(case)?;
            Entry::change(workspace, case, |entry| (entry.tried, entry.passed) = (None, None))?;
            begun(workspace, case)?;
        }
        Verb::Predict { suspect, factor: said, .. } => {
            let list = SUSPECTS.map(|(name, help)| format!("  {name:<12}{help}\n")).concat();
            let question = format!("{list}What do you suspect?");
            let known =
                |it: &str| SUSPECTS.iter().find(|(name, _)| *name == it).map(|it| it.0.to_owned());
            let suspect = suspect.clone().map_or_else(|| ask(&question, "--suspect", known), Ok)?;
            let question = match case.decides {
                Metric::Latency(_) => "How many times shorter is a fixed server's tail latency?",
                _ => "How many times higher is a fixed server's throughput?",
            };
            let said =
                said.map_or_else(|| ask(question, "--factor", |it| factor_of(it).ok()), Ok)?;
            out!("{suspect}, {}: `just bench {}` shows what is measured", factor(said), case.shown);
            let store =
                |entry: &mut Entry| (entry.suspect, entry.factor) = (Some(suspect), Some(said));
            Entry::change(workspace, case, store)?;
        }
        Verb::Hint { .. } => {
            let hints = case.check.as_ref().map_or(&[][..], |check| &check.hints);
            let more = |entry: &mut Entry| entry.hints = hints.len().min(entry.hints + 1);
            let shown = Entry::change(workspace, case, more)?.hints;
            for (nth, hint) in (1..).zip(&hints[..shown]) {
                out!("{}", paragraph(&format!("{nth} of {}: {hint}", hints.len())));
            }
        }
        Verb::Solution { give_up, .. } => {
            let (may, shown) =
                (Entry::of(workspace, case)?.passed.is_some() || *give_up, &case.shown);
            ensure!(
                may,
                "your fix has not passed `just check {shown}`; `just solution {shown} --give-up` shows ours"
            );
            out!("{}", lab_practice::solution(case)?);
            if !case.is_exercise() {
                let further = case.page().replace(".md", "-further.md");
                out!("{} explains it, and {further} measures alternatives.", case.page());
            }
        }
        _ => {
            lab_practice::begin(case)?;
            begun(workspace, case)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what to do with a file that was just made.
fn begun(workspace: &Workspace, case: &Case) -> anyhow::Result<()> {
    let now = Timestamp::now();
    Entry::change(workspace, case, |entry| entry.tried = entry.tried.or(Some(now)))?;
    out!("  Edit            {}", lab_display::path(&case.source(MINE)));
    out!("  Then            just check {}", case.shown);
    out!("  rust-analyzer   \"rust-analyzer.cargo.features\": [\"{}/mine\"]", case.name);
    Ok(())
}

/// Asks until an answer can be used.
fn ask<T>(question: &str, flag: &str, usable: impl Fn(&str) -> Option<T>) -> anyhow::Result<T> {
    let mut lines = std::io::stdin().lock().lines();
    loop {
        eprint!("{question} ");
        std::io::stderr().flush()?;
        let none = || format!("\nno answer, so nothing was changed: give it as {flag}");
        let line = lines.next().with_context(none)??;
        if let Some(answer) = usable(line.trim()) {
            return Ok(answer);
        }
    }
}

fn exercises(workspace: &Workspace, json: bool) -> anyhow::Result<ExitCode> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for case in workspace.cases_and_exercises()?.into_iter().filter(|case| case.check.is_some()) {
        let entry = Entry::of(workspace, &case)?;
        let (state, minutes) = (entry.state(), entry.minutes());
        all.push(serde_json::json!({ "case": case.name, "page": case.page(), "state": state, "minutes": minutes, "entry": entry }));
        let minutes = minutes.map_or(NONE.to_owned(), |it| it.to_string());
        let page = case.page();
        rows.push(vec![case.alias.unwrap_or(case.name), state.to_owned(), minutes, page]);
    }
    match json {
        true => out!("{}", serde_json::to_string(&all)?),
        false => out!("{}", Table::new("", ["to fix", "state", "minutes", "page"], rows).text()),
    }
    Ok(ExitCode::SUCCESS)
}

fn check(
    places: &Places,
    workspace: &Workspace,
    options: &CheckOptions,
) -> anyhow::Result<ExitCode> {
    let mut cases = workspace.cases_named(&options.cases)?;
    cases.retain(|case| !options.cases.is_empty() || case.source(MINE).is_file());
    ensure!(!cases.is_empty(), "you have tried no case: `just try CASE` begins one");
    let saved = || -> Vec<_> {
        let files = cases.iter().map(|case| case.source(MINE));
        files.map(|file| file.metadata().and_then(|it| it.modified()).ok()).collect()
    };
    let all = async || {
        let mut marks = Vec::new();
        let servers = match places.bin_dir {
            None => Servers::build(workspace, &cases, !options.fast).await?,
            Some(_) => Servers::built(workspace),
        };
        for case in &cases {
            marks.push(check_one(workspace, &servers, case, options).await?);
        }
        anyhow::Ok(marks)
    };
    let checked = interruptible(async {
        loop {
            let before = saved();
            let marks = all().await;
            if !options.watch {
                return marks;
            }
            let _ = marks.inspect_err(|error| err!("error: {error:#}"));
            err!("\nwaiting for the next save; Ctrl-C ends");
            while saved() == before {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    })?;
    let Some(marks) = checked else { return Ok(interrupted("your file is as you left it")) };
    let codes = [(Mark::NotYet, 1), (Mark::Undecided, 3)];
    let worst = codes.into_iter().find(|(mark, _)| marks.contains(mark));
    Ok(ExitCode::from(worst.map_or(0, |(_, code)| code)))
}

async fn check_one(
    workspace: &Workspace,
    servers: &Servers,
    case: &Case,
    options: &CheckOptions,
) -> anyhow::Result<Mark> {
    let now = Timestamp::now();
    // Other requests, and another order of the runs, each time. A short number, because it is printed.
    let seed = options.seed.unwrap_or(now.as_microsecond() as u64 % 1_000_000);
    let usual = Effort::usual(!options.longer, seed);
    let open_loop = match case.decides {
        Metric::Latency(_) => usual.open_loop.max(Duration::from_secs(1)),
        _ => Duration::ZERO,
    };
    let effort = Effort { open_loop, metric: case.decides, ..usual };
    let effort = (!options.fast).then_some(effort);
    let report = lab_practice::check(servers, case, effort, seed).await?;
    let passed = (report.mark == Mark::Passed && !options.fast).then_some(now);
    let entry = Entry::change(workspace, case, |entry| entry.passed = entry.passed.or(passed))?;
    match options.json {
        true => out!("{}", serde_json::to_string(&report)?),
        false => print(case, &report, &entry, options.fast),
    }
    Ok(report.mark)
}

fn print(case: &Case, report: &Report, entry: &Entry, is_fast: bool) {
    out!("\n{}  {}", style(&case.shown).bold().cyan(), case.question);
    let word = |mark: Mark| match mark {
        Mark::Passed => style("passed").green(),
        Mark::NotYet => style("not yet").red(),
        Mark::Undecided => style("undecided").yellow(),
    };
    for Gate { gate, mark, measured, needed } in &report.gates {
        out!("  {gate:<11}{:<11}{measured}", word(*mark));
        if !needed.is_empty() {
            out!("  {:<22}needed: {needed}", "");
        }
    }
    for remark in &report.remarks {
        out!("{}", paragraph(remark));
    }
    let (shown, gate) = (&case.shown, report.gates.last().map_or("", |gate| gate.gate));
    let next = match (report.mark, gate) {
        (Mark::Passed, _) if is_fast => format!("`just check {shown}` also measures the speed"),
        (Mark::Passed, _) => format!("`just solution {shown}` explains our fix"),
        (Mark::Undecided, _) => format!("`just check {shown} --longer` narrows the interval"),
        (_, "answers") => {
            format!(
                "{} has more answers",
                lab_display::path(&case.dir.join("tests/same_answers.rs"))
            )
        }
        _ => format!("`just flame {shown}` shows what is left, `just hint {shown}` gives a hint"),
    };
    out!("\n  {}: {next}", word(report.mark).bold());
    if report.mark == Mark::NotYet {
        out!("  `--seed {}` repeats the random requests", report.seed);
    }
    if let (Some(said), Some(criteria)) = (&entry.suspect, &case.check)
        && let Some(compared) = entry.compare(report.speedup)
    {
        let verdict = if criteria.suspects.contains(said) { "right" } else { "not the fault" };
        out!("  {compared}; you suspected {said}, which is {verdict}");
    }
}
