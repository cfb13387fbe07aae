//! `lab compare`: two builds of your own server, in any language, and one verdict.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context as _, bail, ensure};
use lab_case::Workspace;
use lab_record::{Build, Record, Store, notes};
use lab_stats::Verdict;
use serde_json::json;

use super::{
    Ended, Places, effort::EffortOptions, interrupted, interruptible, own_server::OwnServer,
};
use crate::{
    bench::{self, Locust, Progress},
    count,
    servers::{Requests, Revisions},
};

/// A server with `{port}` in its command, --port-env or --port-arg gets a free port. Any other server
/// has to print `listening on http://IP:PORT`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab compare --baseline './old --port {port}' --candidate './new --port {port}' --get /users
  lab compare --baseline 'node a.js' --candidate 'node b.js' --port-env PORT --get / --ready /health
  lab compare --rev main --rev HEAD --bin my-server --port-arg --port --get /users
  lab compare --rev main --rev HEAD --bin my-server --port-arg --port --get /users \\
      --layouts 12 --pairs 12 --minimum-effect 3
  lab compare --baseline ./old --candidate ./new --get / --engine locust --workers 2

Exit code: 0 faster or equivalent, 1 slower, 3 undecided, 2 error or a wrong or lost answer. --metric
says which metric decides.")]
pub struct Options {
    /// The command that starts the baseline
    #[arg(long, value_name = "CMD", required_unless_present = "rev", requires = "candidate")]
    pub baseline: Option<String>,
    /// The command that starts the candidate
    #[arg(long, value_name = "CMD", requires = "baseline")]
    pub candidate: Option<String>,
    /// Instead of commands: two git revisions, the baseline first; each is built and runs in a worktree
    #[arg(long, value_name = "REV", num_args = 1, conflicts_with_all = ["baseline", "candidate"], requires = "bin")]
    pub rev: Vec<String>,
    /// With --rev: the binary to build and run
    #[arg(long, value_name = "NAME", requires = "rev")]
    pub bin: Option<String>,
    /// With --rev: put the functions of each binary in N random orders, one after the other in its runs
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u16).range(2..=100))]
    pub layouts: Option<u16>,
    /// With --rev: arguments for the binary
    #[arg(last = true, value_name = "ARGS", requires = "rev")]
    pub args: Vec<String>,
    #[command(flatten)]
    pub requests: Requests,
    #[command(flatten)]
    pub server: OwnServer,
    #[command(flatten)]
    pub effort: EffortOptions,
    /// What makes the load: `lab` itself or Locust, which has to be installed
    #[arg(long, value_name = "NAME", default_value = "lab", value_parser = ["lab", "locust"])]
    pub engine: String,
    /// With Locust: a master and N workers, instead of one process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub workers: Option<u16>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

const BASELINE: &str = "baseline";
const CANDIDATE: &str = "candidate";

