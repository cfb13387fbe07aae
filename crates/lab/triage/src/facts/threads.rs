//! Facts of the threads: what they wait for, and how many cores they want.

use std::collections::BTreeSet;

use lab_observation::{State, Thread, ThreadStates};

use super::Facts;
use crate::{
    figure::{Figure, Word},
    measure::{Measured, WATCHED, cores},
};

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
/// System calls in which an event loop waits for events.
const EVENTS: [&str; 4] = ["epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter"];
/// A thread works if it runs for this share of its life. Runtimes have threads that hardly ever run.
const WORKS: f64 = 0.02;
/// From this many calls of `futex` per request on, threads wait for locks. A runtime that is limited to one thread at
/// a time makes one in a hundred requests, and a lock that a thread can get several times makes one in five.
const LOCKS: f64 = 0.1;

impl Facts {
    pub(super) fn threads(&mut self, measured: &Measured) {
        if let Some(outbound) = measured.outbound.connections {
            self.put(Figure::Outbound, outbound as f64);
            if let Some(at_once) = self.get(Figure::AtOnce) {
                self.put(Figure::OutboundOverAtOnce, outbound as f64 / at_once);
            }
        }
        if let (Some(held_back), Some(at_once)) =
            (measured.outbound.held_back, self.get(Figure::AtOnce))
        {
            self.put(Figure::HeldBackOverAtOnce, held_back / at_once);
        }
        let Some([idle, busy]) = &measured.threads else { return };
        // A runtime has threads that sleep or wait all the time. What counts is what the load adds.
        let more = |calls: &[&str]| (blocked(busy, calls) - blocked(idle, calls)).max(0.0);
        self.put(Figure::WaitingThreads, more(&WAITING));
        self.put(Figure::DiskShare, any(busy, &DISK));
        self.put(Figure::LockThreads, more(&LOCK));
        let calls = WAITING.iter().max_by(|a, b| more(&[**a]).total_cmp(&more(&[**b])));
        self.words.insert(Word::WaitingCall, calls.map_or("", |call| *call).to_owned());
        // A thread that waits for a core wants one: on a busy machine a server gets less than it wants.
        let (wanted, starved) = busy.starved();
        let wants = |thread: &Thread| {
            let wants = |state: &&State| matches!(state, State::Running | State::Ready);
            thread.states.iter().filter(wants).count() as f64 / busy.looks.max(1) as f64
        };
        let busiest = busy.threads.iter().map(wants).fold(0.0, f64::max);
        self.put(Figure::BusiestThreadShare, busiest);
        self.put(Figure::OtherThreads, wanted - busiest);
        self.put(Figure::TurnsShare, turns(busy));
        self.put(Figure::StarvedShare, starved);
        self.put(Figure::LackedCores, wanted * starved);
        // Threads that lived only briefly were not seen, but the system counts their CPU time.
        let used = measured.at(WATCHED).and_then(cores).unwrap_or_default();
        self.wants(wanted.max(used), measured);
        self.event_loop(idle, busy);
        if let Some(at_once) = self.get(Figure::AtOnce) {
            // Threads that serve a request and no other one meanwhile.
            let occupied = more(&WAITING) + self.get(Figure::WantedCores).unwrap_or_default();
            self.put(Figure::OccupiedOverAtOnce, occupied / at_once);
        }
    }

    /// How long fewer threads waited for events than without load; and, as a part of that, how long none
    /// ran or wanted to either. Some runtimes have an event loop that serves no requests.
    fn event_loop(&mut self, idle: &ThreadStates, busy: &ThreadStates) {
        let listens =
            |state: &&&State| matches!(state, State::Blocked(call) if EVENTS.contains(&&**call));
        let works = |state: &&State| matches!(state, State::Running | State::Ready);
        let loops = blocked(idle, &EVENTS);
        let lacks = |all: &[&State]| (all.iter().filter(listens).count() as f64) < loops - 0.5;
        self.put(Figure::DeafShare, share(busy, |all| lacks(all) && !all.iter().any(works)));
        self.put(Figure::UnattendedShare, if loops < 0.5 { 1.0 } else { share(busy, lacks) });
        let calls =
            busy.threads.iter().flat_map(|thread| &thread.states).filter_map(|state| match state {
                State::Blocked(call) => Some(&**call),
                _ => None,
            });
        let calls: BTreeSet<_> = calls.filter(|call| !EVENTS.contains(call)).collect();
        let more = |call: &str| blocked(busy, &[call]) - blocked(idle, &[call]);
        let most = calls.into_iter().max_by(|a, b| more(a).total_cmp(&more(b)));
        self.words.insert(Word::LoopCall, most.unwrap_or_default().to_owned());
    }

