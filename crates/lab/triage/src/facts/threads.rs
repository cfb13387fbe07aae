//! Facts of the threads: what they wait for, and how many cores they want.

use lab_observation::{State, Thread, ThreadStates};

use super::Facts;
use crate::measure::{Measured, WATCHED};

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
    pub(super) fn threads(&mut self, measured: &Measured) {
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

    pub(super) fn wants(&mut self, wanted: f64, cores: usize) {
        self.put("wanted_cores", wanted);
        self.put("wanted_core_share", wanted / cores as f64);
    }

    /// The share of all cores that neither the server nor the generator wanted.
    pub(super) fn idle(&mut self, measured: &Measured) {
        let (Some(outcome), Some(wanted)) = (measured.at(WATCHED), self.get("wanted_cores")) else {
            return;
        };
        let shares = [outcome.generator_share(), outcome.generator_waited_share()];
        let generator: f64 = shares.into_iter().flatten().sum();
        self.put("idle_core_share", (1.0 - (wanted + generator) / measured.cores as f64).max(0.0));
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
