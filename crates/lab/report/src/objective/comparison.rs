//! The answer to "at how many times the rate does the other server hold this objective?", in words and for programs.

use lab_protocol::{Note, Objective};
use lab_stats::{Judgement, Speedup, Verdict, judge, rate_ratio};
use serde_json::{Value, json};

use super::{HighestRate, Limited, ObjectiveAnswer, ObjectiveSearch, rate};
use crate::{
    Cell, ComparisonAnswer, FirstNotes, Headline, NONE, Run, Table, VerdictReason, conditions,
    factor, notes_for_programs, plural, significant, time_ms, turned,
};

/// The highest rates of a baseline and of a candidate.
#[derive(Debug)]
pub struct ObjectiveComparison {
    objective: Objective,
    names: [String; 2],
    searches: [ObjectiveSearch; 2],
    sides: [ObjectiveAnswer; 2],
    unit: &'static str,
    ratio: Speedup,
    minimum_effect: f64,
    pub verdict: Verdict,
    notes: Vec<Note>,
}

impl ObjectiveComparison {
    /// Judges two searches; `runs` are those of both.
    pub fn of(
        names: [String; 2],
        searches: [ObjectiveSearch; 2],
        requests_per_visit: usize,
        minimum_effect: f64,
        runs: &[Run],
    ) -> Self {
        let limited = Limited { limit: "the queue grows", suspect: None, requests_per_visit };
        let sides = searches.each_ref().map(|search| ObjectiveAnswer::of(search, limited));
        let [baseline, candidate] = &searches;
        let ratio = rate_ratio(&baseline.found, &candidate.found);
        let Judgement { verdict, .. } = judge(Some(&ratio), None, minimum_effect);
        // What has no interval comes first, and then what the machine did.
        let unknown = sides.iter().zip(&names);
        let unknown = unknown.filter(|(side, _)| side.found != HighestRate::UpTo);
        let unknown = unknown.map(|(side, name)| format!("{name}: {}", side.sentence));
        let runs: Vec<_> = runs.iter().collect();
        let notes = unknown.map(Note::Sentence).chain(conditions::taken(&runs)).collect();
        let (objective, unit) = (baseline.objective, rate(requests_per_visit));
        Self { objective, names, searches, sides, unit, ratio, minimum_effect, verdict, notes }
    }

    /// What the screen shows.
    pub fn answer(&self) -> ComparisonAnswer {
        ComparisonAnswer {
            headline: self.headline(),
            reasons: vec![VerdictReason {
                case: self.names[1].clone(),
                verdict: self.verdict,
                sentence: self.undecided(),
                of_metric: self.undecided(),
            }],
            table: self.table(),
            requests: Table::default(),
            spare_columns: Vec::new(),
            how: self.how(),
            besides: Vec::new(),
            notes: FirstNotes::of(self.notes.clone()),
            is_quick: false,
        }
    }

    /// The runs of both, in the order of their rates.
    pub fn tables(&self) -> String {
        let tables = self.sides.iter().zip(&self.names);
        let tables =
            tables.map(|(side, name)| Table { lead: Some(name.clone()), ..side.table() }.text());
        tables.collect::<Vec<_>>().join("\n\n")
    }

    /// `candidate is faster: it holds p99 < 50 ms up to 1.83× the rate (1.60–2.10)`
    fn headline(&self) -> Headline {
        let Self { objective, verdict, ratio, names, .. } = self;
        let is = format!("{} is ", names[1]);
        let [before, after] = match verdict {
            Verdict::Undecided => {
                [String::new(), format!(" in the highest rate that holds {objective}")]
            }
            Verdict::Equivalent => [is, format!(" in the highest rate that holds {objective}")],
            _ => [is, format!(": it holds {objective} up to {}", times_the_rate(ratio))],
        };
        Headline::Case { before, verdict: *verdict, after }
    }

