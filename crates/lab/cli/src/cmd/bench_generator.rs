//! `lab bench-generator`: the load generator against wrk.
//!
//! A generator that wastes CPU leaves less to the server, and one that is slower than the server
//! measures itself. So `lab` compares its generator with wrk, in pairs, as it compares servers.

use std::process::ExitCode;

use anyhow::Context as _;
use lab_display::thousands;
use lab_stats::Speedup;
use serde::Serialize;

use super::block_on;
use crate::{
    bench_generator::{Run, ours, wrk},
    servers::{
        Launch, Stage,
        affinity::{Cores, to_server_cores},
    },
};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Rounds; the generators take turns at being first
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub rounds: u16,
    /// Seconds of each run
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=600))]
    pub seconds: u16,
    /// Connections of each generator
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    rounds: u16,
    /// Throughput of `lab` over wrk: above 1, `lab` is faster.
    throughput_ratio: Speedup,
    /// CPU time per request of `lab` over wrk: below 1, `lab` needs less.
    cpu_ratio: Speedup,
}

struct Round {
    ours: Run,
    wrk: Run,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(reason) = wrk::missing() {
        match options.json {
            true => out!("{}", serde_json::json!({ "skipped": reason })),
            false => out!("skipped: {reason}"),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build; its figures say nothing about a release build");
    }
    let rounds = block_on(measure(options))?;

    let ratios = |ratio: fn(&Round) -> f64| Speedup::of_pairs(rounds.iter().map(ratio));
    let document = Document {
        rounds: options.rounds,
        throughput_ratio: ratios(|round| round.ours.throughput / round.wrk.throughput)
            .context("no throughput was measured")?,
        cpu_ratio: ratios(|round| round.ours.cpu_us / round.wrk.cpu_us)
            .context("no CPU time was measured")?,
    };
    if options.json {
        out!("{}", serde_json::to_string(&document)?);
        return Ok(ExitCode::SUCCESS);
    }
    for (what, ratio) in
        [("throughput", document.throughput_ratio), ("CPU per request", document.cpu_ratio)]
    {
        let Speedup { estimate, low, high, .. } = ratio;
        out!("{what:>16}, lab / wrk: {estimate:.3} ({low:.3}–{high:.3})");
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs both generators in every round, and prints each round.
async fn measure(options: &Options) -> anyhow::Result<Vec<Round>> {
    let confined = to_server_cores();
    let stage = Stage::set(&Launch::of_lab("lab answer", vec!["answer".to_owned()])?).await?;
    drop(confined);
    let server = &stage.server;
    let (seconds, connections) = (options.seconds, usize::from(options.connections));
    let pinned = match Cores::shared_out() {
        Some(cores) => format!("generators on core {}, server on the others", cores.generator),
        None => "not pinned".to_owned(),
    };
    eprintln!("{connections} connections, {seconds} s a run, {pinned}");
    // A warm-up of one second each: page faults, CPU frequency.
    ours::run(server, connections, 1).await?;
    wrk::run(server, connections, 1)?;

    eprintln!("round    lab req/s    wrk req/s  ratio   lab us   wrk us  ratio");
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let (ours, wrk);
        if number % 2 == 1 {
            ours = ours::run(server, connections, seconds).await?;
            wrk = wrk::run(server, connections, seconds)?;
        } else {
            wrk = wrk::run(server, connections, seconds)?;
            ours = ours::run(server, connections, seconds).await?;
        }
        eprintln!(
            "{number:>5} {:>12} {:>12} {:>6.3} {:>8.2} {:>8.2} {:>6.3}",
            thousands(ours.throughput),
            thousands(wrk.throughput),
            ours.throughput / wrk.throughput,
            ours.cpu_us,
            wrk.cpu_us,
            ours.cpu_us / wrk.cpu_us,
        );
        rounds.push(Round { ours, wrk });
    }
    stage.clear().await?;
    Ok(rounds)
}
