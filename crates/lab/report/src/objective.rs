//! The answer to "how many requests a second hold this objective?", in words.

mod comparison;
mod run;

use std::fmt::Write as _;

use lab_protocol::{Latency, Objective, Percentile};
use lab_stats::RateInterval;
use serde::Serialize;

pub use comparison::ObjectiveComparison;
pub use run::{ObjectiveSearch, RateRun, Shortfall};

use crate::{NONE, Table, join, plural, significant, thousands, time_ms};

/// From this share of the closed loop's peak on, what limits the closed loop also limits the rate.
const SATURATED: f64 = 0.75;

/// The highest rate of visits at which an objective holds.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectiveAnswer {
    pub objective: Objective,
    pub found: HighestRate,
    /// In the middle of the interval, as a factor; or the lowest rate that is known to hold.
    pub rate_per_s: Option<f64>,
    /// All runs at this rate held.
    pub low_per_s: Option<f64>,
    /// None of the runs at this rate held.
    pub high_per_s: Option<f64>,
    /// What limits the server beyond it.
    pub beyond: Option<String>,
    /// The answer as a sentence.
    pub sentence: String,
    /// How it was found.
    pub method: String,
    pub runs: Vec<RateRun>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HighestRate {
    UpTo,
    /// The load generator reached its limit first.
    AtLeast,
    /// It doesn't hold at the lowest rate that was tried.
    Never,
    /// It held in some runs, but not in others, even at low rates.
    Unclear,
    /// In half a minute, the server doesn't give as many answers as the percentile needs.
    TooFewAnswers,
}

/// What is known of the server besides.
#[derive(Clone, Copy, Debug)]
pub struct Limited<'a> {
    /// What happens at more than the highest rate, within a sentence.
    pub limit: &'a str,
    /// The title of the first suspect.
    pub suspect: Option<&'a str>,
    pub requests_per_visit: usize,
}

impl ObjectiveAnswer {
    pub fn of(search: &ObjectiveSearch, limited: Limited) -> Self {
        let RateInterval { low, high, is_limited, .. } = search.found;
        let found = match (low, high) {
            _ if !search.objective.is_measurable(search.peak_per_s) => HighestRate::TooFewAnswers,
            (None, _) if search.runs.iter().any(|run| run.shortfall.is_none()) => {
                HighestRate::Unclear
            }
            (None, _) => HighestRate::Never,
            (Some(_), None) => HighestRate::AtLeast,
            (Some(_), Some(_)) if is_limited => HighestRate::AtLeast,
            (Some(_), Some(_)) => HighestRate::UpTo,
        };
        let rate_per_s = match found {
            HighestRate::UpTo => search.found.middle(),
            HighestRate::AtLeast => low,
            HighestRate::Never | HighestRate::Unclear | HighestRate::TooFewAnswers => None,
        };
        let is_known = rate_per_s.is_some();
        let beyond = high.filter(|_| is_known).map(|high| beyond(search, high, limited));
        let mut answer = Self {
            objective: search.objective,
            found,
            rate_per_s,
            low_per_s: low,
            high_per_s: high,
            beyond,
            sentence: String::new(),
            method: method(search),
            runs: search.runs.clone(),
        };
        answer.sentence = answer.in_words(search.peak_per_s, rate(limited.requests_per_visit));
        answer
    }

    fn in_words(&self, peak_per_s: f64, unit: &str) -> String {
        let Self { objective, .. } = self;
        let mut sentence = match (self.found, self.rate_per_s) {
            (HighestRate::UpTo, Some(middle)) => {
                let [low, high] = [self.low_per_s, self.high_per_s]
                    .map(|end| significant(end.unwrap_or_default()));
                format!("Holds {objective} up to {} {unit} ({low}–{high})", significant(middle))
            }
            (HighestRate::AtLeast, Some(low)) => {
                format!("Holds {objective} up to {} {unit} at least", significant(low))
            }
            (HighestRate::TooFewAnswers, _) => return self.too_few(peak_per_s, unit),
            (HighestRate::Unclear, _) => return self.unclear(unit),
            _ => return self.never(unit),
        };
        if let Some(beyond) = &self.beyond {
            let _ = write!(sentence, "; beyond: {beyond}");
        }
        sentence + "."
    }