    fn undecided(&self) -> String {
        let Self { ratio: Speedup { low, high, .. }, minimum_effect, .. } = self;
        let least = format!("{:.0} %", 100.0 * minimum_effect);
        let ratio = match (*low > 0.0, high.is_finite()) {
            (true, true) => format!("between {} and {}", significant(*low), significant(*high)),
            (true, false) => format!("{} or more", significant(*low)),
            (false, true) => format!("{} or less", significant(*high)),
            (false, false) => return "the runs give no ratio of the rates".to_owned(),
        };
        format!(
            "the ratio of the rates is {ratio}, which does not show whether they differ by {least}: measure on a quieter \
             machine, or accept more with --minimum-effect"
        )
    }

    fn table(&self) -> Table {
        let percentile = self.objective.percentile.name();
        let head = ["", self.unit, &format!("{percentile} beyond"), "cores", "beyond it"];
        let rows = self.sides.iter().zip(&self.searches).zip(&self.names);
        let rows = rows.map(|((side, search), name)| {
            let [low, middle, high] = [side.low_per_s, side.rate_per_s, side.high_per_s]
                .map(|rate| rate.map_or(NONE.to_owned(), significant));
            let rate = match side.found {
                HighestRate::UpTo => format!("{middle} ({low}–{high})"),
                HighestRate::AtLeast => format!("≥ {low}"),
                HighestRate::Never => format!("< {high}"),
                HighestRate::Unclear | HighestRate::TooFewAnswers => NONE.to_owned(),
            };
            let beyond = search.beyond();
            let or_none = |text: Option<String>| text.unwrap_or(NONE.to_owned());
            let cells = [
                name.clone(),
                rate,
                or_none(beyond.and_then(|run| run.latency_ms).map(time_ms)),
                or_none(beyond.and_then(|run| run.cores).map(significant)),
                or_none(beyond.and_then(|run| run.shortfall).map(|it| it.in_words().to_owned())),
            ];
            cells.map(Cell::from).into()
        });
        Table::of_cells("", head, rows)
    }

    fn how(&self) -> String {
        let [one, other] = self.searches.each_ref().map(|search| search.runs.len());
        let runs = format!("{} and {other} of random arrivals, in turns", plural(one, "run"));
        if self.sides.iter().any(|side| side.found != HighestRate::UpTo) {
            return runs;
        }
        format!(
            "{runs}: all held at the lower rate in brackets, and none at the higher one; the ratio has the widest \
             interval that both rates allow, {:.0} % at least on a steady machine",
            100.0 * self.ratio.confidence
        )
    }

    /// The document of `--json`. An end of the ratio that is not known is null, and the estimate then a bound.
    ///
    /// # Errors
    ///
    /// If a figure cannot be written as JSON.
    pub fn for_programs(&self) -> serde_json::Result<Value> {
        let Self { ratio: Speedup { estimate, low, high, confidence, .. }, .. } = self;
        let ends = [Some(*low).filter(|low| *low > 0.0), Some(*high).filter(|it| it.is_finite())];
        let is_known = ends.iter().any(Option::is_some);
        let [baseline, candidate] = &self.sides;
        Ok(json!({
            "objective": self.objective,
            "verdict": self.verdict,
            "ratio": {
                "estimate": is_known.then_some(estimate),
                "low": ends[0],
                "high": ends[1],
                "confidence": confidence,
            },
            "names": self.names,
            "baseline": baseline,
            "candidate": candidate,
            "notes": notes_for_programs(&self.notes, serde_json::value::Serializer)?,
        }))
    }
}

/// `1.83× the rate (1.60–2.10)`, `a rate 2.50× lower (2.20–2.81)`, `at least 1.83× the rate`
fn times_the_rate(ratio: &Speedup) -> String {
    let Speedup { estimate, low, high, .. } = *ratio;
    match (low > 0.0, high.is_finite(), turned(ratio)) {
        (true, true, Some(Speedup { estimate, low, high, .. })) => {
            format!(
                "a rate {} lower ({}–{})",
                factor(estimate),
                significant(low),
                significant(high)
            )
        }
        (true, true, None) => {
            format!("{} the rate ({}–{})", factor(estimate), significant(low), significant(high))
        }
        (true, false, _) => format!("at least {} the rate", factor(estimate)),
        (false, _, Some(Speedup { estimate, .. })) => {
            format!("a rate at least {} lower", factor(estimate))
        }
        (false, _, None) => format!("at most {} the rate", factor(estimate)),
    }
}

