//! `lab bench`: `slow` against `fixed`, under the case's load, on this machine.

use std::process::ExitCode;

use lab_cases::{Case, FIXED, MINE, SLOW, Workspace};
use lab_measure::bench::{Experiment, Runs, assess, run as run_experiment};
use lab_report::{CaseRecord, QUICK, Record, Store, paragraph, plural, to_json};
use lab_servers::current;
use lab_system::{Build, Progress, err, out};

use super::{
    Places, all_results,
    bench_output::{self, Form},
    effort::{EffortOptions, how_long},
    interrupted, interruptible, report,
};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    #[command(flatten)]
    pub effort: EffortOptions,
    /// Also measure the other variants of the case
    #[arg(long)]
    pub steps: bool,
    /// Print all tables and notes, instead of one screen
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Users, instead of the case's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: Option<u32>,
    /// Show Criterion's newest factors in the summary
    #[arg(long)]
    pub criterion: bool,
}

impl Options {
    fn variants(&self, case: &Case) -> Vec<String> {
        let shown = [SLOW, FIXED, MINE];
        let wanted = |variant: &&String| self.steps || shown.contains(&variant.as_str());
        case.variants.iter().filter(wanted).cloned().collect()
    }
}

/// A function that returns further paragraphs about a measured case.
pub type Remarks<'a> = &'a dyn Fn(&Case, &CaseRecord) -> anyhow::Result<Vec<String>>;

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    run_with(places, options, &|_, _| Ok(Vec::new()))
}

/// Measures, prints, and keeps the record. Unless it is printed for a program, each case is printed with its remarks.
pub fn run_with(
    places: &Places,
    options: &Options,
    remarks: Remarks<'_>,
) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let mut cases = workspace.cases_with_mine(&options.cases)?;
    for case in &mut cases {
        if let Some(users) = options.users {
            case.load.users = users as usize;
            // The promise holds for the case's own load.
            case.promise = None;
        }
    }
    if cfg!(debug_assertions) {
        err!("note: this is a debug build; its figures say nothing about a release build");
    }

    Store::new(&workspace.results()).ensure_writable()?;
    let mut record = Record::new(options.effort.quick, Build::unknown());
    let end = interruptible(async {
        let wanted: Vec<_> = cases.iter().map(|case| (case, options.variants(case))).collect();
        let build = current::build_ordinary(&workspace, &wanted);
        record.build = places.build_unless_given(Build::unknown(), build).await?;
        measure(&workspace, &cases, options, remarks, &mut record.cases).await
    });
    // Print and keep what was measured before an error or Ctrl-C.
    let whole = options.cases.is_empty() && record.cases.len() == cases.len();
    if !record.cases.is_empty() {
        print(&workspace, &cases, options, &record, whole)?;
    }
    if end?.is_none() {
        return Ok(match record.cases.len() {
            0 => interrupted("nothing was written"),
            finished => interrupted(&format!("{} kept", plural(finished, "finished case"))),
        });
    }
    if !record.cases.iter().any(CaseRecord::has_faults) {
        return Ok(ExitCode::SUCCESS);
    }
    err!("error: some answers were wrong or missing; the notes above say which");
    Ok(ExitCode::from(2))
}

/// Prints the record, keeps it, and prints its path. `whole`: it has all cases.
fn print(
    workspace: &Workspace,
    cases: &[Case],
    options: &Options,
    record: &Record,
    whole: bool,
) -> anyhow::Result<()> {
    if options.json {
        out!("{}", to_json(record)?);
    } else {
        // One case has been shown, with nearly all that the overview says.
        if options.verbose || options.criterion || record.cases.len() > 1 {
            out!(
                "{}",
                bench_output::overview(workspace, cases, record, options.criterion).trim_end()
            );
        } else if record.quick {
            out!("{QUICK}");
        }
    }
    let results = workspace.results();
    let kept = Store::new(&results).keep(record.created, &to_json(record)?)?;
    err!("\n  Results    {}", lab_report::path(&kept));
    // The report of all cases is not replaced by one of some cases.
    if whole {
        let page = report::write(Some(workspace), &results, record, None)?;
        err!("  Report     {}", lab_report::path(&page));
    }
    if options.criterion {
        let report = workspace.criterion().join("report/index.html");
        if report.is_file() {
            err!("  Criterion  {}", lab_report::path(&report));
        }
    }
    if let [case] = cases {
        err!("  Read       {}", case.page());
    }
    let line = all_results::renew(workspace);
    if let Some(line) = line.filter(|_| whole) {
        err!("{line}");
    }
    Ok(())
}

/// Measures the cases one by one, and adds each record as soon as its case is done.
async fn measure(
    workspace: &Workspace,
    cases: &[Case],
    options: &Options,
    remarks: Remarks<'_>,
    records: &mut Vec<CaseRecord>,
) -> anyhow::Result<()> {
    // Prepare all cases first, so that a missing file is an error at once.
    let mut experiments = Vec::new();
    for case in cases {
        let variants = options.variants(case);
        let effort = options.effort.of_case(case);
        let mut experiment = Experiment::of_case(workspace, case, &variants, effort)?;
        experiment.candidate = Some(FIXED.to_owned());
        experiment.effort.until = options.effort.until_a_look(experiment.length());
        experiments.push((case, experiment));
    }
    let length = experiments.iter().map(|(_, experiment)| experiment.length()).sum();
    let longest = experiments.iter().map(|(_, experiment)| experiment.longest()).sum();
    err!("{}", paragraph(&how_long(length, longest)));
    let progress = Progress::planned(length);
    for (case, experiment) in &experiments {
        let mut runs = Runs::default();
        run_experiment(experiment, &progress, &mut runs).await?;
        let mut record = assess(experiment, &runs, FIXED)?;
        record.case = case.name.as_str().into();
        if !options.json {
            let form = match cases.len() {
                _ if options.verbose => Form::Tables,
                1 => Form::Screen,
                _ => Form::Line,
            };
            let remarks = remarks(case, &record);
            let shown = remarks.map(|remarks| bench_output::case(case, &record, form, &remarks));
            // Kept, whatever becomes of the remarks.
            records.push(record);
            let shown = shown?;
            progress.aside(|| out!("{shown}"));
        } else {
            records.push(record);
        }
    }
    Ok(())
}
