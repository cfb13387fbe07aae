//! Facts of random arrivals: when a server stands still, how long, and what its threads do meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use lab_measure::watch::RandomArrivals;
use lab_observation::{State, ThreadStates};
use lab_protocol::{VisitEnd, Visits};
use lab_stats::median_of;

use super::Facts;
use crate::{
    figure::{Figure, Word},
    measure::{Measured, WATCHED},
};

/// A stall is at least as long as this, and as this many answers. On a busy machine, healthy servers wait for a core
/// for up to 20 ms.
const LEAST_US: u64 = 25_000;
const ANSWERS: u64 = 8;
/// The number of arrivals that have to wait for at least half of a stall: one slow request doesn't make a stall.
const WAITING: usize = 3;
/// The threads' work is a trait of the stalls if its share is higher by this much during stalls than at other times.
const TRAIT: f64 = 0.3;

impl Facts {
    pub(super) fn arrivals(&mut self, measured: &Measured) {
        let Some(RandomArrivals { rate_per_s, outcome, threads }) = &measured.arrivals else {
            return;
        };
        let requests = measured.requests.max(1) as f64;
        self.put(Figure::OpenRate, rate_per_s * requests);
        let closed = measured.at(WATCHED);
        for (figure, ms) in [
            (Figure::OpenP50Ms, outcome.latency.quantile_ms(50.0)),
            (Figure::OpenP99Ms, outcome.latency.quantile_ms(99.0)),
            (Figure::ClosedP99Ms, closed.and_then(|level| level.latency.quantile_ms(99.0))),
            (Figure::OpenLagMs, outcome.punctuality.map(|punctuality| punctuality.lag_p99_ms)),
        ] {
            ms.into_iter().for_each(|ms| self.put(figure, ms));
        }
        let Some(visits) = &outcome.visits else { return };
        let stalls = stalls(visits);
        let (stalls, work) = match (threads, visits.began_unix_us) {
            (Some(threads), Some(began)) => seen(threads, began, stalls),
            _ => (stalls, None),
        };
        let lengths: Vec<_> =
            stalls.iter().map(|stall| (stall.end - stall.start) as f64 / 1e3).collect();
        self.put(Figure::Stalls, stalls.len() as f64);
        self.put(
            Figure::StallShare,
            lengths.iter().sum::<f64>() / 1e3 / outcome.measured.as_secs_f64(),
        );
        let every = stalls.windows(2).map(|pair| (pair[1].start - pair[0].start) as f64 / 1e3);
        for (figure, ms) in [
            (Figure::StallMs, median_of(lengths.iter().copied())),
            (Figure::LongestStallMs, lengths.iter().copied().reduce(f64::max)),
            (Figure::StallEveryMs, median_of(every)),
        ] {
            ms.into_iter().for_each(|ms| self.put(figure, ms));
        }
        let work = work.unwrap_or_else(|| "its threads do what they do at other times".to_owned());
        self.words.insert(Word::StallWork, work);
    }
}

/// The times, in microseconds, in which no answer came although several arrivals waited, for far longer than an answer
/// usually takes.
fn stalls(visits: &Visits) -> Vec<Range<u64>> {
    let rows = visits.due_us.iter().zip(&visits.latency_us).zip(&visits.answer);
    // Nobody knows when an unfinished one would have ended.
    let ended = rows.filter(|(_, answer)| **answer != VisitEnd::Unfinished);
    let mut ends: Vec<_> = ended.map(|((due, latency), _)| (due + latency, *due)).collect();
    let mut latencies: Vec<_> = ends.iter().map(|(end, due)| end - due).collect();
    latencies.sort_unstable();
    let Some(usual) = latencies.get(latencies.len() / 2) else { return Vec::new() };
    let least = LEAST_US.max(ANSWERS * usual);
    let mut dues: Vec<_> = ends.iter().map(|(end, due)| (*due, *end)).collect();
    dues.sort_unstable();
    ends.sort_unstable();
    let (mut stalls, mut last_end, mut next) = (Vec::new(), 0, 0);
    // Those that have come and have no answer yet.
    let mut waiting = BTreeSet::new();
    for (end, due) in ends {
        while let Some(come) = dues.get(next).filter(|(due, _)| *due <= end) {
            waiting.insert((come.0, come.1, next));
            next += 1;
        }
        // Those that came since the last answer; the others may be slow themselves.
        let mut came = waiting.range((last_end, 0, 0)..).map(|(due, ..)| *due);
        if let Some(start) = came.next().filter(|start| end - start >= least) {
            let late = end - (end - start) / 2;
            if 1 + came.take_while(|due| *due <= late).count() >= WAITING {
                stalls.push(start..end);
            }
        }
        let its = waiting.range((due, end, 0)..=(due, end, usize::MAX)).next().copied();
        if let Some(its) = its {
            waiting.remove(&its);
        }
        last_end = end;
    }
    stalls
}

