//! Whether an objective held in a run, and if not, why.

use lab_protocol::{Objective, Outcome};
use lab_report::{RateRun, Shortfall};

use super::ClosedLoop;

/// A server that leaves this share of the arrivals unanswered at the end has a queue that grows. If so many arrivals
/// find no connection, connections are missing.
const BEHIND: f64 = 0.05;

/// A run at one rate of visits.
pub(super) fn rate_run(
    outcome: &Outcome,
    rate_per_s: f64,
    objective: Objective,
    closed: ClosedLoop,
) -> RateRun {
    let percent = objective.percentile.percent();
    // Of fewer requests, if so few came by chance.
    let few = || outcome.latency.quantile_ms(percent);
    let latency_ms = outcome.latency.percentile_ms(percent).or_else(few);
    let is_late = latency_ms.is_none_or(|ms| ms >= objective.below_ms);
    let shortfall = shortfall(outcome, is_late, rate_per_s, objective, closed);
    let cores = outcome.server_cpu.map(|cpu| cpu.as_secs_f64() / outcome.measured.as_secs_f64());
    RateRun { rate_per_s, latency_ms, cores, shortfall }
}

/// Latency counts from the moment an arrival was due, so a generator that is late only adds to it: what is below the
/// limit would also be so without its delay.
fn shortfall(
    outcome: &Outcome,
    is_late: bool,
    rate_per_s: f64,
    objective: Objective,
    closed: ClosedLoop,
) -> Option<Shortfall> {
    if outcome.wrong + outcome.failed + outcome.lost > 0 {
        return Some(Shortfall::Faults);
    }
    // Those that are usually in flight are no backlog.
    let in_flight = 2.0 * rate_per_s * closed.alone_s;
    let open = outcome.sent.saturating_sub(outcome.ok_in_time) as f64;
    let is_behind = open > BEHIND * outcome.sent as f64 + in_flight.max(1.0);
    if !is_late && !is_behind {
        return None;
    }
    let punctuality = outcome.punctuality.unwrap_or_default();
    let of_server = punctuality.at_least_ms.get(objective.percentile);
    let is_of_server = of_server.is_some_and(|ms| *ms >= objective.below_ms);
    if outcome.limited_by_generator().is_some() && !is_of_server {
        return Some(Shortfall::Generator);
    }
    if closed.grows && punctuality.queued as f64 > BEHIND * outcome.sent as f64 {
        return Some(Shortfall::Connections);
    }
    Some(if is_late { Shortfall::Latency } else { Shortfall::Backlog })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab_protocol::{ByPercentile, Invalid, Punctuality};
    use lab_stats::RateEnd;

    use super::*;

    const CLOSED: ClosedLoop =
        ClosedLoop { peak_per_s: 1000.0, alone_s: 0.001, users: 64, grows: false };

    /// 1,000 arrivals in two seconds, of which two in a hundred took so many milliseconds, and the others one.
    fn outcome(slow_ms: u64) -> Outcome {
        let mut outcome = Outcome {
            measured: Duration::from_secs(2),
            sent: 1000,
            ok: 1000,
            ok_in_time: 998,
            ..Outcome::default()
        };
        for nth in 0..1000 {
            let ms = if nth % 50 == 0 { slow_ms } else { 1 };
            outcome.latency.record(Duration::from_millis(ms));
        }
        outcome
    }

    fn run(outcome: &Outcome, closed: ClosedLoop) -> RateRun {
        rate_run(outcome, 500.0, "p99 < 50 ms".parse().unwrap(), closed)
    }

    fn why(outcome: &Outcome) -> Option<Shortfall> {
        run(outcome, CLOSED).shortfall
    }

    #[test]
    fn a_percentile_below_the_limit_holds_and_one_at_it_does_not() {
        assert_eq!((why(&outcome(30)), why(&outcome(50))), (None, Some(Shortfall::Latency)));
        let held = run(&outcome(30), CLOSED);
        assert!((held.latency_ms.unwrap() - 30.0).abs() < 0.1 && held.end() == RateEnd::Held);
        assert_eq!(run(&outcome(50), CLOSED).end(), RateEnd::Failed);
    }

    #[test]
    fn wrong_or_missing_answers_never_hold() {
        for faulty in [
            Outcome { wrong: 1, ..outcome(30) },
            Outcome { failed: 1, ..outcome(30) },
            Outcome { lost: 1, ..outcome(30) },
        ] {
            assert_eq!(why(&faulty), Some(Shortfall::Faults));
        }
        // Without an answer, there is no percentile.
        assert_eq!(why(&Outcome { sent: 40, ..Outcome::default() }), Some(Shortfall::Latency));
    }

    #[test]
    fn a_queue_that_grows_does_not_hold_although_the_percentile_is_still_low() {
        assert_eq!(why(&Outcome { ok_in_time: 940, ..outcome(30) }), Some(Shortfall::Backlog));
        // Each request takes 100 ms, so 50 are in flight.
        let slow = ClosedLoop { alone_s: 0.1, ..CLOSED };
        let outcome = Outcome { ok_in_time: 940, ..outcome(30) };
        assert_eq!(run(&outcome, slow).shortfall, None);
    }

    #[test]
    fn a_late_generator_is_a_limit_only_if_the_server_may_have_held() {
        let invalid = Some(Invalid::GeneratorLate { p99_ms: 60.0, lag_ms: 40.0 });
        let late = |slow_ms, of_server_ms: f64| {
            let at_least_ms = ByPercentile::of(|_| Some(of_server_ms));
            let punctuality = Some(Punctuality { at_least_ms, ..Punctuality::default() });
            why(&Outcome { invalid: invalid.clone(), punctuality, ..outcome(slow_ms) })
        };
        assert_eq!(late(60, 20.0), Some(Shortfall::Generator));
        assert_eq!(late(60, 55.0), Some(Shortfall::Latency), "without its delay, too");
        assert_eq!(late(40, 20.0), None, "in spite of its delay");
    }

    #[test]
    fn connections_are_a_limit_if_more_of_them_were_served() {
        let punctuality = Some(Punctuality { queued: 500, ..Punctuality::default() });
        let busy = Outcome { punctuality, ..outcome(60) };
        assert_eq!(why(&busy), Some(Shortfall::Latency));
        let grows = run(&busy, ClosedLoop { grows: true, ..CLOSED });
        assert_eq!(grows.shortfall, Some(Shortfall::Connections));
        assert_eq!(grows.end(), RateEnd::Limited);
    }
}
