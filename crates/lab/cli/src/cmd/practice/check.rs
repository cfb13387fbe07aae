//! `lab practice check`: judges the reader's fix, and says what is next.

use std::{process::ExitCode, time::Duration};

use anyhow::ensure;
use console::{StyledObject, style};
use jiff::Timestamp;
use lab_cases::{Case, MINE, Workspace};
use lab_measure::bench::Effort;
use lab_practice::{Entry, Gate, Mark, Report, Servers, in_language, length};
use lab_report::{column, listed, paragraph, planned, translate, translated};
use lab_system::{err, out};

use super::predict;
use crate::cmd::{Places, interrupted, interruptible};

#[derive(Debug, Default, clap::Args)]
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
    /// Print a JSON document for each case instead of text
    #[arg(long)]
    pub json: bool,
}

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let cases = cases(workspace, options)?;
    if !options.json {
        if let [case] = &cases[..] {
            predict::ask_if_none(workspace, case)?;
        }
        announce(&cases, options);
    }
    let checked = interruptible(async {
        let build = Servers::build(workspace, &cases, !options.fast);
        let servers = places.build_unless_given(Servers::built(workspace), build).await?;
        let mut marks = Vec::new();
        for case in &cases {
            let (report, entry) = judge(workspace, &servers, case, options).await?;
            if options.json {
                out!("{}", serde_json::to_string(&report)?);
            } else {
                print(case, &report, &entry);
                print_next(case, &report, options.fast);
            }
            marks.push(report.mark);
        }
        Ok(marks)
    })?;
    let Some(marks) = checked else {
        return Ok(interrupted(&translate!("your file is as you left it")));
    };
    let codes = [(Mark::NotYet, 1), (Mark::Undecided, 3)];
    let worst = codes.into_iter().find(|(mark, _)| marks.contains(mark));
    Ok(ExitCode::from(worst.map_or(0, |(_, code)| code)))
}

/// Those that are named, or all that the reader has begun.
fn cases(workspace: &Workspace, options: &Options) -> anyhow::Result<Vec<Case>> {
    if !options.cases.is_empty() {
        let named = workspace.cases_named(&options.cases)?;
        return named.iter().map(|case| in_language(workspace, &case.masked())).collect();
    }
    let mut begun = lab_practice::course(workspace)?;
    begun.retain(|case| case.check.is_some() && case.source(MINE).is_file());
    ensure!(
        !begun.is_empty(),
        translate!("you have begun nothing: `just try CASE` makes a file to edit")
    );
    Ok(begun)
}

/// What is about to happen, and how long it takes.
pub(super) fn announce(cases: &[Case], options: &Options) {
    let names: Vec<_> = cases.iter().map(|case| case.shown.clone()).collect();
    let length =
        |case| effort(case, options, 0).map_or(Duration::ZERO, |effort| length(case, effort));
    let (gates, time) = if options.fast {
        (translate!("answers and mechanism"), translate!("a few seconds"))
    } else {
        let time = planned(cases.iter().map(length).sum());
        (translate!("answers, mechanism, speed"), translate!("about {time}", time))
    };
    let cases = listed(&names);
    let plan = translate!("checking {cases}: {gates}. After the build, {time}", cases, gates, time);
    err!("{}", paragraph(&plan));
}

/// How much is measured; `None` without a clock.
fn effort(case: &Case, options: &Options, seed: u64) -> Option<Effort> {
    let usual = Effort::usual(!options.longer, seed);
    // Nothing else is judged by latencies.
    let effort = Effort { open_loop: Duration::ZERO, ..usual }.for_case(case.decides);
    (!options.fast).then_some(effort)
}

/// Has a fix judged, and keeps in the journal that it passed.
pub(super) async fn judge(
    workspace: &Workspace,
    servers: &Servers,
    case: &Case,
    options: &Options,
) -> anyhow::Result<(Report, Entry)> {
    let now = Timestamp::now();
    // Other requests, and another order of the runs, each time. A short number, because it is printed.
    let seed = options.seed.unwrap_or(now.as_microsecond() as u64 % 1_000_000);
    let effort = effort(case, options, seed);
    let report = lab_practice::check(servers, case, effort, seed).await?;
    let is_passed = report.mark == Mark::Passed && !options.fast && report.is_as_committed;
    let passed = is_passed.then_some(now);
    let entry = Entry::change(workspace, case, |entry| entry.passed = entry.passed.or(passed))?;
    // A fix that passes answers the prediction as well as ours.
    if let Some(speedups) =
        report.speedups.as_ref().filter(|_| is_passed && entry.measured.is_none())
    {
        Entry::keep_measured(workspace, case, speedups)?;
    }
    Ok((report, entry))
}

