//! Facts of the load: throughput over users, latency, and what a request costs.

use std::collections::BTreeMap;

use lab_model::Outcome;
use lab_stats::wilson;

use super::Facts;
use crate::measure::{DELAYED, Measured, WATCHED, delayed};

/// How many answers each user needs before a cost per answer is meaningful.
const ENOUGH: u64 = 10;

impl Facts {
    pub(super) fn throughput(&mut self, measured: &Measured) {
        let points: Vec<_> =
            measured.levels.iter().map(|(users, it)| (*users as f64, it.throughput())).collect();
        let Some(((first, one), (last, most))) =
            points.first().copied().zip(points.last().copied())
        else {
            return;
        };
        let (peak_users, peak) =
            points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((last, most));
        self.put("users", last);
        // A visit counts as one in an outcome.
        let asks = measured.asks.max(1) as f64;
        self.put("peak_rps", peak * asks);
        self.put("peak_users", peak_users);
        self.put("after_peak_share", most / peak);
        self.put("lost_share", 1.0 - most / peak);
        // Little's law: the requests inside the server, if each takes as long at the peak as alone.
        self.put("alone_ms", 1e3 * first / one / asks);
        self.put("at_once", peak * first / one);
        self.put("at_once_share", peak * first / one / last);
        self.put("turn_ms", 1e3 / peak / asks);
        let used = |outcome: &Outcome| {
            Some(outcome.server_cpu?.as_secs_f64() / outcome.measured.as_secs_f64())
        };
        let most = measured.levels.iter().filter_map(|(_, outcome)| used(outcome)).reduce(f64::max);
        if let Some(cores) = most {
            // Without the threads' states, the CPU time that it got is the only estimate of what it wanted.
            self.wants(cores, measured.cores);
        }
        let alone = measured.levels.first().and_then(|(_, outcome)| used(outcome));
        if let Some(cores) = alone {
            self.put("wait_share", (1.0 - cores).max(0.0));
        }
        let at_peak = measured.levels.iter().find(|(users, _)| *users as f64 == peak_users);
        // With few answers, those in flight at both ends distort the cost.
        let cost = |level: Option<&(usize, Outcome)>| {
            let (users, outcome) = level?;
            outcome.cpu_us_per_request().filter(|_| outcome.ok_in_time >= ENOUGH * *users as u64)
        };
        if let (Some(peak), Some(last)) = (cost(at_peak), cost(measured.levels.last())) {
            self.put("cpu_growth", last / peak);
        }
        let limited = at_peak.is_some_and(|(_, outcome)| outcome.limited_by_generator().is_some());
        self.put("generator_limited", f64::from(limited));
        if !limited {
            // With this many users, the rest wait for their turn.
            self.put("queue_share", (1.0 - peak * first / one / WATCHED as f64).max(0.0));
        }
        let watched = measured.at(WATCHED);
        if let Some(us) = watched.and_then(Outcome::cpu_us_per_request) {
            self.put("cpu_ms", us / 1e3 / asks);
        }
        let sum = |of: fn(&Outcome) -> u64| {
            measured.levels.iter().map(|(_, it)| of(it) as f64).sum::<f64>()
        };
        let all = sum(|it| it.ok + it.wrong + it.failed).max(1.0);
        self.put("reopened_per_request", sum(|it| it.reopened) / all / asks);
        // A level that is too short for two answers to each user says nothing about those that are missing.
        let has_time = |users: usize, it: &Outcome| {
            2.0 * users as f64 / peak.max(f64::EPSILON) <= it.measured.as_secs_f64()
        };
        let lost = || {
            let levels =
                measured.levels.iter().filter(|(users, it)| *users == 1 || has_time(*users, it));
            levels.map(|(users, it)| (it.lost as f64, it.lost as f64 / *users as f64))
        };
        self.put("lost_requests", lost().map(|it| it.0).sum());
        // One user can lose one request.
        self.put("lost_user_share", lost().map(|it| it.1).fold(0.0, f64::max));
        if let Some(refused) = measured.refused_connections {
            let refused = refused as f64;
            let opened = points.iter().map(|(users, _)| users).sum::<f64>() + sum(|it| it.reopened);
            self.put("refused_connections", refused);
            self.put("refused_share", refused / (refused + opened));
        }
        let at_watched = watched.map_or(0.0, Outcome::throughput);
        if let Some(per_s) = measured.round_trips_per_s.filter(|_| at_watched > 0.0) {
            self.put("round_trips_per_request", per_s / at_watched / asks);
        }
        let faults = |it: &Outcome| {
            (it.wrong + it.failed) as f64 / (it.ok + it.wrong + it.failed).max(1) as f64
        };
        let worst = measured.levels.iter().max_by(|a, b| faults(&a.1).total_cmp(&faults(&b.1)));
        if let Some((users, outcome)) = worst {
            self.put("fault_share", faults(outcome));
            self.put("fault_users", *users as f64);
            let fault = outcome.first_fault.clone().unwrap_or_else(|| "no answer".to_owned());
            self.words.insert("fault".to_owned(), fault);
        }
    }

    pub(super) fn latency(&mut self, measured: &Measured) {
        let (Some(outcome), Some([quick, again])) = (measured.at(WATCHED), &measured.quick_ack)
        else {
            self.put("delayed_share", 0.0);
            return;
        };
        let [usual, again, quick] = [outcome, again, quick].map(delayed);
        for (name, (delayed, all)) in [
            ("delayed_share", usual),
            ("delayed_again_share", again),
            ("delayed_quick_share", quick),
        ] {
            self.put(name, delayed as f64 / all.max(1) as f64);
        }
        // The worst case that the intervals allow: few delays with the usual client, by the run that has
        // fewer, and many with the other.
        let few = [usual, again].map(|(delayed, all)| wilson(delayed, all)[0]);
        let many = wilson(quick.0, quick.1)[1];
        let removed = 1.0 - many / few[0].min(few[1]);
        self.put("quick_ack_removes_least_share", removed.max(-1.0));
        // As a share of the time that all answers took together.
        let of = |is: &dyn Fn(f64) -> bool| -> f64 {
            let them = outcome.latency.buckets().filter(|(ms, _)| is(*ms));
            them.map(|(ms, count)| ms * count as f64).sum()
        };
        self.put("delayed_time_share", of(&|ms| DELAYED.contains(&ms)) / of(&|_| true));
    }

    pub(super) fn counts(&mut self, counts: &BTreeMap<&'static str, f64>, asks: usize) {
        let of = |events: &[&str]| -> f64 {
            let counted = events.iter().filter_map(|event| counts.get(event));
            counted.sum::<f64>() / asks.max(1) as f64
        };
        self.put("system_calls_per_request", of(&["raw_syscalls:sys_enter"]));
        self.put("connects_per_request", of(&["syscalls:sys_enter_connect"]));
        self.put("writes_per_request", of(&["syscalls:sys_enter_write"]));
        self.put("opens_per_request", of(&["syscalls:sys_enter_openat"]));
        let flushes = ["syscalls:sys_enter_fsync", "syscalls:sys_enter_fdatasync"];
        self.put("flushes_per_request", of(&flushes));
        let clones = ["syscalls:sys_enter_clone", "syscalls:sys_enter_clone3"];
        self.put("starts_per_request", of(&clones));
        self.put("page_faults_per_request", of(&["page-faults"]));
    }
}
