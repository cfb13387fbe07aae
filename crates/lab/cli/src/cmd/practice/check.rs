//! `lab practice check`: judges the reader's fix, and says what is next.

use std::{process::ExitCode, time::Duration};

use anyhow::ensure;
use console::style;
use jiff::Timestamp;
use lab_display::{err, out};
use lab_measure::bench::Effort;
use lab_model::{Case, MINE, Workspace};
use lab_practice::{Entry, Gate, Mark, Report};

use crate::cmd::{Places, interrupted, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all that you have tried if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// Only the gates without a clock
    #[arg(long)]
    pub fast: bool,
    /// Measure the speed with longer runs, for a narrower interval
    #[arg(long, conflicts_with = "fast")]
    pub longer: bool,
    /// Check again after each save
    #[arg(long)]
    pub watch: bool,
    /// Print a JSON document for each case instead of text
    #[arg(long)]
    pub json: bool,
}

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let mut cases = workspace.cases_named(&options.cases)?;
    cases.retain(|case| !options.cases.is_empty() || case.source(MINE).is_file());
    ensure!(!cases.is_empty(), "you have tried no case: `just try CASE` begins one");
    let saved = || -> Vec<_> {
        let files = cases.iter().map(|case| case.source(MINE));
        files.map(|file| file.metadata().and_then(|it| it.modified()).ok()).collect()
    };
    let all = async || {
        let mut marks = Vec::new();
        let counting = match places.bin_dir {
            None => lab_practice::build(workspace, &cases, !options.fast).await?,
            Some(_) => workspace.clone(),
        };
        for case in &cases {
            marks.push(check_one(workspace, &counting, case, options).await?);
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
    counting: &Workspace,
    case: &Case,
    options: &Options,
) -> anyhow::Result<Mark> {
    let now = Timestamp::now();
    // Other requests, and another order of the runs, each time.
    let seed = now.as_microsecond() as u64;
    let usual = Effort::usual(!options.longer, seed);
    // Nothing else is judged by latencies.
    let effort = Effort { open_loop: Duration::ZERO, ..usual }.for_case(case.decides);
    let effort = (!options.fast).then_some(effort);
    let report = lab_practice::check(workspace, counting, case, effort, seed).await?;
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
    if let (Some(said), Some(criteria)) = (&entry.suspect, &case.check)
        && let Some(compared) = entry.compare(report.speedup)
    {
        let verdict = if criteria.suspects.contains(said) { "right" } else { "not the fault" };
        out!("  {compared}; you suspected {said}, which is {verdict}");
    }
}
