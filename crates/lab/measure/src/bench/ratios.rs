//! From pairs of runs to factors, a metric at a time.

use lab_protocol::{ByPercentile, Outcome, Percentile, Speedups};
use lab_report::Run;
use lab_stats::{Look, Slot, Speedup, control_pairs, count_error, median_of};

/// The factors of the candidate over the baseline, from the ratios of their pairs. `look` says which look so many pairs
/// are enough for.
pub fn over(
    baseline: &str,
    candidate: &str,
    runs: &[Run],
    look: impl FnOnce(usize) -> Look,
) -> Speedups {
    let is_late = [baseline, candidate].iter().any(|side| is_late(&outcomes_of(side, runs)));
    Pairs::new(pairs_of(baseline, candidate, runs), look).speedups(is_late)
}

/// The outcomes of the two runs of each pair.
pub fn pairs_of<'a>(
    baseline: &str,
    candidate: &str,
    runs: &'a [Run],
) -> Vec<(&'a Outcome, &'a Outcome)> {
    let candidates = runs.iter().filter(|run| run.variant == candidate && run.pair.is_some());
    let pairs = candidates.filter_map(|candidate| {
        let is_other = |run: &&Run| run.variant == baseline && run.pair == candidate.pair;
        Some((&runs.iter().find(is_other)?.outcome, &candidate.outcome))
    });
    pairs.collect()
}

/// The runs of two of several sides: all of the candidate, and of the baseline those that they are paired with and
/// those that only the control uses.
pub fn of_sides([baseline, candidate]: [&str; 2], runs: &[Run]) -> Vec<Run> {
    let is_paired = |run: &Run| of(candidate, runs).any(|other| other.pair == run.pair);
    let is_own = |run: &&Run| {
        run.variant == candidate
            || run.variant == baseline && (run.pair.is_none() || is_paired(run))
    };
    runs.iter().filter(is_own).cloned().collect()
}

/// The baseline over itself. Its latencies count from when an arrival was due: lag is noise, too.
pub fn control(baseline: &str, runs: &[Run]) -> Speedups {
    Pairs::new(control_pairs_of(baseline, runs), |pairs| Look::only(pairs, 1)).speedups(false)
}

/// The runs of the baseline that are compared with each other.
pub fn control_pairs_of<'a>(baseline: &str, runs: &'a [Run]) -> Vec<(&'a Outcome, &'a Outcome)> {
    let slots: Vec<_> = runs
        .iter()
        .map(|run| usize::from(run.variant != baseline))
        .map(|subject| Slot { subject, pair: None, round: 0 })
        .collect();
    let pairs = control_pairs(&slots);
    pairs.iter().map(|&(one, other)| (&runs[one].outcome, &runs[other].outcome)).collect()
}

/// Whether the generator was late in at least half of these runs. A single one is an outlier, which the
/// interval tolerates.
pub fn is_late(outcomes: &[&Outcome]) -> bool {
    let late = outcomes.iter().filter(|outcome| outcome.invalid.is_some()).count();
    late > 0 && 2 * late >= outcomes.len()
}

/// The outcomes of a baseline and a candidate.
struct Pairs<'a> {
    pairs: Vec<(&'a Outcome, &'a Outcome)>,
    look: Look,
}

impl<'a> Pairs<'a> {
    /// The pairs of a look; later ones don't count yet.
    fn new(mut pairs: Vec<(&'a Outcome, &'a Outcome)>, look: impl FnOnce(usize) -> Look) -> Self {
        let look = look(pairs.len());
        pairs.truncate(look.pairs);
        Self { pairs, look }
    }

    fn speedups(&self, is_late: bool) -> Speedups {
        // Of the pair in the middle, since one stalled run must not widen the interval.
        let count_error = median_of(self.pairs.iter().map(|(baseline, candidate)| {
            count_error([baseline, candidate].map(|outcome| outcome.ok_in_time))
        }));
        let per_answer = |factor: Option<Speedup>| Some(factor?.widened(count_error?));
        let throughput = |outcome: &Outcome| (outcome.ok_in_time > 0).then(|| outcome.throughput());
        let cpu = Outcome::cpu_us_per_request;
        let memory = |outcome: &Outcome| outcome.server_peak_rss_mib.filter(|mib| *mib > 0.0);
        Speedups {
            throughput: per_answer(
                self.factor(|before, after| Some(throughput(after)? / throughput(before)?)),
            ),
            cpu_per_request: per_answer(
                self.factor(|before, after| Some(cpu(before)? / cpu(after)?)),
            ),
            // No rate: it doesn't depend on how many answers there were.
            peak_memory: self.factor(|before, after| Some(memory(before)? / memory(after)?)),
            time: self.factor(|before, after| Some(before.time_ns? / after.time_ns?)),
            latency_at_least: is_late,
            throughput_at_least: false,
            closed_latency_at_least: false,
            latency: ByPercentile::of(|at| {
                if is_late {
                    self.latency_at_least(at)
                } else {
                    self.factor(|before, after| Some(due(at, before)? / due(at, after)?))
                }
            }),
        }
    }

    /// A metric that one outcome lacks has no factor: the runs that have it are not a random part of all.
    fn factor(&self, ratio: impl Fn(&Outcome, &Outcome) -> Option<f64>) -> Option<Speedup> {
        let ratios = self.pairs.iter().map(|(baseline, candidate)| ratio(baseline, candidate));
        Speedup::of_look(ratios.collect::<Option<Vec<_>>>()?, self.look)
    }

    /// If the generator was late, a latency is between what counts from when its arrival was due, and what
    /// the server alone caused at least. So its factor has two bounds; the one nearer to 1 can be claimed.
    fn latency_at_least(&self, at: Percentile) -> Option<Speedup> {
        let least = self.factor(|before, after| Some(served(at, before)? / due(at, after)?));
        let most = self.factor(|before, after| Some(due(at, before)? / served(at, after)?));
        // A latency that may be nothing but lag has no lower bound, and its side could be the better one.
        least.filter(|speedup| speedup.low > 1.0).or(most.filter(|speedup| speedup.high < 1.0))
    }
}

/// A percentile from the moment when an arrival was due. From the age of the youngest unfinished request
/// on, a percentile is only a bound.
fn due(at: Percentile, outcome: &Outcome) -> Option<f64> {
    let ms = outcome.latency.percentile_ms(at.percent())?;
    let bound = outcome.youngest_unfinished.map(|age| age.as_secs_f64() * 1e3);
    bound.is_none_or(|bound| ms < bound).then_some(ms)
}

/// A lower bound of the part of a percentile that the server alone caused. Ages of unfinished requests are lower
/// bounds, too.
fn served(at: Percentile, outcome: &Outcome) -> Option<f64> {
    outcome.punctuality?.at_least_ms.get(at).copied()
}

pub fn outcomes_of<'a>(variant: &'a str, runs: &'a [Run]) -> Vec<&'a Outcome> {
    of(variant, runs).map(|run| &run.outcome).collect()
}

fn of<'a>(variant: &'a str, runs: &'a [Run]) -> impl Iterator<Item = &'a Run> + Clone {
    runs.iter().filter(move |run| run.variant == variant)
}

#[cfg(test)]
mod lag_simulation;
