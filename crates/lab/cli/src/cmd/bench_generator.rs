//! `lab bench-generator`: the load generator against wrk.
//!
//! A generator that wastes CPU leaves less to the server, and one that is slower than the server
//! measures itself. So `lab` compares its generator with wrk, in pairs, as it compares servers.

use std::process::ExitCode;

use anyhow::Context as _;
use lab_display::{plural, thousands};
use lab_stats::{Speedup, median_of};
use serde::Serialize;

use super::{Ended, interrupted, interruptible};
use crate::{
    bench_generator::{Run, ours, wrk},
    servers::{
        Launch, Server, Stage,
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
    /// Connections of each generator; a row for each number
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,32,256", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: Vec<u16>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The share of its core from which on the server limits what a generator can show.
const SATURATED: f64 = 0.9;

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    rounds: u16,
    connections: Vec<Row>,
}

/// The generators with one number of connections.
#[derive(Debug, Serialize)]
struct Row {
    connections: u16,
    /// The median of each figure.
    lab: Run,
    wrk: Run,
    /// Throughput of `lab` over wrk: above 1, `lab` is faster.
    throughput_ratio: Speedup,
    /// CPU time per request of `lab` over wrk: below 1, `lab` needs less.
    cpu_ratio: Speedup,
    /// Whether the server was saturated under one of the generators, so that `throughput_ratio` does
    /// not show which of them could do more.
    limited_by_server: bool,
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
    let rows = match interruptible(measure(options))? {
        Ended::Finished(rows) => rows,
        Ended::Interrupted => return Ok(interrupted("nothing was written")),
    };
    let document = Document { rounds: options.rounds, connections: rows };
    if options.json {
        out!("{}", serde_json::to_string(&document)?);
        return Ok(ExitCode::SUCCESS);
    }
    let header = [
        "connections",
        "lab req/s",
        "wrk req/s",
        "lab / wrk",
        "lab us/req",
        "wrk us/req",
        "lab / wrk",
        "server under lab",
        "under wrk",
    ];
    out!("{}", lab_display::table(&header, document.connections.iter().map(Row::cells)));
    Ok(ExitCode::SUCCESS)
}

impl Row {
    fn of(connections: u16, rounds: &[Round]) -> anyhow::Result<Self> {
        let median = |run: fn(&Round) -> Run| {
            let figure = |figure: fn(Run) -> f64| {
                median_of(rounds.iter().map(run).map(figure)).context("there are rounds")
            };
            anyhow::Ok(Run {
                throughput: figure(|run| run.throughput)?,
                cpu_us: figure(|run| run.cpu_us)?,
                server_share: figure(|run| run.server_share)?,
            })
        };
        let ratios = |ratio: fn(&Round) -> f64| Speedup::of_pairs(rounds.iter().map(ratio));
        let (lab, wrk) = (median(|round| round.ours)?, median(|round| round.wrk)?);
        Ok(Self {
            connections,
            lab,
            wrk,
            throughput_ratio: ratios(|round| round.ours.throughput / round.wrk.throughput)
                .context("no throughput was measured")?,
            cpu_ratio: ratios(|round| round.ours.cpu_us / round.wrk.cpu_us)
                .context("no CPU time was measured")?,
            limited_by_server: lab.server_share.max(wrk.server_share) >= SATURATED,
        })
    }

    fn cells(&self) -> Vec<String> {
        let ratio = |Speedup { estimate, low, high, .. }: Speedup| {
            format!("{estimate:.3} ({low:.3}–{high:.3})")
        };
        let limit = if self.limited_by_server { ", limited by the server" } else { "" };
        let share = |run: Run| format!("{:.0} %", run.server_share * 100.0);
        vec![
            self.connections.to_string(),
            thousands(self.lab.throughput),
            thousands(self.wrk.throughput),
            ratio(self.throughput_ratio) + limit,
            format!("{:.2}", self.lab.cpu_us),
            format!("{:.2}", self.wrk.cpu_us),
            ratio(self.cpu_ratio),
            share(self.lab),
            share(self.wrk),
        ]
    }
}

/// Runs both generators in every round, and prints each round.
async fn measure(options: &Options) -> anyhow::Result<Vec<Row>> {
    let most = options.connections.iter().copied().max().unwrap_or_default();
    lab_load::allow_connections(most.into())?;
    let confined = to_server_cores();
    let stage = Stage::set(&Launch::of_lab("lab answer", vec!["answer".to_owned()])?).await?;
    drop(confined);
    let server = &stage.server;
    let pinned = match Cores::shared_out() {
        Some(cores) => format!("generators on core {}, server on the others", cores.generator),
        None => "not pinned".to_owned(),
    };
    eprintln!("{} s a run, {pinned}", options.seconds);
    let mut rows = Vec::new();
    for &connections in &options.connections {
        let rounds = rounds(server, connections, options).await?;
        rows.push(Row::of(connections, &rounds)?);
    }
    stage.clear().await?;
    Ok(rows)
}

async fn rounds(
    server: &Server,
    connections: u16,
    options: &Options,
) -> anyhow::Result<Vec<Round>> {
    let (seconds, each) = (options.seconds, usize::from(connections));
    // A warm-up of one second each: page faults, CPU frequency.
    ours::run(server, each, 1).await?;
    wrk::run(server, each, 1).await?;

    eprintln!("\n{}", plural(each, "connection"));
    eprintln!("round    lab req/s    wrk req/s  ratio   lab us   wrk us  ratio");
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let (ours, wrk);
        if number % 2 == 1 {
            ours = ours::run(server, each, seconds).await?;
            wrk = wrk::run(server, each, seconds).await?;
        } else {
            wrk = wrk::run(server, each, seconds).await?;
            ours = ours::run(server, each, seconds).await?;
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
    Ok(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_server_is_said_to_limit_the_ratio() {
        let run = |server_share| Run { throughput: 1e5, cpu_us: 7.0, server_share };
        let row = |ours, wrk| {
            let round = || Round { ours: run(ours), wrk: run(wrk) };
            Row::of(32, &[round(), round()]).unwrap()
        };
        assert!(!row(0.89, 0.6).limited_by_server);
        // Its speed limits one generator, and so their ratio.
        let limited = row(0.6, 0.93);
        assert!(limited.limited_by_server);
        let cells = limited.cells();
        assert!(cells[3].ends_with("limited by the server") && !cells[6].contains("limited"));
        assert_eq!(cells[7..], ["60 %", "93 %"]);
    }
}
