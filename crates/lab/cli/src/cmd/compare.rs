//! `lab compare`: two builds of anybody's server, in any language; one verdict.

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use serde_json::json;

use super::{
    Ended, Places,
    effort::EffortOptions,
    interrupted, interruptible,
    own_server::{NO_ADDRESS, OwnServer},
};
use crate::{
    bench::{self, Comparison, Progress, Record},
    count,
    launch::Address,
    load::{Ask, allow_connections},
    machine::{Build, Machine},
    requests::{self, Check, Requests},
    revisions,
    stats::Verdict,
    store::Store,
};

/// What to compare, and how.
///
/// A server is found in one of two ways. If its command holds `{port}`, or one of --port-env and
/// --port-arg is given, it gets a free port and is waited for. Otherwise it has to print
/// `listening on http://IP:PORT`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab compare --baseline './old --port {port}' --candidate './new --port {port}' --get /users
  lab compare --baseline 'node a.js' --candidate 'node b.js' --port-env PORT --get / --ready /health
  lab compare --rev main --rev HEAD --bin my-server --port-arg --port --get /users

Exit code: 0 faster or no difference shown, 1 slower, 3 too noisy, 2 for everything that went wrong.")]
pub struct Options {
    /// The command that starts the baseline
    #[arg(long, value_name = "CMD", required_unless_present = "rev", requires = "candidate")]
    pub baseline: Option<String>,
    /// The command that starts the candidate
    #[arg(long, value_name = "CMD", requires = "baseline")]
    pub candidate: Option<String>,
    /// Instead of commands: two git revisions, the baseline first, built from worktrees
    #[arg(long, value_name = "REV", num_args = 1, conflicts_with_all = ["baseline", "candidate"], requires = "bin")]
    pub rev: Vec<String>,
    /// With --rev: the binary to build and run
    #[arg(long, value_name = "NAME", requires = "rev")]
    pub bin: Option<String>,
    /// With --rev: arguments for the binary
    #[arg(last = true, value_name = "ARGS", requires = "rev")]
    pub args: Vec<String>,
    /// What is asked
    #[command(flatten)]
    pub requests: Requests,
    /// How the servers are reached and loaded.
    #[command(flatten)]
    pub server: OwnServer,
    /// How much to measure.
    #[command(flatten)]
    pub effort: EffortOptions,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// The names of the two sides.
const BASELINE: &str = "baseline";
const CANDIDATE: &str = "candidate";

/// Compares and says which exit code the verdict has. Whatever goes wrong has exit code 2.
pub fn run(places: &Places, options: &Options) -> ExitCode {
    let misuse = |error: anyhow::Error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    };
    let record = match interruptible(measure(options)) {
        Ok(Ended::Finished(record)) => record,
        Ok(Ended::Interrupted) => return interrupted(),
        Err(error) => return misuse(error),
    };
    match report(places, options, &record) {
        Ok(code) => code,
        Err(error) => misuse(error),
    }
}

