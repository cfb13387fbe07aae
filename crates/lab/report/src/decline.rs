//! Servers that look fast because they drop work, or because they are watched too briefly.

use lab_protocol::{Note, NoteKind, Outcome};

use crate::{CaseRecord, RequestCounts, Run};

/// The share of requests sent again from which on they are no accident. A server may close an idle connection
/// just when a request is on its way.
const RESENT: f64 = 0.001;
/// Fewer of them are chance.
const FEWEST_RESENT: u64 = 10;
/// How many times the baseline's share they have to be.
const MORE: f64 = 2.0;
/// A server that loses this factor within every run gets slower with time.
const LOSS: f64 = 1.1;
/// With fewer answers in the first fifth of a run, its loss is chance.
const FEWEST: u64 = 20;
/// With fewer pairs, an order of their factors is chance.
const FEWEST_PAIRS: usize = 6;

/// Whether a server closed so many connections instead of answering that its figures are those of another
/// service than the baseline.
pub fn drops_requests(candidate: &RequestCounts, baseline: &RequestCounts) -> bool {
    let share = |of: &RequestCounts| of.resent as f64 / of.sent.max(1) as f64;
    let limit = RESENT.max(MORE * share(baseline));
    candidate.resent >= FEWEST_RESENT && share(candidate) > limit
}

/// The least factor that a run lost from its first fifth to its last, if each of them lost much.
pub fn slows_down<'a>(runs: impl Iterator<Item = &'a Outcome>) -> Option<f64> {
    let losses = runs.map(|run| match run.fifths[..] {
        [first, .., last] if first >= FEWEST => Some(first as f64 / last.max(1) as f64),
        _ => None,
    });
    // Not the median: a machine that varies lets some runs gain and others lose.
    let losses = losses.collect::<Option<Vec<_>>>().filter(|runs| runs.len() > 1)?;
    losses.into_iter().reduce(f64::min).filter(|loss| *loss >= LOSS)
}

/// Whether the candidate fell behind the baseline from one half of the session to the other.
pub fn falls_behind(case: &CaseRecord) -> Option<Note> {
    let (baseline, candidate) = case.sides()?;
    let rate = |variant: &str, pair: usize| {
        let is_it = |run: &&Run| run.variant == variant && run.pair == Some(pair);
        let rate = case.runs.iter().find(is_it)?.outcome.throughput();
        (rate > 0.0).then_some(rate)
    };
    let factor_of = |pair| Some(rate(&candidate.variant, pair)? / rate(&baseline.variant, pair)?);
    let loss = loss((0..case.pairs).map(factor_of).collect::<Option<Vec<_>>>()?)?;
    Some(Note::of(&candidate.variant, NoteKind::FallsBehind { loss }))
}

/// How much the least of the first half exceeds the most of the second.
fn loss(factors: Vec<f64>) -> Option<f64> {
    let (early, late) = factors.split_at(factors.len() / 2);
    let least = early.iter().copied().reduce(f64::min)?;
    let most = late.iter().copied().reduce(f64::max)?;
    let loss = least / most;
    (factors.len() >= FEWEST_PAIRS && loss >= LOSS).then_some(loss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_closed_connections_are_an_error_unless_the_baseline_closes_them_too() {
        let requests = |resent, sent| RequestCounts { sent, resent, ..RequestCounts::default() };
        let none = requests(0, 100_000);
        assert!(drops_requests(&requests(2_532, 126_600), &none));
        assert!(!drops_requests(&requests(99, 100_000), &none), "a thousandth is tolerated");
        assert!(!drops_requests(&requests(9, 900), &none), "chance");
        assert!(!drops_requests(&requests(150, 10_000), &requests(100, 10_000)));
        assert!(drops_requests(&requests(250, 10_000), &requests(100, 10_000)));
    }

    #[test]
    fn a_server_that_slows_down_in_every_run_is_noticed() {
        let run = |fifths: [u64; 5]| Outcome { fifths: fifths.to_vec(), ..Outcome::default() };
        let slows = |runs: &[[u64; 5]]| {
            let runs: Vec<_> = runs.iter().copied().map(run).collect();
            slows_down(runs.iter())
        };
        let loss = slows(&[[400, 400, 400, 90, 80], [300, 300, 300, 300, 200]]);
        assert_eq!(loss, Some(1.5), "the least");
        assert!(slows(&[[400, 400, 400, 90, 0]; 2]).is_some(), "it stops");
        assert_eq!(slows(&[[400, 400, 400, 90, 80], [300, 300, 300, 300, 300]]), None);
        assert_eq!(slows(&[[400, 400, 400, 90, 80]]), None, "one run");
        assert_eq!(slows(&[[19, 9, 9, 9, 9]; 2]), None, "few answers");
        assert_eq!(slows_down([Outcome::default(), run([90, 9, 9, 9, 9])].iter()), None);
    }

    #[test]
    fn a_session_needs_two_halves_that_do_not_overlap() {
        assert_eq!(loss(vec![3.0, 3.1, 2.9, 1.0, 1.1, 1.2]).map(|loss| loss > 2.4), Some(true));
        assert_eq!(loss(vec![3.0, 3.1, 1.1, 1.0, 1.1, 1.2]), None);
        assert_eq!(loss(vec![3.0, 3.0, 1.0, 1.0]), None, "few pairs");
    }
}
