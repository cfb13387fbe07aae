//! Judges the figures of a comparison, and finds what makes them invalid.

use lab_protocol::{Metric, Reason, Speedups};
use lab_stats::{Verdict, judge};

use crate::{decline, tables::is_of_open_loop};

use super::{CaseRecord, VariantRecord};

/// A server that uses a smaller share of one core than this idles.
const IDLE: f64 = 0.05;

impl CaseRecord {
    /// The verdict of `metric` alone, and its reason. A bound can only show that a server is faster or slower, not that
    /// it is so by little.
    pub fn judged_by(&self, metric: Metric) -> (Verdict, Reason) {
        let found = self.speedup.of(metric);
        let judgement = judge(found, self.control.speedup.of(metric), self.minimum_effect);
        match judgement.verdict {
            Verdict::Faster | Verdict::Slower => {}
            _ if self.speedup.is_bound(metric) => {
                let (baseline, candidate) =
                    (self.variants.first(), self.sides().map(|sides| sides.1));
                let sides = baseline.into_iter().chain(candidate);
                let limited = sides.filter(|side| side.is_limited(&self.runs));
                let variants = limited.map(|side| side.variant.clone()).collect();
                let reason = match metric {
                    Metric::Latency(_) if self.speedup.latency_at_least => Reason::LagDecides,
                    _ => Reason::GeneratorDecides { variants },
                };
                return (Verdict::Undecided, reason);
            }
            _ => {}
        }
        (judgement.verdict, Reason::Rule(judgement.reason))
    }

    /// Makes the factor of the throughput a bound where the generator limited the faster side: without that limit, the
    /// side would be at least as far from the other one. A limit of the slower side, or of both, may be all of the
    /// difference.
    ///
    /// So it is with the latencies of the closed loop: each one of the faster side includes the generator's own time,
    /// and that side answered more requests.
    pub fn bound_by_generator(&mut self) {
        let is_limited = |side: &VariantRecord| side.is_limited(&self.runs);
        let baseline = self.variants.first().is_some_and(is_limited);
        let is_bound = |candidate: bool, speedups: &Speedups| {
            let found = speedups.throughput.as_ref();
            found.is_some_and(|found| match [baseline, candidate] {
                [false, true] => found.low > 1.0,
                [true, false] => found.high < 1.0,
                _ => false,
            })
        };
        let of = |variant: &VariantRecord| {
            variant.speedup.is_some_and(|speedup| is_bound(is_limited(variant), &speedup))
        };
        let bounds: Vec<_> = self.variants.iter().map(of).collect();
        let of_candidate = self
            .sides()
            .is_some_and(|(_, candidate)| is_bound(is_limited(candidate), &self.speedup));
        let is_closed = !is_of_open_loop(self);
        let mark = |speedups: &mut Speedups, is_bound: bool| {
            speedups.throughput_at_least = is_bound;
            speedups.closed_latency_at_least = is_bound && is_closed;
        };
        mark(&mut self.speedup, of_candidate);
        for (variant, bound) in self.variants.iter_mut().zip(bounds) {
            if let Some(speedup) = &mut variant.speedup {
                mark(speedup, bound);
            }
        }
    }

    /// The share of one core that the baseline used, if it used so little that its CPU time per request
    /// is mostly the cost of idling: timers and wake-ups, which no request causes.
    pub fn idle_baseline(&self) -> Option<f64> {
        let baseline = self.variants.first()?;
        let share = baseline.throughput_rps * baseline.cpu_us_per_request? / 1e6;
        (share < IDLE).then_some(share)
    }

    /// Whether a variant closed connections instead of answering, far more often than the baseline.
    pub fn drops_requests(&self, variant: &VariantRecord) -> bool {
        let [baseline, ..] = &self.variants[..] else { return false };
        decline::drops_requests(&variant.requests, &baseline.requests)
    }

    /// Whether every run had right answers, and no others.
    pub fn is_clean(&self) -> bool {
        !self.has_faults() && self.runs.iter().all(|run| !run.outcome.is_empty())
    }

    /// Whether answers were wrong or missing. A run that was too short for an answer has no fault.
    pub fn has_faults(&self) -> bool {
        self.variants.iter().any(|variant| {
            let open_loop = variant.open_loop.as_ref().map_or(0, |open| open.requests.errors());
            variant.requests.errors() + open_loop > 0 || self.drops_requests(variant)
        })
    }

    /// How long runs should be, in seconds, if some had no answer: for 50 of the slowest variant, if it has a
    /// rate, and else ten times as long.
    pub fn long_enough_s(&self) -> f64 {
        let rates = self.variants.iter().map(|variant| variant.throughput_rps);
        let slowest = rates.reduce(f64::min).filter(|rate| *rate > 0.0);
        slowest.map_or(10.0 * self.measurement_s, |rate| 50.0 / rate).max(2.0 * self.measurement_s)
    }
}