#[cfg(test)]
mod tests {
    use lab_stats::RateInterval;

    use super::*;
    use crate::{RateRun, Shortfall};

    fn search(found: RateInterval, shortfall: Shortfall) -> ObjectiveSearch {
        let run = |rate_per_s, latency_ms, shortfall| RateRun {
            rate_per_s,
            latency_ms: Some(latency_ms),
            cores: Some(0.984),
            shortfall,
        };
        let [low, high] = [found.low, found.high].map(|rate| rate.unwrap_or(9.0));
        ObjectiveSearch {
            objective: "p99 < 50 ms".parse().unwrap(),
            peak_per_s: 1.05 * high,
            runs: vec![run(low, 31.2, None), run(high, 81.2, Some(shortfall))],
            connections: 64,
            found,
        }
    }

    fn compare(
        baseline: [f64; 2],
        candidate: [f64; 2],
        shortfall: Shortfall,
    ) -> ObjectiveComparison {
        let is_limited = shortfall == Shortfall::Generator;
        let between = |[low, high]: [f64; 2], is_limited| RateInterval {
            low: Some(low),
            high: Some(high),
            runs: [8, 5],
            is_limited,
        };
        let names = ["baseline", "candidate"].map(str::to_owned);
        let searches = [
            search(between(baseline, false), Shortfall::Latency),
            search(between(candidate, is_limited), shortfall),
        ];
        ObjectiveComparison::of(names, searches, 1, 0.1, &[])
    }

    #[test]
    fn the_verdict_is_how_many_times_the_rate_it_holds() {
        let of = |baseline, candidate, shortfall| {
            compare(baseline, candidate, shortfall).answer().headline.text()
        };
        let (one, latency) = ([400.0, 424.0], Shortfall::Latency);
        assert_eq!(
            of(one, [800.0, 848.0], latency),
            "candidate is faster: it holds p99 < 50 ms up to 2.00× the rate (1.89–2.12)"
        );
        assert_eq!(
            of(one, [300.0, 318.0], latency),
            "candidate is slower: it holds p99 < 50 ms up to 0.75× the rate (0.71–0.80)"
        );
        assert_eq!(
            of(one, [100.0, 106.0], latency),
            "candidate is slower: it holds p99 < 50 ms up to a rate 4.00× lower (3.77–4.24)"
        );
        assert_eq!(
            of(one, one, latency),
            "candidate is equivalent in the highest rate that holds p99 < 50 ms"
        );
        assert_eq!(
            of(one, [400.0, 500.0], latency),
            "undecided in the highest rate that holds p99 < 50 ms"
        );
        assert_eq!(
            of(one, [848.0, 900.0], Shortfall::Generator),
            "candidate is faster: it holds p99 < 50 ms up to at least 2.00× the rate"
        );
    }

    #[test]
    fn a_screen_has_the_verdict_both_rates_and_what_to_know() {
        console::set_colors_enabled(false);
        let found = compare([400.0, 424.0], [848.0, 900.0], Shortfall::Generator);
        let screen = crate::render_screen("", &found.answer(), "-v");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
        insta::assert_snapshot!(format!("{screen}\n{}", found.tables()));
    }

    #[test]
    fn an_end_that_is_not_known_is_null_for_programs() {
        let document = compare([400.0, 424.0], [848.0, 900.0], Shortfall::Generator);
        let document = document.for_programs().unwrap();
        assert_eq!(document["verdict"], "faster");
        let ratio = &document["ratio"];
        assert_eq!((&ratio["low"], &ratio["high"]), (&json!(2.0), &Value::Null), "{ratio}");
        assert_eq!(document["candidate"]["found"], "at-least");
        assert_eq!(document["baseline"]["low_per_s"], 400.0);
    }
}
