//! The flags of `bench` and `compare` for how much to measure.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use lab_cases::Case;
use lab_protocol::{Metric, Spacing};

use lab_measure::bench::{Effort, SHORTEST_OPEN_LOOP, Until};
use lab_report::planned;

/// How long a comparison may take, unless the user says so.
const LIMIT: Duration = Duration::from_secs(60);
const QUICK_LIMIT: Duration = Duration::from_secs(15);
/// For a narrow interval.
const LIMIT_OF_INTERVAL: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Length")]
pub struct EffortOptions {
    /// A first look: shorter runs, and at most 15 seconds
    ///
    /// That is enough for a verdict on a large difference.
    #[arg(long)]
    pub quick: bool,
    /// Measure until the interval is this narrow: 3% for factors such as 1.20 (1.17-1.23)
    ///
    /// Without it, the pairs of runs end when the verdict is clear.
    #[arg(long, value_name = "PERCENT", value_parser = percent_or_sign)]
    pub interval: Option<f64>,
    /// End the pairs after this time, such as 60s or 5min [default: 60s, with --interval 10min]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub limit: Option<Duration>,
    /// So many pairs of runs for each candidate, whatever they show: for a record
    ///
    /// A verdict takes at least 6 for one candidate, 7 for two, 8 for four, 9 for eight.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(1..=1000), conflicts_with_all = ["interval", "limit"])]
    pub pairs: Option<u16>,
    /// Seconds of each measurement [default: 1.4, of `compare` 0.3, quick: 0.25]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, value_parser = seconds)]
    pub measurement: Option<Duration>,
    /// Seconds of load before each measurement [default: 0.8, quick: 0.15; `compare` takes 0.2 to 20, as a
    /// server needs it]
    #[arg(long, value_name = "SECONDS", hide_short_help = true, value_parser = seconds)]
    pub warm_up: Option<Duration>,
    /// Seconds of random arrivals, for latencies; longer for a slow server; 0 for none [default: 2,
    /// of `compare` 1, quick: 0]
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
    /// When the pairs end.
    pub fn until(&self) -> Until {
        if let Some(pairs) = self.pairs {
            return Until::Pairs(pairs.into());
        }
        let usual = match (self.quick, self.interval) {
            (true, _) => QUICK_LIMIT,
            (false, Some(_)) => LIMIT_OF_INTERVAL,
            (false, None) => LIMIT,
        };
        let interval = self.interval.map(|percent| percent / 100.0);
        Until::Known { interval, limit: self.limit.unwrap_or(usual) }
    }

    /// The same, but late enough for a first look, which takes so long, if the user gave no limit.
    pub fn until_a_look(&self, first_look: Duration) -> Until {
        match self.until() {
            // Runs take a bit longer than planned, and the second look should have a chance.
            Until::Known { interval, limit } if self.limit.is_none() => {
                Until::Known { interval, limit: limit.max(2 * first_look) }
            }
            until => until,
        }
    }

    /// How much the runs of a case measure.
    pub fn of_case(&self, case: &Case) -> Effort {
        let seed = seed();
        let usual = if self.quick { Effort::first_look(seed) } else { Effort::usual(false, seed) };
        self.effort(usual, case.decides, 1)
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
    pub fn effort(&self, usual: Effort, decides: Metric, candidates: usize) -> Effort {
        let effort = Effort {
            until: self.until(),
            family: candidates,
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

/// What a command says before it measures: the time up to the first look, and the longest.
pub fn how_long(first_look: Duration, longest: Duration) -> String {
    if longest < first_look {
        let (longest, look) = (planned(longest), planned(first_look));
        return format!("measuring for up to {longest}; a verdict takes about {look}");
    }
    if longest == first_look {
        return format!("measuring for about {}", planned(first_look));
    }
    format!(
        "measuring for about {}, and up to {} until the verdict is clear",
        planned(first_look),
        planned(longest)
    )
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

/// 60s, 5min, or a number of seconds.
fn time(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text.strip_suffix("min").or(text.strip_suffix('m')) {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| "not a time such as 60s or 5min")?;
    let length = number * seconds;
    if !(1.0..=86_400.0).contains(&length) {
        return Err("has to be between 1s and a day".to_owned());
    }
    Ok(Duration::from_secs_f64(length))
}

fn percent_or_sign(text: &str) -> Result<f64, String> {
    percent(text.strip_suffix('%').unwrap_or(text).trim())
}

fn percent(text: &str) -> Result<f64, String> {
    number(text, 100.0, "percent")
}

/// New for each call.
pub fn seed() -> u64 {
    jiff::Timestamp::now().as_microsecond() as u64
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        effort: EffortOptions,
    }

    #[test]
    fn a_limit_leaves_time_for_a_first_look_unless_the_user_chose_it() {
        let limit = |args: &[&str], first_look_s| {
            let args = [&["lab"], args].concat();
            let until =
                Line::parse_from(args).effort.until_a_look(Duration::from_secs(first_look_s));
            match until {
                Until::Known { limit, .. } => limit.as_secs(),
                Until::Pairs(_) => panic!("{until:?}"),
            }
        };
        assert_eq!([10, 300].map(|look| limit(&[], look)), [60, 600]);
        assert_eq!([10, 300].map(|look| limit(&["--quick"], look)), [20, 600]);
        assert_eq!(limit(&["--interval=3%"], 10), 600);
        for (given, seconds) in [("40s", 40), ("2min", 120), ("90", 90)] {
            assert_eq!(limit(&["--limit", given], 300), seconds);
        }
    }
}
