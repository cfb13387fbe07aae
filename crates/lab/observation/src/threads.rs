//! The states of a server's threads: running, waiting for a core, or blocked in a system call.
//!
//! A profiler samples only what runs. A server that is idle and slow is blocked, and the system shows
//! where: nothing has to be built into the server, and its parent needs no privileges.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

/// The states of the threads of a process and its descendants, read every 5 ms.
#[derive(Clone, Debug, Default)]
pub struct ThreadStates {
    /// How long the threads were watched.
    pub window: Duration,
    /// How often each thread was looked at; fewer than 200 a second on a machine that is busy.
    pub looks: usize,
    /// When each of them was, in microseconds since 1970: other processes have the same clock.
    pub unix_us: Vec<u64>,
    /// How much longer one of the threads has waited for a core at each look than at the one before, at most. The
    /// system counts a wait when it ends, so it may be longer than the time between the looks.
    pub waits_us: Vec<u64>,
    /// The time in seconds since boot that the host gave to other virtual machines, at each look; empty if there was
    /// none before the first.
    pub stolen_s: Vec<f64>,
    /// The threads, ordered by how long they waited for work: the busiest thread comes first.
    pub threads: Vec<Thread>,
    /// How many more threads there were, which were not watched.
    pub left_out: usize,
}

#[derive(Clone, Debug)]
pub struct Thread {
    /// At most 15 characters: the system cuts longer names.
    pub name: String,
    /// The state of the thread at each look.
    pub states: Vec<State>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum State {
    Running,
    /// Waits for a core.
    Ready,
    /// Blocked in this system call: `futex`.
    Blocked(Cow<'static, str>),
    /// By a signal such as SIGSTOP, or by a debugger.
    Stopped,
    /// The thread had not started yet, or had ended.
    Absent,
}

/// From this share on, threads that wait for a core are worth a note.
pub const STARVED: f64 = 0.3;

/// System calls in which a thread usually waits for something to do.
#[rustfmt::skip]
const FOR_WORK: [&str; 14] = [
    "accept", "accept4", "epoll_pwait", "epoll_pwait2", "epoll_wait", "futex", "io_uring_enter",
    "poll", "ppoll", "pselect6", "rt_sigtimedwait", "select", "wait4", "waitid",
];

impl ThreadStates {
    /// How many cores the threads used or wanted, and the share of that in which they waited for one.
    pub fn starved(&self) -> (f64, f64) {
        let count = |of: fn(&State) -> bool| {
            let states = self.threads.iter().flat_map(|thread| &thread.states);
            states.filter(|state| of(state)).count() as f64 / self.looks.max(1) as f64
        };
        let ready = count(|state| matches!(state, State::Ready));
        let wanted = ready + count(|state| matches!(state, State::Running));
        (wanted, ready / wanted.max(0.01))
    }

    /// The threads by their names, numbers apart, in the order of the first thread of each.
    pub fn kinds(&self) -> Vec<(&str, Vec<&Thread>)> {
        let mut kinds: Vec<(&str, Vec<&Thread>)> = Vec::new();
        for thread in &self.threads {
            match kinds.iter_mut().find(|(name, _)| *name == thread.kind()) {
                Some((_, threads)) => threads.push(thread),
                None => kinds.push((thread.kind(), vec![thread])),
            }
        }
        kinds
    }
}

impl State {
    /// Whether the thread waits where idle threads wait. A contended lock looks the same.
    pub fn waits_for_work(&self) -> bool {
        matches!(self, Self::Blocked(call) if FOR_WORK.contains(&&**call))
    }
}

impl Thread {
    /// The name without a number at its end: `worker` for `worker-12`.
    fn kind(&self) -> &str {
        let name = self.name.trim_end_matches(|character: char| character.is_ascii_digit());
        let name = name.trim_end_matches(['-', '_', '#', ':', '/', ' ']);
        if name.is_empty() { &self.name } else { name }
    }
}

/// The share of looks for each state, the largest first. Looks at an absent thread do not count.
pub fn shares(threads: &[&Thread]) -> Vec<(State, f64)> {
    let mut counts: BTreeMap<&State, usize> = BTreeMap::new();
    let states = threads.iter().flat_map(|thread| &thread.states);
    for state in states.filter(|state| **state != State::Absent) {
        *counts.entry(state).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let share = |(state, count): (&State, usize)| (state.clone(), count as f64 / all as f64);
    let mut shares: Vec<_> = counts.into_iter().map(share).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> ThreadStates {
        use State::{Absent, Blocked, Running};
        let fsync = || Blocked("fsync".into());
        let threads = [
            ("w-1", vec![Absent, Running, fsync()]),
            ("main", vec![Running]),
            ("w-12", vec![fsync(), fsync()]),
            ("7", vec![Absent]),
        ]
        .map(|(name, states)| Thread { name: name.to_owned(), states });
        ThreadStates { threads: threads.into(), ..ThreadStates::default() }
    }

    #[test]
    fn threads_of_one_pool_are_one_kind() {
        let states = pool();
        let kinds = states.kinds();
        let found: Vec<_> = kinds.iter().map(|(name, threads)| (*name, threads.len())).collect();
        assert_eq!(found, [("w", 2), ("main", 1), ("7", 1)]);
    }

    #[test]
    fn absence_does_not_count() {
        let states = pool();
        let kinds = states.kinds();
        let fsync = State::Blocked("fsync".into());
        assert_eq!(shares(&kinds[0].1), [(fsync, 0.75), (State::Running, 0.25)]);
        assert!(shares(&kinds[2].1).is_empty());
    }
}