/// The answer in a line, the gates in another one, and what to know.
pub(super) fn print(case: &Case, report: &Report, entry: &Entry) {
    let label = format!("{}  ", word(report.mark).bold());
    let found = report.gates.last().map_or(String::new(), said);
    let answer = translate!("{case}: {found}", case = case.shown, found);
    out!("\n{}", column(console::measure_text_width(&label), &label, &answer));
    out!("  {}", GATES.map(|name| gate(report, name)).join("   "));
    let passed =
        report.gates.iter().filter(|gate| gate.gate == "mechanism" && gate.mark == Mark::Passed);
    // It has been said if it is the last one.
    for Gate { measured, .. } in passed.filter(|_| report.gates.len() == GATES.len()) {
        out!("{}", paragraph(&translate!("Mechanism: {measured}", measured)));
    }
    for note in &report.notes {
        out!("{}", paragraph(note));
    }
    if let Some(speedups) = &report.speedups {
        let said = [entry.compare(case, speedups), entry.judge(case)];
        said.into_iter().flatten().for_each(|said| out!("{}", paragraph(&said)));
    }
}

/// What to do next, for somebody who types commands.
fn print_next(case: &Case, report: &Report, is_fast: bool) {
    let ways = ["check", "hint"].map(|verb| format!("just {verb} {}", case.shown));
    out!("{}", paragraph(&next(case, report, is_fast, [&ways[0], &ways[1]])));
    if report.mark == Mark::NotYet {
        let again = format!("just check {} --seed {}", case.shown, report.seed);
        out!("  {}", translate!("the same requests again: {again}", again));
    }
}

/// The gates, in their order.
const GATES: [&str; 3] = ["answers", "mechanism", "speed"];

/// What a gate found, and what it wants.
fn said(gate: &Gate) -> String {
    let Gate { gate, measured, needed, .. } = gate;
    let found = match *gate {
        "speed" => translate!("speed {measured}", measured),
        _ => measured.clone(),
    };
    if needed.is_empty() { found } else { translate!("{found}; needed: {needed}", found, needed) }
}

/// `✓ answers 38 of 38`
fn gate(report: &Report, name: &str) -> String {
    let Some(gate) = report.gates.iter().find(|gate| gate.gate == name) else {
        return style(translate!("– {gate} not measured", gate = translated(name)))
            .dim()
            .to_string();
    };
    let count = gate.measured.split(' ').next().filter(|word| word.parse::<usize>().is_ok());
    match gate.mark {
        Mark::Passed => {
            let all = count.filter(|_| name == "answers");
            let all = all.map(|count| translate!(" {count} of {count}", count));
            format!("{} {}{}", style("✓").green(), translated(name), all.unwrap_or_default())
        }
        Mark::NotYet => format!("{} {}", style("✗").red(), translated(name)),
        Mark::Undecided => format!("{} {}", style("?").yellow(), translated(name)),
    }
}

fn word(mark: Mark) -> StyledObject<&'static str> {
    match mark {
        Mark::Passed => style(translated("PASSED")).green(),
        Mark::NotYet => style(translated("NOT YET")).red(),
        Mark::Undecided => style(translated("UNDECIDED")).yellow(),
    }
}

/// What to do next, with the ways to the speed and to a hint.
pub(super) fn next(
    case: &Case,
    report: &Report,
    is_fast: bool,
    [speed, hint]: [&str; 2],
) -> String {
    let name = &case.shown;
    let next = match (report.mark, report.gates.last().map_or("", |gate| gate.gate)) {
        (Mark::Passed, _) if is_fast => translate!("{speed}, which also measures the speed", speed),
        (Mark::Passed, _) => {
            translate!("just solution {case}, which explains our fix", case = name)
        }
        (Mark::Undecided, _) => {
            translate!("just check {case} --longer, for a narrower interval", case = name)
        }
        (_, "answers") => {
            let tests = lab_report::path(&case.dir.join("tests/same_answers.rs"));
            translate!("read {tests}, which has more answers", tests)
        }
        _ => format!("just flame {name} · {hint}"),
    };
    translate!("next: {next}", next)
}
