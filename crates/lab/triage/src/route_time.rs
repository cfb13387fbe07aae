//! What the time of a request is, as far as the server's threads show it while only this request is sent: they run, or
//! wait in a system call.

use std::{borrow::Cow, collections::BTreeMap};

use lab_observation::{State, ThreadStates};
use serde::Serialize;

/// So many threads have to run or to wait, on average. With fewer, a request spends most of its time where idle threads
/// wait, too.
const LEAST_THREADS: f64 = 0.5;
/// One state has this share of the time of these threads.
const CLEAR: f64 = 0.6;
/// Where a thread waits for the next request of its connection, or for the answer of another server.
const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];

/// What the server's threads do most for a request.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouteTime {
    /// They run, or want to and wait for a core.
    Runs,
    /// They wait in this system call.
    WaitsIn(String),
}

impl RouteTime {
    /// The first suspect of a request that was loaded alone, from the states of the threads meanwhile. What they do
    /// without load is subtracted.
    ///
    /// A thread counts if it runs, wants to, or waits in a system call in which idle threads don't wait. If at least half
    /// a thread does on average, and 60 % of them are in one state, that state is the answer. Otherwise there is none:
    ///
    /// - A thread that waits for a lock looks idle. But the thread that has the lock is seen: it runs, or waits in a
    ///   call, which is then the reason for both.
    /// - Nobody sees what a task of an async runtime waits for.
    /// - A thread that reads waits for its client, unless the server asks another one: `asks`.
    pub fn of(idle: &ThreadStates, busy: &ThreadStates, asks: bool) -> Option<Self> {
        let (before, mut more) = (threads_by_state(idle), threads_by_state(busy));
        for (state, threads) in &mut more {
            *threads -= before.get(state).copied().unwrap_or_default();
        }
        more.retain(|state, threads| {
            let is_read = matches!(state, Self::WaitsIn(call) if READS.contains(&&**call));
            *threads > 0.0 && (asks || !is_read)
        });
        let all: f64 = more.values().sum();
        let (state, most) = more.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
        (all >= LEAST_THREADS && most >= CLEAR * all).then_some(state)
    }

    /// In a narrow column: `runs`, or the call.
    pub fn short(&self) -> &str {
        match self {
            Self::Runs => "runs",
            Self::WaitsIn(call) => call,
        }
    }
}

/// How many threads are in each state on average, without those that wait where idle ones do.
fn threads_by_state(states: &ThreadStates) -> BTreeMap<RouteTime, f64> {
    let mut found = BTreeMap::new();
    let all = states.threads.iter().flat_map(|thread| &thread.states);
    for state in all.filter(|state| !state.waits_for_work()) {
        let time = match state {
            State::Running | State::Ready => RouteTime::Runs,
            State::Blocked(call) => RouteTime::WaitsIn(Cow::into_owned(call.clone())),
            State::Stopped | State::Absent => continue,
        };
        *found.entry(time).or_default() += 1.0 / states.looks.max(1) as f64;
    }
    found
}

#[cfg(test)]
mod tests {
    use lab_observation::Thread;

    use super::*;

    /// A look a letter: `r` runs, `w` wants a core, `s` sleeps, `f` waits in futex, `c` reads from its client.
    fn threads(all: &[&str]) -> ThreadStates {
        let blocked = |call: &'static str| State::Blocked(call.into());
        let state = |letter| match letter {
            'r' => State::Running,
            'w' => State::Ready,
            's' => blocked("clock_nanosleep"),
            'f' => blocked("futex"),
            'c' => blocked("recvfrom"),
            _ => State::Absent,
        };
        let thread = |states: &&str| Thread {
            name: "worker".to_owned(),
            states: states.chars().map(state).collect(),
        };
        ThreadStates {
            looks: all.first().map_or(0, |states| states.len()),
            threads: all.iter().map(thread).collect(),
            ..ThreadStates::default()
        }
    }

    fn of(idle: &[&str], busy: &[&str]) -> Option<RouteTime> {
        RouteTime::of(&threads(idle), &threads(busy), false)
    }

    fn sleeps() -> Option<RouteTime> {
        Some(RouteTime::WaitsIn("clock_nanosleep".to_owned()))
    }

    #[test]
    fn a_thread_that_sleeps_with_the_lock_explains_those_that_wait_for_it() {
        assert_eq!(of(&["ffffffffff"; 4], &["sfffffffff", "fsssssssrr", "ffffffffff"]), sleeps());
        assert_eq!(sleeps().unwrap().short(), "clock_nanosleep");
    }

    #[test]
    fn threads_that_run_or_want_to_are_cpu_time() {
        assert_eq!(of(&["ffffffffff"], &["rrrwwwrrrf", "rrssffffff"]), Some(RouteTime::Runs));
    }

    #[test]
    fn a_state_has_to_have_60_percent() {
        assert_eq!(of(&["f"], &["ssssssrrrr"]), sleeps());
        assert_eq!(of(&["f"], &["sssssrrrrf"]), None, "5 of 9");
    }

    #[test]
    fn half_a_thread_is_enough_and_less_says_nothing() {
        assert_eq!(of(&["f"], &["sssssfffff"]), sleeps());
        assert_eq!(of(&["f"], &["ssssffffff"]), None);
        assert_eq!(of(&["f"], &["ffffffffff"; 4]), None, "a lock, or idle");
        assert_eq!(of(&[], &[]), None);
    }

    #[test]
    fn what_a_thread_does_without_load_says_nothing_of_a_request() {
        assert_eq!(of(&["ssssssssss"], &["ssssssssss", "ffffffffrf"]), None);
        assert_eq!(of(&["ssssssssss"], &["ssssssssss", "rrrrrrrfff"]), Some(RouteTime::Runs));
    }

    #[test]
    fn a_read_is_a_wait_only_if_the_server_asks_another_one() {
        let (idle, busy) = (threads(&["f"]), threads(&["cccccccccr", "cccccccccc"]));
        assert_eq!(RouteTime::of(&idle, &busy, false), None, "its client");
        let asks = RouteTime::of(&idle, &busy, true);
        assert_eq!(asks, Some(RouteTime::WaitsIn("recvfrom".to_owned())));
    }
}