    /// With the latency at the lowest rate, where hardly two requests meet.
    fn never(&self, unit: &str) -> String {
        let Self { objective, .. } = self;
        let failed = self.runs.iter().filter(|run| run.shortfall.is_some());
        let lowest = failed.min_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
        let why = lowest.map_or("some requests of few users get no answer".to_owned(), |run| {
            let why = match (run.shortfall, run.latency_ms) {
                (Some(Shortfall::Latency), Some(ms)) => {
                    format!("its {} is {}", objective.percentile.name(), time_ms(ms))
                }
                (Some(shortfall), _) => shortfall.in_words().to_owned(),
                (None, _) => NONE.to_owned(),
            };
            format!("even at {} {unit}, {why}", significant(run.rate_per_s))
        });
        format!("Does not hold {objective}: {why}.")
    }

    fn unclear(&self, unit: &str) -> String {
        let rates = |has_held: bool| {
            let runs = self.runs.iter().filter(move |run| run.shortfall.is_none() == has_held);
            runs.map(|run| run.rate_per_s)
        };
        let held = rates(true).fold(0.0, f64::max);
        let failed = rates(false).fold(f64::INFINITY, f64::min);
        format!(
            "Not clear whether it holds {}: one run did at {} {unit}, and another one did not at {}. Measure again on \
             a quiet machine.",
            self.objective,
            significant(held),
            significant(failed)
        )
    }

    fn too_few(&self, peak_per_s: f64, unit: &str) -> String {
        let percentile = self.objective.percentile;
        let fits = |other: &Percentile| {
            Objective { percentile: *other, ..self.objective }.is_measurable(peak_per_s)
        };
        let others = Percentile::all().filter(fits).map(|other| other.name().to_owned());
        let others = match &others.collect::<Vec<_>>()[..] {
            [] => String::new(),
            others => format!("; it gives enough for {}", join(others)),
        };
        format!(
            "{} was not measured: a {} needs {} answers in half a minute, and this server gives {} {unit} at \
             most{others}.",
            self.objective,
            percentile.name(),
            thousands(Latency::enough_for(percentile.percent())),
            significant(peak_per_s)
        )
    }

    /// The runs, in the order of their rates.
    pub fn table(&self) -> Table {
        let mut runs = self.runs.clone();
        runs.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
        let row = |run: RateRun| {
            vec![
                significant(run.rate_per_s),
                run.latency_ms.map_or(NONE.to_owned(), time_ms),
                run.shortfall.map_or("holds", Shortfall::in_words).to_owned(),
            ]
        };
        let head = ["arrivals a second", self.objective.percentile.name(), ""];
        Table::new("Runs of random arrivals", head, runs.into_iter().map(row))
    }
}

/// What a rate counts.
fn rate(requests_per_visit: usize) -> &'static str {
    if requests_per_visit == 1 { "req/s" } else { "visits/s" }
}

