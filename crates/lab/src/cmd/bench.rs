//! `lab bench`: slow against fixed, under the case's load, on this machine.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context as _;
use console::style;

use super::{Ended, Places, interrupted, interruptible};
use crate::{
    bench::{self, CaseRecord, Effort, Progress, Record},
    case::{BASELINE, CANDIDATE, Case},
    criterion, files,
    workspace::Workspace,
};

/// What to measure, and how much.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The cases; all if none is named
    #[arg(value_name = "CASE")]
    pub cases: Vec<String>,
    /// A rough look: two short pairs
    #[arg(long)]
    pub quick: bool,
    /// Also measure the steps between slow and fixed, and beyond
    #[arg(long)]
    pub steps: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Pairs of runs [default: 6, quick: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub pairs: Option<u16>,
    /// Seconds that each run is measured for [default: 2.5, quick: 1.2]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub measurement: Option<Duration>,
    /// Seconds of load before anything counts [default: 1.5, quick: 0.8]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub warm_up: Option<Duration>,
    /// Users, instead of the case's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: Option<u32>,
    /// Set Criterion's last figures beside these in the summary
    #[arg(long)]
    pub criterion: bool,
}

impl Options {
    fn effort(&self) -> Effort {
        let [warm_up, measurement, grace] = match self.quick {
            false => [1500, 2500, 1000],
            true => [800, 1200, 500],
        }
        .map(Duration::from_millis);
        Effort {
            pairs: self.pairs.map_or(if self.quick { 2 } else { 6 }, usize::from),
            warm_up: self.warm_up.unwrap_or(warm_up),
            measurement: self.measurement.unwrap_or(measurement),
            grace,
        }
    }

    fn variants(&self, case: &Case) -> Vec<String> {
        let wanted =
            |variant: &&String| self.steps || *variant == BASELINE || *variant == CANDIDATE;
        case.variants.iter().filter(wanted).cloned().collect()
    }
}

/// Between a tenth of a second and an hour.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err("has to be between 0.1 and 3600 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Measures, reports, and keeps the record.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find(places)?;
    let mut cases = workspace.cases_named(&options.cases)?;
    for case in &mut cases {
        if let Some(users) = options.users {
            case.load.users = users as usize;
        }
        // Before the first minute is spent: is everything there?
        for variant in options.variants(case) {
            workspace.binary(&format!("{}-{variant}", case.name))?;
        }
    }
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build; its figures say nothing of a release build");
    }

    let record = match interruptible(measure(&workspace, &cases, options))? {
        Ended::Finished(record) => record,
        Ended::Interrupted => return Ok(interrupted()),
    };
    let path = keep(&workspace, &record)?;
    if options.json {
        println!("{}", serde_json::to_string(&record)?);
    } else {
        let micro = |case: &str| {
            options.criterion.then(|| criterion::speedup(&workspace.criterion(), case)).flatten()
        };
        println!("{}\n", bench::summary_table(&record, micro).trim_fmt());
        println!("  {}", spread_in_words(options.effort().pairs));
    }
    if options.quick {
        eprintln!("  Quick figures are rough: run without --quick before you quote one.");
    }
    eprintln!("\n  Results    {}", path.display());
    // A quick run of Criterion draws no plots.
    if options.criterion && !options.quick {
        let report = workspace.criterion().join("report/index.html");
        eprintln!("  Criterion  {}", report.display());
    }
    if record.cases.iter().all(CaseRecord::is_clean) {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("error: some answers were wrong or missing; the notes above name the first");
    Ok(ExitCode::FAILURE)
}

async fn measure(
    workspace: &Workspace,
    cases: &[Case],
    options: &Options,
) -> anyhow::Result<Record> {
    let effort = options.effort();
    let runs: usize = cases.iter().map(|case| options.variants(case).len() * effort.pairs).sum();
    let progress = Progress::new(runs, effort);
    let mut records = Vec::new();
    for case in cases {
        let variants = options.variants(case);
        let record = bench::compare(workspace, case, &variants, effort, &progress).await?;
        if !options.json {
            progress.aside(|| print_case(case, &record));
        }
        records.push(record);
    }
    Ok(Record {
        version: 1,
        created: jiff::Timestamp::now(),
        command: std::env::args().collect(),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        quick: options.quick,
        cases: records,
    })
}

fn print_case(case: &Case, record: &CaseRecord) {
    println!("{}  {}", style(&case.name).bold().cyan(), case.title);
    println!("{}", record.load);
    let plural = if record.pairs == 1 { "" } else { "s" };
    println!("{} pair{plural} of runs, {} s each\n", record.pairs, record.measurement_s);
    println!("{}", bench::case_table(record).trim_fmt());
    for note in bench::notes(record) {
        println!("  note: {note}");
    }
    println!();
}

/// What the range behind a factor means, for this many pairs.
fn spread_in_words(pairs: usize) -> String {
    match pairs {
        1 => "One pair has no spread.".to_owned(),
        7.. => format!("In brackets the 95 % interval of {pairs} pairs (signed-rank test)."),
        pairs => format!(
            "In brackets the smallest and the largest of {pairs} pairs: a {:.0} % interval.",
            100.0 * (1.0 - 2.0 * 0.5_f64.powi(pairs as i32))
        ),
    }
}

/// Writes the record under its time, and once more as the latest.
fn keep(workspace: &Workspace, record: &Record) -> anyhow::Result<PathBuf> {
    let json = serde_json::to_string_pretty(record).context("the record cannot be written")?;
    let name = record.created.strftime("%Y%m%dT%H%M%S%3fZ.json").to_string();
    let path = workspace.results().join("runs").join(name);
    files::write_whole(&path, &json)?;
    files::write_whole(&workspace.results().join("latest.json"), &json)?;
    Ok(path)
}
