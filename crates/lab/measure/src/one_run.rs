//! Single runs of several programs, each with one figure: for a search that decides after every round.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use lab_protocol::{Arrivals, Metric, Outcome};
use lab_system::Progress;

use crate::{
    bench::{Experiment, Runner},
    micro::{self, BenchSide},
};

/// Programs that are measured in turn.
#[derive(Debug)]
pub enum Programs {
    Servers(Box<Experiment>),
    Benches {
        sides: Vec<BenchSide>,
        /// The benchmark; empty where each of them has one.
        name: String,
        /// How long a run took.
        run: Duration,
    },
}

impl Programs {
    /// The expected length of a run.
    pub fn run_takes(&self) -> Duration {
        match self {
            Self::Servers(experiment) => experiment.effort.run(),
            Self::Benches { run, .. } => *run,
        }
    }

    /// The logarithm of what a program achieves in its `nth` run: of its rate, or of the inverse of a time.
    ///
    /// # Errors
    ///
    /// If it can't be started, if an answer is wrong or lost, or if it has no figure.
    pub async fn run(
        &mut self,
        program: usize,
        nth: usize,
        progress: &Progress,
    ) -> anyhow::Result<f64> {
        match self {
            Self::Servers(experiment) => {
                let effort = experiment.closed_loop();
                let arrivals = Arrivals::ClosedLoop(experiment.workload.load);
                let runner = Runner { experiment, progress };
                let outcome = runner.run(program, nth, effort, arrivals).await?.outcome;
                let name = &experiment.subjects[program].name;
                ensure!(
                    outcome.wrong + outcome.failed + outcome.lost == 0,
                    "{name}: some answers were wrong or missing: {}",
                    outcome.first_fault.as_deref().unwrap_or("no answer")
                );
                achieved(&outcome, effort.metric).with_context(|| format!("{name} has no figure"))
            }
            Self::Benches { sides, name, run } => {
                let side = sides.get(program).context("there is such a bench")?;
                let (took, times) = micro::times(side, nth).await?;
                *run = took;
                // A filter may be a part of the name.
                let time_ns = match times.names().collect::<Vec<_>>()[..] {
                    [one] => times.of(one),
                    _ if times.of(name).is_some() => times.of(name),
                    [first, ..] => bail!(
                        "the bench has several benchmarks: name one of them, such as {first:?}"
                    ),
                    [] => None,
                };
                Ok(-time_ns.with_context(|| format!("{} has no time", side.name))?.ln())
            }
        }
    }
}

/// `None` without an answer, or if the system doesn't report it.
fn achieved(outcome: &Outcome, metric: Metric) -> Option<f64> {
    let value = match metric {
        Metric::Cpu => 1.0 / outcome.cpu_us_per_request()?,
        Metric::PeakMemory => 1.0 / outcome.server_peak_rss_mib?,
        _ => outcome.throughput(),
    };
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_better_whatever_is_measured() {
        let outcome = |answers, cpu_ms| Outcome {
            measured: Duration::from_secs(1),
            ok_in_time: answers,
            ok: answers,
            server_cpu: Some(Duration::from_millis(cpu_ms)),
            ..Outcome::default()
        };
        let better =
            |metric| achieved(&outcome(200, 100), metric) > achieved(&outcome(100, 100), metric);
        assert!(better(Metric::Throughput) && better(Metric::Cpu));
        assert_eq!(achieved(&outcome(0, 100), Metric::Throughput), None);
        assert_eq!(achieved(&outcome(100, 100), Metric::PeakMemory), None);
    }
}
