//! What a server can do or lack at a look.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{State, ThreadStates};

/// A look that comes so many times later than usual missed some.
const LATE: u64 = 3;
/// Names of threads that collect garbage in the JVM and in .NET.
const COLLECTORS: [&str; 9] = [
    "GC Thread",
    "G1 ",
    "ParGC",
    "VM Thread",
    "ZWorker",
    "ZDriver",
    "Shenandoah",
    ".NET Server GC",
    ".NET BGC",
];

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum Cause {
    /// A signal or a debugger stopped a process.
    Stopped,
    /// Threads that collect garbage run, or are ready to.
    Collects { thread: String },
    /// The host gave the time to other virtual machines.
    Stolen,
    /// A thread is ready, and waits for a core.
    NoCore,
    /// Nobody looked: `lab` had no core, either.
    Unseen,
    /// A thread of this kind runs, or is ready to: one look cannot see which.
    Runs { thread: String },
    /// A thread of this kind is blocked in a system call.
    Blocked { thread: String, call: String },
    /// All threads of this kind are blocked in a system call.
    AllBlocked { thread: String, call: String },
    /// None of the threads runs, or is ready to.
    NoneRuns,
}

impl Cause {
    /// The place in the list: those that explain others come first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Stopped => 0,
            Self::Collects { .. } => 1,
            Self::Stolen => 2,
            Self::NoCore => 3,
            Self::Unseen => 4,
            Self::Runs { .. } | Self::Blocked { .. } => 5,
            Self::AllBlocked { .. } => 6,
            Self::NoneRuns => 7,
        }
    }
}

/// The looks at a server, with those that should have been made and were not.
pub struct ServerLooks<'a> {
    threads: &'a ThreadStates,
    /// From the begin of the measurement, in microseconds.
    pub at_us: Vec<u64>,
    /// The number of each look in `threads`; `None` for one that was missed.
    seen: Vec<Option<usize>>,
}

impl<'a> ServerLooks<'a> {
    pub fn of(threads: &'a ThreadStates, began_unix_us: u64) -> Self {
        let mut gaps: Vec<_> =
            threads.unix_us.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        gaps.sort_unstable();
        let usual_us = gaps.get(gaps.len() / 2).copied().unwrap_or_default().max(1);
        let mut looks = Self { threads, at_us: Vec::new(), seen: Vec::new() };
        let mut last: Option<u64> = None;
        for (look, unix_us) in threads.unix_us.iter().enumerate() {
            // Those of the warm-up have no time here.
            let Some(at) = unix_us.checked_sub(began_unix_us) else { continue };
            let missed = last.filter(|last| at.saturating_sub(*last) > LATE * usual_us);
            let missed = missed.into_iter().flat_map(|last| {
                (1..)
                    .map(move |nth| last + nth * usual_us)
                    .take_while(|missed| missed + usual_us <= at)
            });
            looks.at_us.extend(missed);
            looks.seen.resize(looks.at_us.len(), None);
            looks.at_us.push(at);
            looks.seen.push(Some(look));
            last = Some(at);
        }
        looks
    }

    /// For each look, how much of the time before it a thread waited for a core. The system counts a wait at its end.
    fn no_core(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.seen.len()];
        let mut waited = 0;
        for (nth, look) in self.seen.iter().enumerate().rev() {
            let its = look.and_then(|look| self.threads.waits_us.get(look));
            waited = waited.max(its.copied().unwrap_or_default());
            let before = if nth == 0 { 0 } else { self.at_us[nth - 1] };
            let length = (self.at_us[nth] - before).max(1);
            shares[nth] = (waited as f64 / length as f64).min(1.0);
            waited = waited.saturating_sub(length);
        }
        shares
    }

    /// How many threads of a kind run, or are in a call, at each look.
    pub fn counts(&self) -> BTreeMap<Cause, Vec<f64>> {
        let mut counts: BTreeMap<Cause, Vec<f64>> = BTreeMap::new();
        for (kind, threads) in self.threads.kinds() {
            for (nth, look) in self.seen.iter().enumerate() {
                let states = threads.iter().filter_map(|thread| thread.states.get((*look)?));
                for cause in states.filter_map(|state| of_state(kind, state)) {
                    counts.entry(cause).or_insert_with(|| vec![0.0; self.seen.len()])[nth] += 1.0;
                }
            }
        }
        counts
    }

    /// Whether the time of others grew, also at the looks that were missed before.
    fn stolen(&self) -> Vec<f64> {
        let at = |look: usize| self.threads.stolen_s.get(look);
        let grew = |look: usize| look > 0 && at(look) > at(look - 1);
        let mut next = false;
        let from_last = self.seen.iter().rev().map(|look| {
            next = look.map_or(next, grew);
            f64::from(next)
        });
        let mut shares: Vec<_> = from_last.collect();
        shares.reverse();
        shares
    }
}

/// What may be the cause, and at which looks it was so: from 0 to 1.
pub fn causes(looks: &ServerLooks) -> BTreeMap<Cause, Vec<f64>> {
    let mut causes = BTreeMap::from([
        (Cause::NoCore, looks.no_core()),
        (Cause::Stolen, looks.stolen()),
        (Cause::Unseen, looks.seen.iter().map(|look| f64::from(look.is_none())).collect()),
    ]);
    let kinds = looks.threads.kinds();
    for (nth, look) in looks.seen.iter().enumerate() {
        let Some(look) = *look else { continue };
        let mut put = |cause| {
            causes.entry(cause).or_insert_with(|| vec![0.0; looks.seen.len()])[nth] = 1.0;
        };
        let mut is_any_active = false;
        for (kind, threads) in &kinds {
            let states = threads.iter().filter_map(|thread| thread.states.get(look));
            let states: Vec<_> = states.filter(|state| **state != State::Absent).collect();
            is_any_active |=
                states.iter().any(|state| matches!(state, State::Running | State::Ready));
            for state in &states {
                of_state(kind, state).into_iter().for_each(&mut put);
            }
            if let [State::Blocked(call), _, ..] = states[..]
                && states.iter().all(|state| *state == states[0])
            {
                put(Cause::AllBlocked { thread: (*kind).to_owned(), call: call.to_string() });
            }
        }
        if !is_any_active {
            put(Cause::NoneRuns);
        }
    }
    causes
}

fn of_state(kind: &str, state: &State) -> Option<Cause> {
    let thread = kind.to_owned();
    Some(match state {
        State::Stopped => Cause::Stopped,
        State::Running | State::Ready if COLLECTORS.iter().any(|name| kind.starts_with(name)) => {
            Cause::Collects { thread }
        }
        State::Running | State::Ready => Cause::Runs { thread },
        State::Blocked(call) => Cause::Blocked { thread, call: call.to_string() },
        State::Absent => return None,
    })
}