/// Returns the exit code of the verdict, or 2 after an error.
pub fn run(places: &Places, options: &Options) -> ExitCode {
    let result = match interruptible(measure(places, options)) {
        Ok(Ended::Finished(record)) => report(places, options, &record),
        Ok(Ended::Interrupted) => return interrupted("nothing was written"),
        Err(error) => Err(error),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

async fn measure(places: &Places, options: &Options) -> anyhow::Result<Record> {
    let locust = locust(places, options)?;
    // The worktrees of revisions stay until this returns.
    let (sides, _revisions) = sides(places, options).await?;
    let sides: Vec<_> = [BASELINE, CANDIDATE].into_iter().zip(&sides).collect();
    let commands: Vec<_> = sides
        .iter()
        .map(|(name, side)| (*name, side.commands[0].as_str(), side.dir.as_deref()))
        .collect();
    let mut comparison = options.server.comparison("compare", &options.requests, &commands).await?;
    if options.layouts.is_some() {
        let launches = sides.iter().map(|(name, side)| {
            let launch = |command| options.server.launch(name, command, side.dir.as_deref());
            side.commands.iter().map(|command| launch(command)).collect()
        });
        comparison.layouts = launches.collect::<anyhow::Result<_>>()?;
    }
    let mut effort = options.effort.effort();
    if let Some(locust) = &locust {
        effort.open_loop = Duration::ZERO;
        effort.start = locust.start_time(comparison.load.users);
    }
    comparison.locust = locust;
    let progress = Progress::new(effort.runs(comparison.subjects.len()), effort);
    let mut case = comparison.record(CANDIDATE, effort, &progress).await?;
    drop(progress);
    for ((_, launch), variant) in comparison.subjects.iter().zip(&mut case.variants) {
        match count::system_calls(launch, &comparison.asks).await {
            Ok(calls) => drop(variant.exact.insert("system_calls".to_owned(), calls)),
            Err(error) => {
                eprintln!("note: no system calls of the {}: {error:#}", variant.variant);
            }
        }
    }
    let record = Record::new(options.effort.quick, Build::unknown());
    Ok(Record { cases: vec![case], ..record })
}

/// Locust, if it is to make the load.
fn locust(places: &Places, options: &Options) -> anyhow::Result<Option<Locust>> {
    if options.engine != "locust" {
        ensure!(options.workers.is_none(), "--workers needs --engine locust");
        return Ok(None);
    }
    let effort = &options.effort;
    let open_loop =
        effort.even_arrivals || effort.open_loop.is_some_and(|length| !length.is_zero());
    ensure!(!open_loop, "Locust has no open loop: leave out --open-loop and --even-arrivals");
    let workspace = places.workspace().ok();
    Locust::find(workspace.as_ref().map(Workspace::root), options.workers).map(Some)
}

/// A server: its command, once for each layout, and its working directory if it is not the caller's.
struct Side {
    commands: Vec<String>,
    dir: Option<PathBuf>,
}

/// The baseline and the candidate; builds them first if they are revisions.
async fn sides(
    places: &Places,
    options: &Options,
) -> anyhow::Result<([Side; 2], Option<Revisions>)> {
    match (&options.baseline, &options.candidate, options.rev.as_slice()) {
        (Some(baseline), Some(candidate), []) => {
            let side = |command: &String| Side { commands: vec![command.clone()], dir: None };
            Ok(([baseline, candidate].map(side), None))
        }
        (None, None, [baseline, candidate]) => {
            let bin = options.bin.as_deref().context("--rev needs --bin")?;
            let revisions = Revisions::open(&places.results()?).await?;
            let build = async |revision: &String| {
                let built = revisions.build(revision, bin, options.layouts).await?;
                let command = |program: &PathBuf| {
                    let words = [program.display().to_string()];
                    shell_words::join(words.iter().chain(&options.args))
                };
                let commands = built.programs.iter().map(command).collect();
                anyhow::Ok(Side { commands, dir: Some(built.dir) })
            };
            let sides = [build(baseline).await?, build(candidate).await?];
            Ok((sides, Some(revisions)))
        }
        (None, None, revisions) => {
            bail!("--rev is given {} times: give it twice, the baseline first", revisions.len())
        }
        _ => bail!("give both --baseline and --candidate, or --rev twice"),
    }
}

/// Prints and keeps the record; returns the exit code of the verdict.
fn report(places: &Places, options: &Options, record: &Record) -> anyhow::Result<ExitCode> {
    let path = Store::new(&places.results()?).keep(record)?;
    let case = record.cases.first().context("there is one comparison")?;
    if options.json {
        let exact = case.variants.iter().map(|it| (it.variant.clone(), json!(it.exact)));
        let exact: serde_json::Map<_, _> = exact.collect();
        let document = json!({
            "metric": case.metric,
            "verdict": case.verdict,
            "reason": case.reason,
            "pairs": case.pairs,
            "engine": case.runs.first().and_then(|run| run.outcome.engine.as_ref()),
            "speedup": case.speedup,
            "aa": case.control.speedup,
            "exact": exact,
            "notes": notes(case),
            "record": path,
        });
        out!("{document}");
    } else {
        bench::print_case("two builds of one server", case);
    }
    eprintln!("  Results    {}", path.display());
    ensure!(case.is_clean(), "some answers were wrong or missing; the notes say which");
    Ok(ExitCode::from(exit_code(case.verdict)))
}

/// A pull request passes unless it is slower, or the measurement does not decide.
fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Faster | Verdict::Equivalent => 0,
        Verdict::Slower => 1,
        Verdict::Undecided => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_stopped_by_a_slowdown_and_without_a_decision() {
        let codes = [Verdict::Faster, Verdict::Equivalent, Verdict::Slower, Verdict::Undecided]
            .map(exit_code);
        assert_eq!(codes, [0, 0, 1, 3]);
    }
}
