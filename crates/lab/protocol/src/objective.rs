//! What the latency of a server should be, such as `p99 < 50 ms`.

use std::{fmt, str::FromStr, time::Duration};

use anyhow::{Context as _, ensure};
use serde::{Serialize, Serializer};

use super::{Latency, Percentile};

/// The units, and how many milliseconds each has. The first is how a short time is shown.
const UNITS: [(&str, f64); 5] = [("µs", 1e-3), ("us", 1e-3), ("μs", 1e-3), ("ms", 1.0), ("s", 1e3)];
/// The range of a time that can be measured, in milliseconds.
const RANGE_MS: std::ops::RangeInclusive<f64> = 1e-3..=600e3;

/// A run lasts for this time at least, and for so many times what the objective allows a request: a queue that grows
/// by a few per cent of its arrivals has to show.
const SHORTEST: Duration = Duration::from_millis(2500);
const OF_OBJECTIVE: f64 = 60.0;
/// But no longer than this, unless the percentile needs more requests; and never longer than the last.
const LONG: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(30);
/// Random arrivals may be fewer than their mean.
const MORE: f64 = 1.1;
/// Up to this share of the peak, a server counts as idle.
const IDLE: f64 = 1.0 / 16.0;

/// A percentile of latency that has to be below a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    pub percentile: Percentile,
    pub below_ms: f64,
}

impl Objective {
    /// What a request may take.
    pub fn allowed(self) -> Duration {
        Duration::from_secs_f64(self.below_ms / 1e3)
    }

    /// How many visits a run needs on average.
    fn visits_of_run(self) -> f64 {
        MORE * Latency::enough_for(self.percentile.percent())
    }

    /// How long a run at this rate lasts.
    pub fn run_length(self, rate_per_s: f64) -> Duration {
        let of_objective = self.allowed().mul_f64(OF_OBJECTIVE);
        let of_visits = Duration::from_secs_f64(self.visits_of_run() / rate_per_s);
        of_objective.clamp(SHORTEST, LONG).max(of_visits).min(LONGEST)
    }

    /// The lowest rate that a run can be long enough for, if the peak is this.
    pub fn lowest_rate_per_s(self, peak_per_s: f64) -> f64 {
        (IDLE * peak_per_s).max(self.visits_of_run() / LONGEST.as_secs_f64())
    }

    /// Whether a percentile of a server with this peak can be measured.
    pub fn is_measurable(self, peak_per_s: f64) -> bool {
        self.lowest_rate_per_s(peak_per_s) < peak_per_s
    }
}

impl FromStr for Objective {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, time) =
            text.split_once('<').context("write a percentile and a time: `p99 < 50 ms`")?;
        let (name, time) = (name.trim(), time.trim());
        let percentile = Percentile::all().find(|percentile| percentile.name() == name);
        let percentile = percentile
            .with_context(|| format!("`{name}` is no percentile: write p50, p90, p99 or p99.9"))?;
        let number = time.trim_end_matches(char::is_alphabetic);
        let (_, ms) =
            UNITS.into_iter().find(|(unit, _)| *unit == &time[number.len()..]).with_context(
                || format!("`{time}` has no unit: write s, ms or us behind the number"),
            )?;
        let number: f64 =
            number.trim().parse().with_context(|| format!("`{time}` is no time such as 50 ms"))?;
        let below_ms = number * ms;
        ensure!(RANGE_MS.contains(&below_ms), "the time has to be between 1 us and 600 s");
        Ok(Self { percentile, below_ms })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, ms) = match self.below_ms {
            below if below < 1.0 => UNITS[0],
            below if below < 1e3 => UNITS[3],
            _ => UNITS[4],
        };
        // Without the error of a division.
        let number = (self.below_ms / ms * 1e6).round() / 1e6;
        write!(f, "{} < {number} {unit}", self.percentile.name())
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_a_percentile_and_a_time() {
        for (text, shown) in [
            ("p99 < 50 ms", "p99 < 50 ms"),
            ("p99<50ms", "p99 < 50 ms"),
            (" p99.9 <  1.5 s ", "p99.9 < 1.5 s"),
            ("p50 < 800us", "p50 < 800 µs"),
            ("p90 < 0.3 ms", "p90 < 300 µs"),
            ("p90 < 2500 ms", "p90 < 2.5 s"),
            ("p50 < 7 µs", "p50 < 7 µs"),
        ] {
            let objective: Objective = text.parse().unwrap();
            assert_eq!(objective.to_string(), shown);
            assert_eq!(shown.parse::<Objective>().unwrap(), objective);
        }
    }

    #[test]
    fn a_run_has_ten_answers_beyond_the_percentile_and_shows_a_queue_that_grows() {
        let objective = |text: &str| text.parse::<Objective>().unwrap();
        let seconds = |text, rate| objective(text).run_length(rate).as_secs_f64();
        assert_eq!(seconds("p99 < 40 ms", 5000.0), 2.5);
        assert_eq!(seconds("p99 < 100 ms", 5000.0), 6.0);
        assert_eq!(seconds("p99 < 20 s", 5000.0), 10.0);
        for (text, rate) in [("p50 < 1 ms", 4.0), ("p99 < 5 ms", 100.0), ("p99.9 < 1 s", 400.0)] {
            let answers = rate * seconds(text, rate);
            let needed = Latency::enough_for(objective(text).percentile.percent());
            assert!(answers >= needed, "{text}");
        }
    }

    #[test]
    fn a_percentile_that_needs_more_than_half_a_minute_is_not_measured() {
        let is = |text: &str, peak| text.parse::<Objective>().unwrap().is_measurable(peak);
        assert!(is("p50 < 1 s", 1.0) && is("p90 < 1 s", 4.0) && is("p99 < 1 s", 40.0));
        assert!(!is("p90 < 1 s", 3.0) && !is("p99 < 1 s", 30.0) && !is("p99.9 < 1 s", 300.0));
    }

    #[test]
    fn what_is_no_objective_is_an_error_that_says_what_to_write() {
        for (text, message) in [
            ("p99", "write a percentile and a time: `p99 < 50 ms`"),
            ("p99 > 50 ms", "write a percentile and a time"),
            ("p95 < 50 ms", "`p95` is no percentile: write p50, p90, p99 or p99.9"),
            ("p99 < 50", "`50` has no unit: write s, ms or us behind the number"),
            ("p99 < 50 m", "`50 m` has no unit"),
            ("p99 < ms", "`ms` is no time such as 50 ms"),
            ("p99 <= 50 ms", "`= 50 ms` is no time"),
            ("p99 < -1 ms", "the time has to be between 1 us and 600 s"),
            ("p99 < nan s", "the time has to be between"),
        ] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
