//! Answers that wait for a delayed acknowledgement.

use std::ops::Range;

use lab_protocol::Outcome;

/// Answers that take this long, in milliseconds, may have waited for a delayed acknowledgement, which
/// Linux sends after 40 ms. The range is wider than that, so that the experiment has to remove such
/// answers and cannot merely shift them.
pub const DELAYED: Range<f64> = 30.0..80.0;
/// Where most of the delayed answers begin, and what comes before that: fewer answers, unless they took so
/// long for another reason.
const ONSET: Range<f64> = 38.0..60.0;
const BEFORE: Range<f64> = 19.0..38.0;
/// Fewer delayed answers are outliers.
const FEWEST: u64 = 10;

/// Whether answers took as long as a delayed acknowledgement, and more than took a bit less.
pub fn may_be_delayed(outcome: &Outcome) -> bool {
    let [onset, before] = [ONSET, BEFORE].map(|range| within(outcome, &range));
    onset >= FEWEST.max(before)
}

/// How many answers took so many milliseconds.
fn within(outcome: &Outcome, range: &Range<f64>) -> u64 {
    let answers = outcome.latency.buckets().filter(|(ms, _)| range.contains(ms));
    answers.map(|(_, count)| count).sum()
}

/// How many answers took as long as a delayed acknowledgement, and how many there are.
pub fn delayed(outcome: &Outcome) -> (u64, u64) {
    (within(outcome, &DELAYED), outcome.latency.count())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_answers_that_begin_at_forty_milliseconds_are_worth_the_experiment() {
        let may_be = |modes: &[(u64, u64)]| {
            let mut outcome = Outcome::default();
            for (ms, answers) in modes {
                (0..*answers).for_each(|_| outcome.latency.record(Duration::from_millis(*ms)));
            }
            may_be_delayed(&outcome)
        };
        assert!(may_be(&[(1, 60_000), (41, 180), (300, 2)]) && may_be(&[(44, 500)]));
        assert!(!may_be(&[(1, 60_000), (41, 9)]) && !may_be(&[(51, 0)]));
        // Slow answers of all lengths are a tail.
        assert!(!may_be(&[(1, 1000), (10, 50), (20, 50), (30, 40), (50, 60)]));
    }
}
