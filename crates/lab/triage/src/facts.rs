//! Named figures of what was measured: the language of the rules.
//!
//! The end of a name says the unit: `_share` is from 0 to 1, `_ms` is milliseconds, `_rps` is answers
//! per second, `_per_request` is a count. All are of one request, even if a visit has several. What could not be measured has no figure, and a rule that
//! needs it is not checked.

use std::collections::BTreeMap;

use lab_display::{percent, significant, thousands, time_ms};
use lab_model::Outcome;
use lab_observation::{Kernel, Pattern, State, Thread, ThreadStates};
use lab_stats::wilson;
use serde::Serialize;

use super::measure::{DELAYED, Measured, WATCHED, delayed};

/// Figures and words by name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Facts {
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
    /// Names, such as the system call in which most threads sleep.
    #[serde(flatten)]
    pub words: BTreeMap<String, String>,
}

/// How many answers each user needs before a cost per answer is meaningful.
const ENOUGH: u64 = 10;

/// Shares of fewer samples than this are too rough.
pub const ENOUGH_SAMPLES: u64 = 100;

/// System calls in which a thread can do nothing else, unless it waits there for work. Go's scheduler sleeps in
/// `nanosleep`, and hardly anything else does.
#[rustfmt::skip]
const WAITING: [&str; 14] = [
    "clock_nanosleep", "select", "pselect6", "poll", "ppoll", "connect", "read", "readv", "pread64",
    "recvfrom", "recvmsg", "flock", "wait4", "waitid",
];
/// System calls that wait for the disk.
const DISK: [&str; 4] = ["fsync", "fdatasync", "sync_file_range", "msync"];
/// The system call in which a thread waits for a lock, or idles.
const LOCK: [&str; 1] = ["futex"];

impl Facts {
    /// The facts of a measurement. `groups` names functions that belong together; each becomes
    /// `NAME_cpu_share`.
    pub fn of(measured: &Measured, groups: &BTreeMap<String, Vec<Pattern>>) -> Self {
        let mut facts = Self::default();
        facts.throughput(measured);
        facts.latency(measured);
        facts.threads(measured);
        facts.idle(measured);
        if let Some(counts) = &measured.counts {
            facts.counts(counts, measured.asks);
        }
        if let Some(recording) = measured.recording().filter(|it| it.samples >= ENOUGH_SAMPLES) {
            // Without the kernel's part, these are shares of less than the whole.
            let seen = match recording.profiler.kernel {
                Kernel::Missing => recording.cpu_agreement().unwrap_or(1.0).min(1.0),
                _ => 1.0,
            };
            let is_in = |name: &str, patterns: &[Pattern]| patterns.iter().any(|it| it.fits(name));
            let shares = recording.stacks.shares(|name| {
                groups.iter().filter(|it| is_in(name, it.1)).map(|it| it.0).collect()
            });
            for (group, patterns) in groups {
                if recording.profiler.kernel == Kernel::Frames
                    || !patterns.iter().all(Pattern::is_of_kernel)
                {
                    let share = shares.get(group).copied().unwrap_or(0.0);
                    facts.put(&format!("{group}_cpu_share"), seen * share);
                }
            }
        }
        // A flush waits for the disk, and works before that.
        let shares = ["disk_share", "flush_cpu_share"].map(|name| facts.get(name).unwrap_or(0.0));
        facts.put("flush_share", shares[0].max(shares[1]));
        facts
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    pub fn put(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.figures.insert(name.to_owned(), value);
        }
    }

    /// A fact as a reader sees it.
    pub fn shown(&self, name: &str) -> Option<String> {
        if let Some(word) = self.words.get(name) {
            return Some(word.clone());
        }
        let value = self.get(name)?;
        Some(match name {
            name if name.ends_with("_share") => percent(value),
            name if name.ends_with("_ms") => time_ms(value),
            name if name.ends_with("_rps") => rate(value),
            name if name.ends_with("_per_request") && value < 0.005 => "0".to_owned(),
            _ if (value - value.round()).abs() < 0.005 * value.abs() => thousands(value),
            _ => significant(value),
        })
    }