    /// Waiters sleep in `futex`, or spin. With an asynchronous lock, its tasks move between threads that run.
    pub(super) fn contenders(&mut self) {
        let (Some(wanted), Some(turns)) =
            (self.get(Figure::WantedCores), self.get(Figure::TurnsShare))
        else {
            return;
        };
        let calls = self.get(Figure::FutexCallsPerRequest);
        let asleep = if calls.is_none_or(|calls| calls >= LOCKS) { turns } else { 0.0 };
        self.put(Figure::Contenders, wanted + asleep);
    }

    /// Threads that collect garbage take turns with those that serve requests, without a lock of the server's.
    pub(super) fn helpers(&mut self) {
        let figures = [
            Figure::HelpersCpuShare,
            Figure::UsedCores,
            Figure::BusiestThreadShare,
            Figure::OtherThreads,
        ];
        let [Some(helpers), Some(used), Some(busiest), Some(others)] =
            figures.map(|figure| self.get(figure))
        else {
            return;
        };
        // What they used, of what all threads but the busiest one used.
        let share = if helpers > 0.0 { helpers * used / (used - busiest).max(0.01) } else { 0.0 };
        self.put(Figure::OtherThreads, others * (1.0 - share.min(1.0)));
    }

    pub(super) fn wants(&mut self, wanted: f64, measured: &Measured) {
        self.put(Figure::WantedCores, wanted);
        self.put(Figure::WantedCoreShare, wanted / measured.cores as f64);
        // A server whose answers wait for acknowledgements is idle meanwhile. This is what it uses without them.
        let quick = measured.quick_ack.iter().filter_map(|[quick, _]| cores(quick));
        self.put(Figure::BusyCores, quick.fold(wanted, f64::max));
    }

    /// The share of all cores that neither the server nor the generator wanted.
    pub(super) fn idle(&mut self, measured: &Measured) {
        let (Some(outcome), Some(wanted)) = (measured.at(WATCHED), self.get(Figure::WantedCores))
        else {
            return;
        };
        let shares = [outcome.generator_share(), outcome.generator_waited_share()];
        let generator: f64 = shares.into_iter().flatten().sum();
        let watched = measured.levels.iter().find(|level| level.users == WATCHED);
        // What others used is not the server's to leave.
        if let (Some(used), Some(others)) = (cores(outcome), watched.and_then(|level| level.others))
        {
            self.put(Figure::UsedCores, used);
            let both = used + outcome.generator_share().unwrap_or_default();
            let unused = 1.0 - both / measured.cores as f64 - others;
            let allowed = measured.allowed_cores.unwrap_or(measured.cores) as f64;
            let may_use = (allowed - used) / measured.cores as f64;
            self.put(Figure::UnusedCoreShare, unused.min(may_use).max(0.0));
        }
        self.put(
            Figure::IdleCoreShare,
            (1.0 - (wanted + generator) / measured.cores as f64).max(0.0),
        );
    }
}

/// How many threads were in one of these system calls at once, on average.
fn blocked(states: &ThreadStates, calls: &[&str]) -> f64 {
    let all = states.threads.iter().flat_map(|thread| &thread.states);
    let blocked =
        all.filter(|state| matches!(state, State::Blocked(call) if calls.contains(&&**call)));
    blocked.count() as f64 / states.looks.max(1) as f64
}

/// The share of looks at which one thread ran, and another one that works was in `LOCK`.
fn turns(states: &ThreadStates) -> f64 {
    let runs = |state: &&State| matches!(state, State::Running | State::Ready);
    let works = |thread: &&Thread| {
        let lives = thread.states.iter().filter(|state| **state != State::Absent).count();
        thread.states.iter().filter(runs).count() as f64 >= WORKS * lives.max(1) as f64
    };
    let working: Vec<_> = states.threads.iter().filter(works).collect();
    let locked = |state: &&State| matches!(state, State::Blocked(call) if LOCK.contains(&&**call));
    let turn = |look: &usize| {
        let at: Vec<_> = working.iter().filter_map(|thread| thread.states.get(*look)).collect();
        at.iter().any(runs) && at.iter().any(locked)
    };
    (0..states.looks).filter(turn).count() as f64 / states.looks.max(1) as f64
}

/// The share of looks at which some thread was in one of these system calls.
fn any(states: &ThreadStates, calls: &[&str]) -> f64 {
    let is_in = |state: &&State| matches!(state, State::Blocked(call) if calls.contains(&&**call));
    share(states, |all| all.iter().any(is_in))
}

/// The share of looks at which the states of all threads are like this.
fn share(states: &ThreadStates, is: impl Fn(&[&State]) -> bool) -> f64 {
    let is = |look: &usize| {
        let at = states.threads.iter().filter_map(|thread| thread.states.get(*look));
        is(&at.collect::<Vec<_>>())
    };
    (0..states.looks).filter(is).count() as f64 / states.looks.max(1) as f64
}
