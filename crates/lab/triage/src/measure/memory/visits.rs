//! From the CPU time of a server to the visits that it has answered. The generator counts visits in its measurements
//! alone, and a server's CPU time goes on in between. What a visit costs depends on how many users there are and on
//! what else the machine does, so each load has a cost of its own.

use std::time::Duration;

use super::MemoryLook;

/// The memory at one moment.
#[derive(Clone, Copy, Debug)]
pub struct WorkLook {
    /// CPU seconds of the server since the first look.
    pub worked_s: f64,
    /// The memory in MiB, without the pages of files.
    pub used_mib: f64,
    pub mapped_mib: f64,
}

/// What a visit costs, of the load that ended when the server had worked for so many CPU seconds.
#[derive(Clone, Copy, Debug)]
pub struct VisitCost {
    until_s: f64,
    cpu_s: f64,
}

impl VisitCost {
    /// `None` if it can't be told.
    pub fn of(cpu: Duration, visits: u64, worked: Duration) -> Option<Self> {
        let cpu_s = cpu.as_secs_f64() / visits as f64;
        let is_known = cpu_s.is_finite() && cpu_s > 0.0;
        is_known.then_some(Self { until_s: worked.as_secs_f64(), cpu_s })
    }
}

/// The looks over the visits since the first one. What no load says has the cost of the load after it, or of the last
/// one. Without any cost there are no looks.
pub fn over_visits(looks: &[WorkLook], costs: &[VisitCost]) -> Vec<MemoryLook> {
    let Some(last) = costs.last() else { return Vec::new() };
    let (mut visits, mut worked_s) = (0.0, 0.0);
    let of_look = |look: &WorkLook| {
        for cost in costs.iter().chain([&VisitCost { until_s: f64::INFINITY, ..*last }]) {
            let until_s = look.worked_s.min(cost.until_s);
            visits += (until_s - worked_s).max(0.0) / cost.cpu_s;
            worked_s = until_s.max(worked_s);
        }
        MemoryLook { visits, used_mib: look.used_mib, mapped_mib: look.mapped_mib }
    };
    looks.iter().map(of_look).collect()
}

#[cfg(test)]
mod tests {
    use lab_stats::Rise;

    use super::{super::MemoryHistory, *};

    fn cost(until_s: f64, cpu_s: f64) -> VisitCost {
        VisitCost { until_s, cpu_s }
    }

    fn looks(at_s: impl IntoIterator<Item = f64>, used_mib: impl Fn(f64) -> f64) -> Vec<WorkLook> {
        let look = |worked_s| WorkLook { worked_s, used_mib: used_mib(worked_s), mapped_mib: 0.0 };
        at_s.into_iter().map(look).collect()
    }

    #[test]
    fn each_load_has_its_own_cost_and_the_last_one_goes_on() {
        let looks = looks([0.0, 1.0, 3.0, 4.0, 6.0], |_| 5.0);
        let visits = |costs: &[VisitCost]| -> Vec<f64> {
            over_visits(&looks, costs).iter().map(|look| look.visits).collect()
        };
        assert_eq!(visits(&[cost(2.0, 0.5), cost(4.0, 0.25)]), [0.0, 2.0, 8.0, 12.0, 20.0]);
        assert_eq!(visits(&[cost(4.0, 1.0)]), [0.0, 1.0, 3.0, 4.0, 6.0]);
        assert!(visits(&[]).is_empty());
    }

    #[test]
    fn without_answers_or_cpu_time_there_is_no_cost() {
        let second = Duration::from_secs(1);
        let cost = |cpu, visits| VisitCost::of(cpu, visits, second).map(|cost| cost.cpu_s);
        assert_eq!(cost(second, 10), Some(0.1));
        assert_eq!((cost(second, 0), cost(Duration::ZERO, 10)), (None, None));
    }

    /// A neighbour that comes makes each visit cost twice the CPU time, so that memory grows half as fast with that.
    #[test]
    fn a_leak_is_steady_whatever_a_visit_costs() {
        let [quiet, busy] = [cost(20.0, 0.1), cost(26.0, 0.2)];
        let visits = |worked_s: f64| worked_s.min(20.0) / 0.1 + (worked_s - 20.0).max(0.0) / 0.2;
        let looks = looks((0..=260).map(|tenth| f64::from(tenth) / 10.0), |s| 50.0 + visits(s));
        let rise = |costs: &[VisitCost]| {
            let looks = over_visits(&looks, costs);
            let (trend, _) = MemoryHistory { looks, ..Default::default() }.trend().unwrap();
            trend.rise
        };
        assert!(matches!(rise(&[quiet]), Rise::Unclear { .. }), "as if each cost the same");
        assert_eq!(rise(&[quiet, busy]), Rise::Steady);
    }
}
