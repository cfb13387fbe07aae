//! From the runs of a comparison to the requests of a visit.

use lab_protocol::{Outcome, RequestTime};
use lab_report::RequestRecord;
use lab_stats::{Look, Speedup, median_of};

use super::{
    CostAlone, Runs,
    ratios::{outcomes_of, pairs_of},
};

/// Each request of a visit, from the runs of the closed loop; empty if a visit has only one. `look` says which look so
/// many pairs are enough for.
pub fn by_request(
    sides: [&str; 2],
    Runs { closed: runs, alone, .. }: &Runs,
    look: impl FnOnce(usize) -> Look,
) -> Vec<RequestRecord> {
    let [baseline, candidate] = sides;
    let mut pairs = pairs_of(baseline, candidate, runs);
    let look = look(pairs.len());
    pairs.truncate(look.pairs);
    let outcomes = sides.map(|side| outcomes_of(side, runs));
    let Some(first) = outcomes[0].first() else { return Vec::new() };
    let record = |(nth, time): (usize, &RequestTime)| {
        let median = |figure: &dyn Fn(&Outcome) -> Option<f64>| {
            let median = |of: &Vec<&Outcome>| median_of(of.iter().filter_map(|one| figure(one)));
            [&outcomes[0], &outcomes[1]].map(median)
        };
        let p50 = |outcome: &Outcome| outcome.requests.get(nth)?.p50_ms.filter(|ms| *ms > 0.0);
        let ratios = pairs.iter().map(|(before, after)| Some(p50(before)? / p50(after)?));
        let ratios = ratios.collect::<Option<Vec<_>>>();
        RequestRecord {
            request: time.request.clone(),
            p50_ms: median(&p50),
            p99_ms: median(&|outcome| outcome.requests.get(nth)?.p99_ms),
            share: median(&|outcome| share(outcome, nth)),
            speedup: ratios.and_then(|ratios| Speedup::of_look(ratios, look)),
            cpu_us_per_request: CostAlone::of(alone, nth),
        }
    };
    first.requests.iter().enumerate().map(record).collect()
}

/// The share of the time of all requests that the `nth` of a visit took, in one run.
fn share(outcome: &Outcome, nth: usize) -> Option<f64> {
    let whole: f64 = outcome.requests.iter().map(RequestTime::total_ms).sum();
    (whole > 0.0).then_some(outcome.requests.get(nth)?.total_ms() / whole)
}

#[cfg(test)]
mod tests {
    use lab_report::Run;

    use super::*;

    fn of(runs: Vec<Run>) -> Vec<RequestRecord> {
        let runs = Runs { closed: runs, ..Runs::default() };
        by_request(["old", "new"], &runs, |pairs| Look::only(pairs, 1))
    }

    /// A run in which the answers to two requests took so many ms each.
    fn run(variant: &str, pair: usize, ms: [f64; 2]) -> Run {
        let time = |(name, ms): (&str, f64)| RequestTime {
            request: name.to_owned(),
            answers: 100,
            mean_ms: Some(ms),
            p50_ms: Some(ms),
            p99_ms: None,
        };
        let outcome = Outcome {
            requests: ["GET /a", "GET /b"].into_iter().zip(ms).map(time).collect(),
            ..Outcome::default()
        };
        Run {
            variant: variant.to_owned(),
            pair: Some(pair),
            seed: None,
            load_average: None,
            server: None,
            neighbours: None,
            outcome,
        }
    }

    #[test]
    fn a_request_has_the_factor_of_its_pairs_and_its_share_of_the_time() {
        let pairs = (0..6).flat_map(|pair| {
            // The machine is slower from pair to pair; both sides suffer alike.
            let slower = 1.0 + pair as f64;
            [
                run("old", pair, [3.0 * slower, 1.0 * slower]),
                run("new", pair, [1.0 * slower, 1.0 * slower]),
            ]
        });
        let runs: Vec<_> = pairs.collect();
        let found = of(runs);
        let [a, b] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*a.request, a.share), ("GET /a", [Some(0.75), Some(0.5)]));
        let factors = [a, b].map(|found| found.speedup.unwrap().estimate);
        assert!((factors[0] - 3.0).abs() < 1e-9 && (factors[1] - 1.0).abs() < 1e-9, "{factors:?}");
        assert_eq!(a.p50_ms, [Some(10.5), Some(3.5)]);
    }

    #[test]
    fn a_visit_of_one_request_has_no_rows_and_a_missing_answer_no_factor() {
        let alone = Run { outcome: Outcome::default(), ..run("old", 0, [1.0; 2]) };
        assert!(of(vec![alone]).is_empty());
        let mut runs: Vec<_> =
            (0..6).flat_map(|pair| ["old", "new"].map(|side| run(side, pair, [1.0; 2]))).collect();
        runs[3].outcome.requests[1].p50_ms = None;
        let found = of(runs);
        assert!(found[0].speedup.is_some() && found[1].speedup.is_none());
    }
}
