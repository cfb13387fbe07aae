//! `lab bench-generator`: the load generator against wrk.
//!
//! A generator that wastes CPU leaves less to the server, and one that is slower than the server
//! measures itself. So `lab` compares its generator with wrk, in pairs, as it compares servers.

use std::process::ExitCode;

use anyhow::Context as _;
use lab_display::{plural, thousands};
use lab_stats::{Speedup, median_of};

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
}

/// The share of its core from which on the server limits what a generator can show.
const SATURATED: f64 = 0.9;

/// A run of `lab`, and one of wrk.
type Round = [Run; 2];

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if let Some(reason) = wrk::missing() {
        out!("skipped: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        eprintln!("note: this is a debug build; its figures say nothing about a release build");
    }
    let rows = match interruptible(measure(options))? {
        Ended::Finished(rows) => rows,
        Ended::Interrupted => return Ok(interrupted("nothing was written")),
    };
    let header = ["connections", "", "req/s", "lab / wrk", "µs/req", "lab / wrk", "server's core"];
    out!("{}", lab_display::table(&header, rows));
    Ok(ExitCode::SUCCESS)
}

/// With one number of connections: a row of medians for `lab`, with the ratios of pairs, and one for wrk.
fn rows_of(connections: u16, rounds: &[Round]) -> anyhow::Result<[Vec<String>; 2]> {
    let ratio = |figure: fn(&Run) -> f64| {
        let ratios = rounds.iter().map(|[lab, wrk]| figure(lab) / figure(wrk));
        let ratio = Speedup::of_pairs(ratios).context("nothing was measured")?;
        anyhow::Ok(format!("{:.3} ({:.3}–{:.3})", ratio.estimate, ratio.low, ratio.high))
    };
    let row = |which: usize, first: String, name: &str, ratios: [String; 2]| {
        let median = |figure: fn(&Run) -> f64| {
            median_of(rounds.iter().map(|round| figure(&round[which]))).unwrap_or_default()
        };
        let share = median(|run| run.server_share);
        // A busy server limits its generator, and so the ratio of the throughputs.
        let limit = if share >= SATURATED { ", the limit" } else { "" };
        let [throughput, time] = ratios;
        vec![
            first,
            name.to_owned(),
            thousands(median(|run| run.throughput)),
            throughput,
            format!("{:.2}", median(|run| run.cpu_us)),
            time,
            format!("{:.0} %{limit}", share * 100.0),
        ]
    };
    let ratios = [ratio(|run| run.throughput)?, ratio(|run| run.cpu_us)?];
    Ok([
        row(0, connections.to_string(), "lab", ratios),
        row(1, String::new(), "wrk", Default::default()),
    ])
}

/// Runs both generators in every round, and prints each round.
async fn measure(options: &Options) -> anyhow::Result<Vec<Vec<String>>> {
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
        rows.extend(rows_of(connections, &rounds)?);
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

    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let (lab, wrk);
        if number % 2 == 1 {
            lab = ours::run(server, each, seconds).await?;
            wrk = wrk::run(server, each, seconds).await?;
        } else {
            wrk = wrk::run(server, each, seconds).await?;
            lab = ours::run(server, each, seconds).await?;
        }
        eprintln!(
            "{}, round {number}: {} req/s, wrk {}",
            plural(each, "connection"),
            thousands(lab.throughput),
            thousands(wrk.throughput),
        );
        rounds.push([lab, wrk]);
    }
    Ok(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_server_is_said_to_be_the_limit() {
        let run = |server_share| Run { throughput: 1e5, cpu_us: 7.0, server_share };
        let [lab, wrk] = rows_of(32, &[[run(0.89), run(0.93)]]).unwrap();
        assert_eq!([&lab[6], &wrk[6]], ["89 %", "93 %, the limit"]);
    }
}