/// The stalls in which somebody saw the threads, and not all of them wait for a core; and what the threads do then,
/// but hardly at other times. If nobody saw them, the whole machine may have stood still.
fn seen(
    threads: &ThreadStates,
    began: u64,
    stalls: Vec<Range<u64>>,
) -> (Vec<Range<u64>>, Option<String>) {
    let within = |stall: &Range<u64>| {
        let looks = threads.unix_us.iter().enumerate();
        let its = looks.filter(|(_, at)| stall.contains(&at.saturating_sub(began)));
        its.map(|(look, _)| look).collect::<Vec<_>>()
    };
    let starves = |look: &usize| {
        let mut states = threads.threads.iter().filter_map(|thread| thread.states.get(*look));
        let is_ready = states.clone().any(|state| *state == State::Ready);
        is_ready && !states.any(|state| *state == State::Running)
    };
    let stalls: Vec<_> = stalls.into_iter().map(|stall| (within(&stall), stall)).collect();
    let is_own =
        |looks: &[usize]| 2 * looks.iter().filter(|look| starves(look)).count() < looks.len();
    let own: Vec<_> = stalls.into_iter().filter(|(looks, _)| is_own(looks)).collect();
    let inside: BTreeSet<_> = own.iter().flat_map(|(looks, _)| looks).copied().collect();
    let work = work(threads, &inside);
    (own.into_iter().map(|(_, stall)| stall).collect(), work)
}

/// The work that a kind of threads does in most of the looks `inside` stalls, and in far fewer of the others.
fn work(threads: &ThreadStates, inside: &BTreeSet<usize>) -> Option<String> {
    let mut counts: BTreeMap<(&str, &str), [BTreeSet<usize>; 2]> = BTreeMap::new();
    for (kind, threads) in threads.kinds() {
        for thread in threads {
            for (look, state) in thread.states.iter().enumerate() {
                let does = match state {
                    State::Running | State::Ready => "",
                    State::Blocked(call) => &**call,
                    State::Stopped | State::Absent => continue,
                };
                let counts = counts.entry((kind, does)).or_default();
                counts[usize::from(inside.contains(&look))].insert(look);
            }
        }
    }
    let outside = threads.looks.saturating_sub(inside.len()).max(1) as f64;
    let more = |[out, within]: &[BTreeSet<usize>; 2]| {
        within.len() as f64 / inside.len().max(1) as f64 - out.len() as f64 / outside
    };
    let ((kind, call), looks) = counts.iter().max_by(|a, b| more(a.1).total_cmp(&more(b.1)))?;
    match *call {
        "" if more(looks) >= TRAIT => Some(format!("`{kind}` runs")),
        call if more(looks) >= TRAIT => Some(format!("`{kind}` is blocked in `{call}`")),
        _ => idle(threads, inside),
    }
}

/// The call in which most threads wait, if none of them runs in most of these looks.
fn idle(threads: &ThreadStates, inside: &BTreeSet<usize>) -> Option<String> {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    let mut active = BTreeSet::new();
    for thread in &threads.threads {
        for look in inside {
            match thread.states.get(*look) {
                Some(State::Running | State::Ready) => {
                    active.insert(look);
                }
                Some(State::Blocked(call)) => *calls.entry(call).or_default() += 1,
                Some(State::Stopped | State::Absent) | None => {}
            }
        }
    }
    let (call, _) = calls.into_iter().max_by_key(|(_, looks)| *looks)?;
    let is_idle = 2 * active.len() < inside.len();
    is_idle.then(|| format!("none of its threads runs, and most wait in `{call}`"))
}

#[cfg(test)]
mod tests {
    use lab_observation::Thread;

    use super::*;

    /// An arrival each millisecond of a second, which takes so many microseconds.
    fn visits(latency_us: impl Fn(u64) -> u64) -> Visits {
        let due_us: Vec<_> = (0..1_000).map(|due| due * 1_000).collect();
        Visits {
            kind: vec![0; 1_000],
            latency_us: due_us.iter().map(|due| latency_us(*due)).collect(),
            answer: vec![VisitEnd::Right; 1_000],
            due_us,
            began_unix_us: Some(0),
        }
    }