async fn measure(options: &Options) -> anyhow::Result<Record> {
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let mut asks: Vec<Ask> = options.requests.asks(scratch.path())?;
    let [baseline, candidate] = commands(options)?;
    let subjects = vec![
        (BASELINE.to_owned(), options.server.launch(BASELINE, &baseline)?),
        (CANDIDATE.to_owned(), options.server.launch(CANDIDATE, &candidate)?),
    ];
    let check = requests::learn_answers(&mut asks, &subjects).await;
    let is_announced = subjects.iter().any(|(_, launch)| launch.address == Address::Announced);
    let check = match check {
        Err(error) if is_announced => {
            return Err(error.context(NO_ADDRESS));
        }
        check => check?,
    };
    if let Check::StatusOnly(why) = check {
        eprintln!("note: {why}");
    }
    let load = options.server.load();
    let name = "compare".to_owned();
    allow_connections(load.users)?;
    let comparison = Comparison { name, load, asks, subjects, _files: scratch };
    let effort = options.effort.effort();
    let progress = Progress::new(effort.runs(comparison.subjects.len()), effort);
    let runs = comparison.measure(effort, &progress).await?;
    let open_runs = match effort.open_loop.is_zero() {
        true => Vec::new(),
        false => comparison.measure_open_loop(&runs, effort, &progress).await?,
    };
    drop(progress);
    let mut record = bench::case_record(&comparison, CANDIDATE, effort, runs, open_runs)?;
    for ((_, launch), variant) in comparison.subjects.iter().zip(&mut record.variants) {
        match count::system_calls(launch, &comparison.asks).await {
            Ok(calls) => drop(variant.exact.insert("system_calls".to_owned(), calls)),
            Err(error) => {
                eprintln!("note: no system calls of the {}: {error:#}", variant.variant);
            }
        }
    }
    let here = std::env::current_dir().context("cannot read the current directory")?;
    Ok(Record {
        version: bench::VERSION,
        created: jiff::Timestamp::now(),
        command: std::env::args().collect(),
        quick: options.effort.quick,
        machine: Machine::here(),
        build: Build::of(&here, &here),
        cases: vec![record],
    })
}

/// The two commands, built first if they are revisions.
fn commands(options: &Options) -> anyhow::Result<[String; 2]> {
    match (&options.baseline, &options.candidate, options.rev.as_slice()) {
        (Some(baseline), Some(candidate), []) => Ok([baseline.clone(), candidate.clone()]),
        (None, None, [baseline, candidate]) => {
            let bin = options.bin.as_deref().context("--rev needs --bin")?;
            let build = |revision: &String| {
                let program = revisions::build(revision, bin)?;
                let words = [program.display().to_string()];
                anyhow::Ok(shell_words::join(words.iter().chain(&options.args)))
            };
            Ok([build(baseline)?, build(candidate)?])
        }
        (None, None, revisions) => bail!(
            "--rev has to be given twice, the baseline first, and not {} times",
            revisions.len()
        ),
        _ => bail!("give both --baseline and --candidate, or --rev twice"),
    }
}

/// Prints and keeps the record; returns the exit code of its verdict.
fn report(places: &Places, options: &Options, record: &Record) -> anyhow::Result<ExitCode> {
    let path = Store::new(&places.results()?).keep(record)?;
    let case = record.cases.first().context("there is one comparison")?;
    if options.json {
        let exact = case.variants.iter().map(|it| (it.variant.clone(), json!(it.exact)));
        let exact: serde_json::Map<_, _> = exact.collect();
        let document = json!({
            "verdict": case.verdict,
            "reason": case.reason,
            "pairs": case.pairs,
            "speedup": case.speedup,
            "aa": case.control.speedup,
            "exact": exact,
            "record": path,
        });
        out!("{document}");
    } else {
        bench::print_case("two builds of one server", case);
        if !case.speedup.throughput.is_some_and(|speedup| speedup.is_confident()) {
            // The exit code says so too, and should not come as a surprise.
            out!("{}", crate::display::paragraph(&format!("{}; {}", case.verdict, case.reason)));
        }
    }
    eprintln!("  Results    {}", path.display());
    ensure!(case.is_clean(), "some answers were wrong or missing, so there is no verdict");
    Ok(ExitCode::from(exit_code(case.verdict)))
}

/// Such that a pull request passes unless it is shown to be slower, or nothing could be shown.
fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Faster | Verdict::NoDifferenceShown => 0,
        Verdict::Slower => 1,
        Verdict::TooNoisy => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_stopped_by_a_slowdown_and_by_noise() {
        let codes =
            [Verdict::Faster, Verdict::NoDifferenceShown, Verdict::Slower, Verdict::TooNoisy]
                .map(exit_code);
        assert_eq!(codes, [0, 0, 1, 3]);
    }
}
