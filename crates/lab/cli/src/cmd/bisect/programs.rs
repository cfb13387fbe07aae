//! What a search measures: the server or the bench of each state.

use std::path::Path;

use anyhow::{Context as _, ensure};
use lab_measure::{
    Programs,
    bench::{Effort, Experiment},
    micro::BenchSide,
};
use lab_report::CaseName;
use lab_servers::{Artifact, Built, Subject};

use super::{
    super::{effort::flags_of_criterion, own_bench, sides},
    Options,
};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What to search")]
pub struct ProgramOptions {
    /// The revision that is good, then the one that is bad
    #[arg(long, value_name = "REV", num_args = 1, required = true)]
    pub rev: Vec<String>,
    /// The binary to build and run
    ///
    /// Arguments for cargo may follow the name, as in 'api --features tls --package web'.
    #[arg(long, value_name = "NAME", required_unless_present = "bench", conflicts_with = "bench")]
    pub bin: Option<String>,
    /// A Criterion bench instead of a server, and which of its benchmarks
    #[arg(long, value_names = ["NAME", "BENCHMARK"], num_args = 1..=2, conflicts_with_all = ["OwnServer", "RequestOptions", "OwnLoad", "metric"])]
    pub bench: Vec<String>,
    /// Search the crates of Cargo.lock instead of the commits, with the sources of the bad revision
    #[arg(long)]
    pub lock: bool,
    /// Arguments for the binary
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

impl ProgramOptions {
    pub fn is_bench(&self) -> bool {
        !self.bench.is_empty()
    }

    /// Looks at what clap can't, before anything is built.
    pub fn ensure_possible(&self) -> anyhow::Result<()> {
        let count = self.rev.len();
        ensure!(count == 2, "give --rev twice: the good revision, then the bad one, not {count}");
        Ok(())
    }

    pub fn ends(&self) -> [&str; 2] {
        [0, 1].map(|at| self.rev.get(at).map_or("", String::as_str))
    }

    pub fn artifact(&self) -> anyhow::Result<Artifact> {
        match &self.bench[..] {
            [name, ..] => Artifact::bench(name),
            [] => Artifact::bin(self.bin.as_deref().context("--bin needs a name")?),
        }
    }
}

/// A server or a bench that was built.
#[derive(Clone, Debug)]
pub enum BuiltProgram {
    Server(Box<Subject>),
    Bench(BenchSide),
}

/// A state that was built, as a program to run.
pub fn program(
    options: &Options,
    name: &str,
    built: &Built,
    dir: &Path,
) -> anyhow::Result<BuiltProgram> {
    let Options { program, server, .. } = options;
    let besides = built.besides.clone();
    if program.is_bench() {
        // Cargo's own argument for a bench, and the filter.
        let args = ["--bench".to_owned()].into_iter();
        let args = args.chain(program.bench.iter().skip(1).chain(&program.args).cloned());
        let args: Vec<_> = args.chain(flags_of_criterion(None, None)).collect();
        let launches = own_bench::launches_of(name, built, &args);
        let (name, given) = (name.to_owned(), String::new());
        return Ok(BuiltProgram::Bench(BenchSide { name, given, besides, launches }));
    }
    let launches = sides::launches_of(name, built, &program.args, server)?;
    let launch = launches.into_iter().next().context("a program was built")?;
    let subject = Subject::new(name, launch, server.requests.all(&[], dir)?);
    // So nobody looks for differences from another state than the one that it is compared with.
    let subject = Subject { besides: Some(besides), ..subject };
    Ok(BuiltProgram::Server(Box::new(subject)))
}

/// Programs that take turns.
pub fn programs(
    options: &Options,
    all: Vec<BuiltProgram>,
    effort: Effort,
) -> anyhow::Result<Programs> {
    let (mut subjects, mut sides) = (Vec::new(), Vec::new());
    for program in all {
        match program {
            BuiltProgram::Server(subject) => subjects.push(*subject),
            BuiltProgram::Bench(side) => sides.push(side),
        }
    }
    if subjects.is_empty() {
        let name = options.program.bench.get(1).cloned().unwrap_or_default();
        return Ok(Programs::Benches { sides, name, run: std::time::Duration::from_secs(1) });
    }
    let experiment = Experiment::new(CaseName::OwnServers, options.load.load(), subjects, effort)?;
    Ok(Programs::Servers(Box::new(experiment)))
}