    /// Until the end of the stall that it meets, and a bit longer.
    fn stalled(from: u64, to: u64) -> impl Fn(u64) -> u64 {
        move |due| if (from..to).contains(&due) { to - due + (due - from) / 100 } else { 300 }
    }

    #[test]
    fn a_stall_is_a_time_in_which_several_wait_and_no_answer_comes() {
        let stall = 200_000..250_000;
        assert_eq!(stalls(&visits(stalled(stall.start, stall.end))), [stall]);
        for (name, visits) in [
            ("a healthy server", visits(|_| 300)),
            ("one slow request in ten", visits(|due| if due % 10_000 == 0 { 60_000 } else { 300 })),
            ("all answers are slow", visits(|_| 50_000)),
            ("a short one", visits(stalled(200_000, 212_000))),
            ("slow answers come one by one", visits(|due| 300 + due / 20)),
        ] {
            assert_eq!(stalls(&visits), [], "{name}");
        }
        let mut lost = visits(|_| 300);
        (lost.answer[7], lost.latency_us[7]) = (VisitEnd::Unfinished, 990_000);
        assert_eq!(stalls(&lost), []);
        // At a low rate, answers are far apart.
        let mut slow = visits(|due| if due == 0 { 500_000 } else { 300 });
        slow.due_us = slow.due_us.iter().map(|due| due * 30).collect();
        assert_eq!(stalls(&slow), []);
        assert_eq!(stalls(&Visits::default()), []);
    }

    /// Threads that were looked at every 10 ms of a second: `r` runs, `w` waits for a core, and `e`, `f` and `s` are
    /// blocked.
    fn looks(threads: &[(&str, String)]) -> ThreadStates {
        let state = |letter| match letter {
            'r' => State::Running,
            'w' => State::Ready,
            'e' => State::Blocked("epoll_wait".into()),
            'f' => State::Blocked("futex".into()),
            _ => State::Blocked("clock_nanosleep".into()),
        };
        let thread = |(name, letters): &(&str, String)| Thread {
            name: (*name).to_owned(),
            states: letters.chars().map(state).collect(),
        };
        ThreadStates {
            looks: 100,
            unix_us: (0..100).map(|look| look * 10_000).collect(),
            threads: threads.iter().map(thread).collect(),
            ..ThreadStates::default()
        }
    }

    #[test]
    fn what_threads_do_during_stalls_and_not_at_other_times_is_said() {
        let then =
            |usual: &str, stall: &str| usual.repeat(20) + &stall.repeat(5) + &usual.repeat(75);
        let stall = 200_000..250_000;
        let work = |threads: &[(&str, String)]| {
            let (stalls, work) = seen(&looks(threads), 0, vec![stall.clone()]);
            assert_eq!(stalls.len(), 1);
            work
        };
        for (threads, said) in [
            (
                [("worker-1", then("e", "f")), ("timer", then("s", "s"))],
                "`worker` is blocked in `futex`",
            ),
            ([("main thread", then("e", "r")), ("timer", then("s", "s"))], "`main thread` runs"),
            (
                [("main thread", then("e", "s")), ("timer", then("s", "s"))],
                "`main thread` is blocked in `clock_nanosleep`",
            ),
        ] {
            assert_eq!(work(&threads).as_deref(), Some(said));
        }
        let idle = work(&[("main thread", then("e", "e"))]);
        assert_eq!(
            idle.as_deref(),
            Some("none of its threads runs, and most wait in `epoll_wait`")
        );
        assert_eq!(work(&[("main thread", then("r", "r"))]), None);
    }

    #[test]
    fn a_machine_that_stands_still_is_not_the_server() {
        let stall = 200_000..250_000;
        let stall = || vec![stall.clone()];
        let ready = "e".repeat(20) + "wwwww" + &"e".repeat(75);
        assert_eq!(seen(&looks(&[("worker", ready)]), 0, stall()).0, []);
        // Nobody looked.
        let mut blind = looks(&[("worker", "e".repeat(100))]);
        blind.unix_us.iter_mut().for_each(|at| *at += if *at >= 200_000 { 60_000 } else { 0 });
        assert_eq!(seen(&blind, 0, stall()).0, []);
    }
}
