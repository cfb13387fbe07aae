//! The flags of `bench` and `compare` for how much to measure.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use lab_protocol::{Metric, Spacing};

use lab_measure::bench::{Effort, SHORTEST_OPEN_LOOP};
use lab_stats::fewest_pairs;

/// How many pairs of runs of a bench fit into so many seconds decides how many there are: many short ones say more than
/// few long ones, since a pair that is soon over meets the machine in one state.
const SECONDS_OF_BENCHES: f64 = 20.0;
const PAIRS_OF_BENCHES: std::ops::RangeInclusive<usize> = 16..=64;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Length")]
pub struct EffortOptions {
    /// A first look: runs of a third of a second
    ///
    /// That is enough for a verdict on a large difference.
    #[arg(long)]
    pub quick: bool,
    /// Pairs of runs for each candidate; 12 for figures to publish [default: 6 or more]
    ///
    /// As many as a verdict takes: 6 for one candidate, 7 for two, 8 for four, 9 for eight; of benches 16 to 64,
    /// as many as take 20 seconds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub pairs: Option<u16>,
    /// Seconds of each measurement [default: 1.4, quick: 0.35]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, value_parser = seconds)]
    pub measurement: Option<Duration>,
    /// Seconds of load before each measurement [default: 0.8, quick: 0.3; `compare` takes up to 20 if a
    /// server needs it]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, value_parser = seconds)]
    pub warm_up: Option<Duration>,
    /// Seconds of random arrivals, for latencies; longer for a slow server; 0 for none [default: 2,
    /// quick: 0]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, value_parser = seconds_or_none)]
    pub open_loop: Option<Duration>,
    /// Space the arrivals of the open loop evenly, which hides queues
    #[arg(long, hide_short_help = true)]
    pub even_arrivals: bool,
    /// What the verdict is about [default: throughput, or what a case promises]
    ///
    /// A latency is judged under random arrivals, in pairs of runs of their own.
    #[arg(long, help_heading = "Verdict", value_parser = metrics())]
    pub metric: Option<Metric>,
    /// Requests may outlast a run, as with long polling: do not count them as lost
    #[arg(long, hide_short_help = true, help_heading = "Verdict")]
    pub allow_unfinished: bool,
    /// The smallest difference that counts as one, in percent
    ///
    /// The layout of the code alone can make up to 10.
    #[arg(long, value_name = "PERCENT", help_heading = "Verdict", default_value_t = 10.0, value_parser = percent)]
    pub minimum_effect: f64,
}

impl EffortOptions {
    /// Pairs of runs for so many benchmarks that are judged together, if a run takes so long.
    pub fn pairs_of_benches(&self, family: usize, run: Duration) -> usize {
        let fitting = (SECONDS_OF_BENCHES / (2.0 * run.as_secs_f64())) as usize;
        let (fewest, most) = PAIRS_OF_BENCHES.into_inner();
        let usual = if self.quick { 0 } else { fitting.clamp(fewest, most) };
        self.pairs.map_or(usual.max(fewest_pairs(family)), usize::from)
    }

    /// An effort with the lengths that the user chose.
    pub fn chosen(&self, effort: Effort) -> Effort {
        Effort {
            warm_up: self.warm_up.unwrap_or(effort.warm_up),
            measurement: self.measurement.unwrap_or(effort.measurement),
            open_loop: self.open_loop.unwrap_or(effort.open_loop),
            ..effort
        }
    }

    /// Without a flag for the metric, `decides` is what the verdict is about.
    ///
    /// `candidates`: how many are judged together.
    pub fn effort(&self, decides: Metric, candidates: usize) -> Effort {
        // New for each call.
        let seed = jiff::Timestamp::now().as_microsecond() as u64;
        let usual = Effort::usual(self.quick, seed);
        let effort = Effort {
            pairs: self.pairs.map_or(usual.pairs.max(fewest_pairs(candidates)), usize::from),
            spacing: if self.even_arrivals { Spacing::Even } else { usual.spacing },
            minimum_effect: self.minimum_effect / 100.0,
            allow_unfinished: self.allow_unfinished,
            ..self.chosen(usual)
        };
        match self.metric {
            None => effort.for_case(decides),
            Some(metric @ Metric::Latency(_)) if self.open_loop.is_none() => {
                let open_loop = usual.open_loop.max(SHORTEST_OPEN_LOOP);
                Effort { open_loop, metric, ..effort }
            }
            Some(metric) => Effort { metric, ..effort },
        }
    }
}

/// How long Criterion measures a benchmark in a run, if that isn't the usual time. Its own analysis is of no use here,
/// so it takes few samples and draws nothing.
pub fn flags_of_criterion(warm_up: Option<Duration>, measurement: Option<Duration>) -> Vec<String> {
    let seconds =
        |time: Option<Duration>, usual| time.map_or(usual, |time| time.as_secs_f64()).to_string();
    let flags = [
        "--noplot".to_owned(),
        "--sample-size=10".to_owned(),
        "--nresamples=1000".to_owned(),
        format!("--warm-up-time={}", seconds(warm_up, 0.02)),
        format!("--measurement-time={}", seconds(measurement, 0.05)),
    ];
    flags.into()
}

/// The metrics that every run of a closed loop has a figure of.
pub fn metrics_of_rounds() -> impl clap::builder::TypedValueParser<Value = Metric> {
    let metrics = [Metric::Throughput, Metric::Cpu, Metric::PeakMemory];
    PossibleValuesParser::new(metrics.map(<&str>::from)).try_map(Metric::try_from)
}

fn metrics() -> impl clap::builder::TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::of_servers().map(<&str>::from)).try_map(Metric::try_from)
}

/// A number from 0.1 to `most`.
fn number(text: &str, most: f64, unit: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("not a number of {unit}"))?;
    if !(0.1..=most).contains(&number) {
        return Err(format!("has to be between 0.1 and {most} {unit}"));
    }
    Ok(number)
}

fn seconds(text: &str) -> Result<Duration, String> {
    number(text, 3600.0, "seconds").map(Duration::from_secs_f64)
}

fn seconds_or_none(text: &str) -> Result<Duration, String> {
    if text.parse() == Ok(0.0) { Ok(Duration::ZERO) } else { seconds(text) }
}

fn percent(text: &str) -> Result<f64, String> {
    number(text, 100.0, "percent")
}
