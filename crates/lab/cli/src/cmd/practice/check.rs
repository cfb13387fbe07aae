//! `lab practice check`: judges the reader's fix, and says what is next.

use std::{process::ExitCode, time::Duration};

use anyhow::ensure;
use console::{StyledObject, style};
use jiff::Timestamp;
use lab_cases::{Case, MINE, Workspace};
use lab_measure::bench::Effort;
use lab_practice::{Entry, Gate, Mark, Report, Servers, length};
use lab_report::{column, join, paragraph, planned};
use lab_system::{err, out};

use crate::cmd::{Places, complain, interrupted, interruptible};

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

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let cases = cases(workspace, options)?;
    if !options.json {
        announce(&cases, options);
    }
    let saved = || -> Vec<_> {
        let files = cases.iter().map(|case| case.source(MINE));
        files.map(|file| file.metadata().and_then(|it| it.modified()).ok()).collect()
    };
    let all = async || {
        let mut marks = Vec::new();
        let build = Servers::build(workspace, &cases, !options.fast);
        let servers = places.build_unless_given(Servers::built(workspace), build).await?;
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
            let _ = marks.inspect_err(complain);
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

/// Those that are named, or all that the reader has begun.
fn cases(workspace: &Workspace, options: &Options) -> anyhow::Result<Vec<Case>> {
    if !options.cases.is_empty() {
        return Ok(workspace.cases_named(&options.cases)?.iter().map(Case::masked).collect());
    }
    let mut begun = lab_practice::course(workspace)?;
    begun.retain(|case| case.source(MINE).is_file());
    ensure!(!begun.is_empty(), "you have begun nothing: `just try CASE` makes a file to edit");
    Ok(begun)
}

/// What is about to happen, and how long it takes.
fn announce(cases: &[Case], options: &Options) {
    let names: Vec<_> = cases.iter().map(|case| case.shown.clone()).collect();
    let length = |case| effort(case, options, 0).map_or(Duration::ZERO, |it| length(case, it));
    let (gates, time) = if options.fast {
        ("answers and mechanism", "a few seconds".to_owned())
    } else {
        ("answers, mechanism, speed", format!("about {}", planned(cases.iter().map(length).sum())))
    };
    let plan = format!("checking {}: {gates}. After the build, {time}", join(&names));
    err!("{}", paragraph(&plan));
}

/// How much is measured; `None` without a clock.
fn effort(case: &Case, options: &Options, seed: u64) -> Option<Effort> {
    let usual = Effort::usual(!options.longer, seed);
    // Nothing else is judged by latencies.
    let effort = Effort { open_loop: Duration::ZERO, ..usual }.for_case(case.decides);
    (!options.fast).then_some(effort)
}

async fn check_one(
    workspace: &Workspace,
    servers: &Servers,
    case: &Case,
    options: &Options,
) -> anyhow::Result<Mark> {
    let now = Timestamp::now();
    // Other requests, and another order of the runs, each time. A short number, because it is printed.
    let seed = options.seed.unwrap_or(now.as_microsecond() as u64 % 1_000_000);
    let effort = effort(case, options, seed);
    let report = lab_practice::check(servers, case, effort, seed).await?;
    let is_passed = report.mark == Mark::Passed && !options.fast && report.is_as_committed;
    let passed = is_passed.then_some(now);
    let entry = Entry::change(workspace, case, |entry| entry.passed = entry.passed.or(passed))?;
    if options.json {
        out!("{}", serde_json::to_string(&report)?)
    } else {
        print(case, &report, &entry, options.fast)
    }
    Ok(report.mark)
}

fn print(case: &Case, report: &Report, entry: &Entry, is_fast: bool) {
    let name = &case.shown;
    let label = format!("\n{}  ", style(name).bold().cyan());
    out!("{}", column(name.chars().count() + 2, &label, &case.question));
    for Gate { gate, mark, measured, needed } in &report.gates {
        let label = format!("  {gate:<11}{:<11}", word(*mark));
        out!("{}", column(24, &label, measured));
        if !needed.is_empty() {
            out!("{}", column(32, &format!("{:<24}needed: ", ""), needed));
        }
    }
    for note in &report.notes {
        out!("{}", paragraph(note));
    }
    let next = next(case, report, is_fast);
    let verdict = format!("{}: {next}", word(report.mark).bold());
    out!("\n{}", column(2, "  ", &verdict));
    if report.mark == Mark::NotYet {
        out!("  `--seed {}` draws the same requests again", report.seed);
    }
    if let Some(evidence) = &report.evidence {
        out!("\n{}", paragraph(&format!("Evidence: {evidence}.")));
    }
    if let Some(speedups) = &report.speedups {
        let said = [entry.compare(case, speedups), entry.judge(case)];
        said.into_iter().flatten().for_each(|said| out!("\n{}", paragraph(&said)));
    }
}

fn word(mark: Mark) -> StyledObject<&'static str> {
    match mark {
        Mark::Passed => style("passed").green(),
        Mark::NotYet => style("not yet").red(),
        Mark::Undecided => style("undecided").yellow(),
    }
}

/// What to do next.
fn next(case: &Case, report: &Report, is_fast: bool) -> String {
    let name = &case.shown;
    match (report.mark, report.gates.last().map_or("", |gate| gate.gate)) {
        (Mark::Passed, _) if is_fast => format!("`just check {name}` also measures the speed"),
        (Mark::Passed, _) => format!("`just solution {name}` explains our fix"),
        (Mark::Undecided, _) => format!("`just check {name} --longer` narrows the interval"),
        (_, "answers") => {
            let tests = lab_report::path(&case.dir.join("tests/same_answers.rs"));
            format!("{tests} has more answers")
        }
        _ => format!("`just flame {name}` shows what is left, `just hint {name}` gives a hint"),
    }
}