/// How the interval came about.
fn method(search: &ObjectiveSearch) -> String {
    let RateInterval { low, high, runs: [held, failed], .. } = search.found;
    let mut method = format!(
        "Found with {} of random arrivals, each with {} answers or more",
        plural(search.runs.len(), "run"),
        thousands(Latency::enough_for(search.objective.percentile.percent()))
    );
    let all = |count: usize| if count == 1 { "the run".to_owned() } else { format!("all {count}") };
    let none = |count: usize| {
        if count == 1 { "not the run".to_owned() } else { format!("none of {count}") }
    };
    let ends: Vec<_> = [
        low.map(|low| format!("{} at {} held", all(held), significant(low))),
        high.map(|high| format!("{} at {}", none(failed), significant(high))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !ends.is_empty() {
        let _ = write!(method, ": {}", ends.join(", "));
    }
    method + "."
}

/// What limits the server at the rate that did not hold: what triage suspects, if that rate saturates it.
fn beyond(search: &ObjectiveSearch, high: f64, limited: Limited) -> String {
    match search.beyond().and_then(|run| run.shortfall) {
        Some(Shortfall::Generator) => {
            return "the load generator is late, and the server may be faster".to_owned();
        }
        Some(Shortfall::Connections) => {
            return format!("all {} connections of `lab` are busy", search.connections);
        }
        Some(Shortfall::Faults) => return Shortfall::Faults.in_words().to_owned(),
        Some(Shortfall::Latency | Shortfall::Backlog) | None => {}
    }
    match (limited.suspect, high >= SATURATED * search.peak_per_s) {
        (Some(title), _) => within_a_sentence(title),
        (None, true) => limited.limit.to_owned(),
        (None, false) => "the queue grows".to_owned(),
    }
}

/// A title without its capital, unless it begins with an abbreviation or a name.
fn within_a_sentence(title: &str) -> String {
    let mut characters = title.chars();
    match (characters.next(), characters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paragraph;

    fn search(found: RateInterval, shortfall: Shortfall, peak_per_s: f64) -> ObjectiveSearch {
        let run = |rate_per_s, latency_ms, shortfall| RateRun {
            rate_per_s,
            latency_ms,
            cores: None,
            shortfall,
        };
        let high = found.high.unwrap_or(78.0);
        ObjectiveSearch {
            objective: "p99 < 50 ms".parse().unwrap(),
            peak_per_s,
            runs: vec![run(600.0, Some(3.0), None), run(high, Some(81.2), Some(shortfall))],
            connections: 64,
            found,
        }
    }

    fn between() -> RateInterval {
        let [low, high] = [Some(1180.0), Some(1310.0)];
        RateInterval { low, high, runs: [4, 4], is_limited: false }
    }

    fn answer(search: &ObjectiveSearch, suspect: Option<&str>) -> ObjectiveAnswer {
        let limited = Limited { limit: "the CPU is busy", suspect, requests_per_visit: 1 };
        ObjectiveAnswer::of(search, limited)
    }

    #[test]
    fn an_answer_is_a_rate_with_an_interval_and_what_limits_beyond_it() {
        let found = search(between(), Shortfall::Latency, 1400.0);
        let of_cpu = answer(&found, None);
        assert_eq!(
            of_cpu.sentence,
            "Holds p99 < 50 ms up to 1,243 req/s (1,180–1,310); beyond: the CPU is busy."
        );
        assert_eq!(
            of_cpu.method,
            "Found with 2 runs of random arrivals, each with 1,000 answers or more: all 4 at 1,180 held, none \
             of 4 at 1,310."
        );
        assert!(paragraph(&of_cpu.sentence).lines().all(|line| line.chars().count() <= 80));
        let suspect = "A lock, or a single permit, is held across a wait";
        let of_lock = answer(&found, Some(suspect)).sentence;
        assert!(of_lock.ends_with("; beyond: a lock, or a single permit, is held across a wait."));
        // The generator was disturbed at the same rate.
        let mut disturbed = found.clone();
        let late = RateRun { shortfall: Some(Shortfall::Generator), ..disturbed.runs[1] };
        disturbed.runs.push(late);
        assert_eq!(answer(&disturbed, None).sentence, of_cpu.sentence);
        // Long before the peak, the peak's limit is not known to be the reason.
        let early = answer(&search(between(), Shortfall::Latency, 9000.0), None).sentence;
        assert!(early.ends_with("; beyond: the queue grows."), "{early}");
        let json = serde_json::to_value(&of_cpu).unwrap();
        assert_eq!((&json["objective"], &json["found"]), (&"p99 < 50 ms".into(), &"up-to".into()));
        assert_eq!(json["runs"][1]["shortfall"], "latency");
    }

    #[test]
    fn what_the_generator_limits_is_a_lower_bound() {
        let limited = RateInterval { is_limited: true, ..between() };
        let late = answer(&search(limited, Shortfall::Generator, 1400.0), None);
        assert_eq!(
            late.sentence,
            "Holds p99 < 50 ms up to 1,180 req/s at least; beyond: the load generator is late, and the \
             server may be faster."
        );
        let busy = answer(&search(limited, Shortfall::Connections, 1400.0), None).sentence;
        assert!(
            busy.ends_with("at least; beyond: all 64 connections of `lab` are busy."),
            "{busy}"
        );
    }

    #[test]
    fn one_that_never_holds_has_the_latency_of_an_idle_server() {
        let mut failed = search(RateInterval::default(), Shortfall::Latency, 5000.0);
        failed.runs.remove(0);
        let never = answer(&failed, None);
        assert_eq!(
            never.sentence,
            "Does not hold p99 < 50 ms: even at 78.0 req/s, its p99 is 81.2 ms."
        );
        assert_eq!((never.found, never.rate_per_s), (HighestRate::Never, None));
        // Another run held, at a higher rate.
        let unclear = answer(&search(RateInterval::default(), Shortfall::Latency, 5000.0), None);
        assert_eq!(
            unclear.sentence,
            "Not clear whether it holds p99 < 50 ms: one run did at 600 req/s, and another one did not at 78.0. \
             Measure again on a quiet machine."
        );
        // 1,000 answers take longer than half a minute.
        let slow = answer(&search(RateInterval::default(), Shortfall::Latency, 5.0), None);
        assert_eq!(
            slow.sentence,
            "p99 < 50 ms was not measured: a p99 needs 1,000 answers in half a minute, and this server gives \
             5.00 req/s at most; it gives enough for p50 and p90."
        );
    }
}