    fn throughput(&mut self, measured: &Measured) {
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
        self.put("lost_requests", sum(|it| it.lost));
        // One user can lose one request.
        let lost = measured.levels.iter().map(|(users, it)| it.lost as f64 / *users as f64);
        self.put("lost_user_share", lost.fold(0.0, f64::max));
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

    fn latency(&mut self, measured: &Measured) {
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

    fn threads(&mut self, measured: &Measured) {
        if let Some(outbound) = measured.outbound {
            self.put("outbound", outbound as f64);
            if let Some(at_once) = self.get("at_once") {
                self.put("outbound_over_at_once", outbound as f64 / at_once);
            }
        }
        let Some([idle, busy]) = &measured.threads else { return };
        // A runtime has threads that sleep or wait all the time. What counts is what the load adds.
        let more = |calls: &[&str]| (blocked(busy, calls) - blocked(idle, calls)).max(0.0);
        self.put("waiting_threads", more(&WAITING));
        self.put("disk_share", any(busy, &DISK));
        self.put("lock_threads", more(&LOCK));
        let calls = WAITING.iter().max_by(|a, b| more(&[**a]).total_cmp(&more(&[**b])));
        self.words.insert("waiting_call".to_owned(), calls.map_or("", |call| *call).to_owned());
        // A thread that waits for a core wants one: on a busy machine a server gets less than it wants.
        let looks = busy.looks.max(1) as f64;
        let looked = |thread: &Thread, is: fn(&State) -> bool| {
            thread.states.iter().filter(|state| is(state)).count() as f64 / looks
        };
        let ready = |it: &State| matches!(it, State::Ready);
        let wants = |it: &State| matches!(it, State::Running | State::Ready);
        let sum = |is| busy.threads.iter().map(|thread| looked(thread, is)).sum::<f64>();
        let wanted = busy.threads.iter().map(|thread| looked(thread, wants));
        self.put("busiest_thread_share", wanted.fold(0.0, f64::max));
        self.put("starved_share", sum(ready) / sum(wants).max(0.01));
        self.wants(sum(wants), measured.cores);
        if let Some(at_once) = self.get("at_once") {
            // Threads that serve a request and no other one meanwhile.
            let occupied = more(&WAITING) + self.get("wanted_cores").unwrap_or_default();
            self.put("occupied_over_at_once", occupied / at_once);
        }
    }

    fn wants(&mut self, wanted: f64, cores: usize) {
        self.put("wanted_cores", wanted);
        self.put("wanted_core_share", wanted / cores as f64);
    }

    /// The share of all cores that neither the server nor the generator wanted.
    fn idle(&mut self, measured: &Measured) {
        let (Some(outcome), Some(wanted)) = (measured.at(WATCHED), self.get("wanted_cores")) else {
            return;
        };
        let shares = [outcome.generator_share(), outcome.generator_waited_share()];
        let generator: f64 = shares.into_iter().flatten().sum();
        self.put("idle_core_share", (1.0 - (wanted + generator) / measured.cores as f64).max(0.0));
    }

    fn counts(&mut self, counts: &BTreeMap<&'static str, f64>, asks: usize) {
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

/// How many threads were in one of these system calls at once, on average.
fn blocked(states: &ThreadStates, calls: &[&str]) -> f64 {
    let all = states.threads.iter().flat_map(|thread| &thread.states);
    let blocked = all.filter(|it| matches!(it, State::Blocked(call) if calls.contains(&&**call)));
    blocked.count() as f64 / states.looks.max(1) as f64
}

/// The share of looks at which some thread was in one of these system calls.
fn any(states: &ThreadStates, calls: &[&str]) -> f64 {
    let is_in = |look: &usize| {
        let mut states = states.threads.iter().filter_map(|thread| thread.states.get(*look));
        states.any(|it| matches!(it, State::Blocked(call) if calls.contains(&&**call)))
    };
    (0..states.looks).filter(is_in).count() as f64 / states.looks.max(1) as f64
}

/// `1,292 answers per second`.
fn rate(per_second: f64) -> String {
    format!("{} req/s", significant(per_second))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lab_observation::{Observation, Profiler, Recording, Window};

    use super::*;

    /// A second of answers that took as many milliseconds, each as often as that.
    fn outcome(modes: &[(u64, u64)]) -> Outcome {
        let mut outcome = Outcome { measured: Duration::from_secs(1), ..Outcome::default() };
        for (ms, answers) in modes {
            (0..*answers).for_each(|_| outcome.latency.record(Duration::from_millis(*ms)));
            outcome.ok_in_time += answers;
            outcome.ok += answers;
        }
        outcome
    }

    /// A server with these levels, which was not watched.
    fn measured(levels: Vec<(usize, Outcome)>) -> Measured {
        let profiler = Profiler { name: "", label: "", kernel: Kernel::Frames };
        let observation = Observation {
            name: String::new(),
            recording: None,
            measured: Duration::from_secs(1),
            answered: 0,
            cpu: None,
            spans: None,
            threads: None,
        };
        Measured {
            cores: 2,
            asks: 1,
            levels,
            quick_ack: None,
            threads: None,
            outbound: None,
            round_trips_per_s: None,
            refused_connections: None,
            counts: None,
            profiler,
            observation,
            notices: Vec::new(),
        }
    }

    fn facts(measured: &Measured) -> Facts {
        Facts::of(measured, &BTreeMap::new())
    }

    #[test]
    fn figures_are_of_a_request_and_not_of_a_visit() {
        let counts = [("syscalls:sys_enter_openat", 4.0), ("raw_syscalls:sys_enter", 120.0)];
        let visits = Measured {
            asks: 4,
            counts: Some(counts.into()),
            round_trips_per_s: Some(3200.0),
            ..measured(vec![(1, outcome(&[(10, 100)])), (16, outcome(&[(20, 800)]))])
        };
        let facts = facts(&visits);
        for (figure, value) in [
            ("opens_per_request", 1.0),
            ("system_calls_per_request", 30.0),
            ("round_trips_per_request", 1.0),
            ("peak_rps", 3200.0),
            ("alone_ms", 2.5),
            ("at_once", 8.0),
        ] {
            assert_eq!(facts.get(figure), Some(value), "{figure}");
        }
    }

    #[test]
    fn the_interval_decides_how_many_delays_a_quick_client_removes() {
        let removed = |quick: &[(u64, u64)], again: &[(u64, u64)]| {
            let usual = outcome(&[(1, 600), (44, 400)]);
            let experiment = Measured {
                quick_ack: Some([outcome(quick), outcome(again)]),
                ..measured(vec![(WATCHED, usual)])
            };
            facts(&experiment).get("quick_ack_removes_least_share").unwrap()
        };
        // 68 % of the delays are gone, and other delays of this length are not.
        let least = removed(&[(1, 872), (44, 128)], &[(1, 590), (44, 410)]);
        assert!((0.5..0.68).contains(&least), "{least}");
        // The control shows that they come and go.
        assert!(removed(&[(1, 872), (44, 128)], &[(1, 880), (44, 120)]) < 0.0);
        // So few answers say nothing.
        assert!(removed(&[(1, 7), (44, 2)], &[(1, 6), (44, 4)]) < 0.2);
        assert_eq!(removed(&[(44, 9)], &[(1, 9)]), -1.0);
    }

    #[test]
    fn requests_without_an_answer_count_by_the_users_who_wait() {
        let hung = Outcome { lost: 8, ..outcome(&[(1, 1000)]) };
        let facts = facts(&measured(vec![(1, outcome(&[(1, 900)])), (16, hung)]));
        let [requests, users] = ["lost_requests", "lost_user_share"].map(|name| facts.get(name));
        assert_eq!((requests, users), (Some(8.0), Some(0.5)));
    }

    #[test]
    fn a_group_has_the_time_of_its_own_functions_and_none_without_their_frames() {
        let share = |kernel| {
            let stacks = "main;open;__x64_sys_openat_[k] 30\nmain;write;vfs_write_[k] 70\n";
            let second = Duration::from_secs(1);
            let profiler = Profiler { name: "", label: "", kernel };
            let window = Window { length: second, system_cpu: None };
            let recording = Recording::new(profiler, stacks.parse().unwrap(), window);
            let mut measured = measured(vec![(1, outcome(&[(1, 900)]))]);
            measured.observation.recording = Some(recording);
            let groups = &crate::Rules::read().unwrap().groups;
            Facts::of(&measured, groups).get("open_cpu_share")
        };
        assert_eq!(share(Kernel::Frames), Some(0.3));
        assert_eq!(share(Kernel::Missing), None);
    }
}
