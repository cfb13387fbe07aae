//! `lab bench`: slow against fixed, under the case's load, on this machine.

use std::process::ExitCode;

use super::{Ended, Places, effort::EffortOptions, interrupted, interruptible, report};
use crate::{
    bench::{self, CaseRecord, Comparison, Progress, Record},
    case::Reference,
    case::{BASELINE, CANDIDATE, Case},
    criterion, display,
    machine::{Build, Machine},
    store::Store,
    workspace::Workspace,
};

/// What to measure, and how much.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// How much to measure.
    #[command(flatten)]
    pub effort: EffortOptions,
    /// Also measure the steps between slow and fixed, and beyond
    #[arg(long)]
    pub steps: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Users, instead of the case's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: Option<u32>,
    /// Set Criterion's last figures beside these in the summary
    #[arg(long)]
    pub criterion: bool,
}

impl Options {
    fn variants(&self, case: &Case) -> Vec<String> {
        let wanted =
            |variant: &&String| self.steps || *variant == BASELINE || *variant == CANDIDATE;
        case.variants.iter().filter(wanted).cloned().collect()
    }
}

/// Measures, reports, and keeps the record.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let mut cases = workspace.cases_named(&options.cases)?;
    for case in &mut cases {
        if let Some(users) = options.users {
            case.load.users = users as usize;
            // It was made for the case's own load.
            case.promise = None;
        }
    }
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build; its figures say nothing of a release build");
    }

    let mut record = Record {
        version: bench::VERSION,
        created: jiff::Timestamp::now(),
        command: std::env::args().collect(),
        quick: options.effort.quick,
        machine: Machine::here(),
        build: Build::of(workspace.root(), workspace.bin_dir()),
        cases: Vec::new(),
    };
    let end = interruptible(measure(&workspace, &cases, options, &mut record.cases));
    if matches!(end, Ok(Ended::Interrupted)) {
        return Ok(interrupted());
    }
    // What was measured before an error is worth keeping, and worth seeing before it is kept.
    if !record.cases.is_empty() {
        print(&workspace, options, &record)?;
    }
    end?;
    if record.cases.iter().all(CaseRecord::is_clean) {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: some answers were wrong or missing; the notes above name the first");
    Ok(ExitCode::FAILURE)
}

/// Prints the record, keeps it, and says where.
fn print(workspace: &Workspace, options: &Options, record: &Record) -> anyhow::Result<()> {
    if options.json {
        out!("{}", serde_json::to_string(record)?);
    } else {
        let micro = |case: &str| {
            options
                .criterion
                .then(|| criterion::speedup(&workspace.criterion(), case, BASELINE, CANDIDATE))
                .flatten()
        };
        bench::print_summary(record, micro);
    }
    let results = workspace.results();
    let kept = Store::new(&results).keep(record)?;
    eprintln!("\n  Results    {}", display::path(&kept));
    // A report of some cases would take the place of the one of all.
    if options.cases.is_empty() {
        let page = report::page(&results);
        report::write(Some(workspace), &results, record, &page)?;
        eprintln!("  Report     {}", display::path(&page));
    }
    // A quick run of Criterion draws no plots.
    if options.criterion && !options.effort.quick {
        let plots = workspace.criterion().join("report/index.html");
        eprintln!("  Criterion  {}", display::path(&plots));
    }
    Ok(())
}

/// Measures the cases one by one; each record is there as soon as its case is done.
async fn measure(
    workspace: &Workspace,
    cases: &[Case],
    options: &Options,
    records: &mut Vec<CaseRecord>,
) -> anyhow::Result<()> {
    let effort = options.effort.effort();
    // All are prepared before the first minute is spent: is everything there?
    let mut comparisons = Vec::new();
    for case in cases {
        let variants = options.variants(case);
        comparisons.push((case, Comparison::of_case(workspace, case, &variants).await?));
    }
    let runs = comparisons.iter().map(|(_, comparison)| effort.runs(comparison.subjects.len()));
    let progress = Progress::new(runs.sum(), effort);
    for (case, comparison) in &comparisons {
        let runs = comparison.measure(effort, &progress).await?;
        let open_runs = match effort.open_loop.is_zero() {
            true => Vec::new(),
            false => comparison.measure_open_loop(&runs, effort, &progress).await?,
        };
        let mut record = bench::case_record(comparison, CANDIDATE, effort, runs, open_runs)?;
        record.promised_throughput = case.promise.map(|promise| promise.throughput);
        record.steps_note = case.steps_note.clone();
        let counts = Reference::read(&workspace.case_dir(case).join("counts.toml")).ok();
        for variant in &mut record.variants {
            let counts = counts.as_ref().map(|counts| counts.of(&variant.variant));
            let counts = counts.into_iter().flatten();
            variant.exact = counts.map(|(name, count)| (name, count as f64)).collect();
        }
        if !options.json {
            progress.aside(|| bench::print_case(&case.title, &record));
        }
        records.push(record);
    }
    Ok(())
}
