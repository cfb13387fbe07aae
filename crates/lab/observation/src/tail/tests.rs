use lab_stats::SplitMix64;

use super::*;
use crate::{State, Thread};

/// An arrival each millisecond of six seconds, which is answered after so many microseconds.
fn visits(latency_us: impl Fn(u64) -> u64) -> Visits {
    let due_us: Vec<_> = (0..6_000).map(|ms| 1_000 * ms).collect();
    Visits {
        kind: vec![0; due_us.len()],
        latency_us: due_us.iter().map(|due| latency_us(*due)).collect(),
        answer: vec![VisitEnd::Right; due_us.len()],
        due_us,
        began_unix_us: Some(0),
    }
}

/// The first 40 ms of each half second.
fn stalls(at_us: u64) -> bool {
    at_us % 500_000 < 40_000
}

fn stalled(due_us: u64) -> u64 {
    if stalls(due_us) { 40_000 - due_us % 500_000 + 300 } else { 300 }
}

/// Looks at these threads every 5 ms: the letter that a function returns for a time is a state.
fn looks(threads: &[(&str, &dyn Fn(u64) -> char)]) -> ThreadStates {
    let at_us: Vec<_> = (0..1_200).map(|look| 5_000 * look).collect();
    let state = |letter| match letter {
        'r' => State::Running,
        'w' => State::Ready,
        't' => State::Stopped,
        'e' => State::Blocked("epoll_wait".into()),
        'd' => State::Blocked("fdatasync".into()),
        _ => State::Blocked("futex".into()),
    };
    let thread = |(name, letter): &(&str, &dyn Fn(u64) -> char)| Thread {
        name: (*name).to_owned(),
        states: at_us.iter().map(|at| state(letter(*at))).collect(),
    };
    ThreadStates {
        looks: at_us.len(),
        threads: threads.iter().map(thread).collect(),
        waits_us: vec![0; at_us.len()],
        unix_us: at_us,
        ..ThreadStates::default()
    }
}

fn cause(visits: &Visits, threads: &ThreadStates) -> Option<Cause> {
    of_run(visits, threads).unwrap().difference.map(|difference| difference.cause)
}

/// One state while the server stalls, and another one at other times.
fn then(stall: char, usual: char) -> impl Fn(u64) -> char {
    move |at| if stalls(at) { stall } else { usual }
}

fn named(thread: &str, call: &str) -> Cause {
    Cause::Blocked { thread: thread.to_owned(), call: call.to_owned() }
}

#[test]
fn the_cause_is_what_differs_while_slow_requests_wait() {
    let visits = visits(stalled);
    let job = then('s', 's');
    for (loops, other, name, wanted) in [
        (then('t', 'e'), then('t', 's'), "job", Cause::Stopped),
        (then('r', 'e'), then('s', 's'), "job", Cause::Runs { thread: "main thread".to_owned() }),
        (then('d', 'e'), then('s', 's'), "job", named("main thread", "fdatasync")),
        (
            then('s', 'e'),
            then('r', 's'),
            "GC Thread#0",
            Cause::Collects { thread: "GC Thread".to_owned() },
        ),
    ] {
        let seen = looks(&[("main thread", &loops), (name, &other), ("worker-1", &job)]);
        assert_eq!(cause(&visits, &seen), Some(wanted));
    }
    let seen = looks(&[("main thread", &then('d', 'e'))]);
    let tail = of_run(&visits, &seen).unwrap();
    assert_eq!((tail.times, tail.of, tail.company), (12, 6_000, Some(Company::Everyone)));
    let found = tail.difference.unwrap();
    // The last look of nine comes when the stall has ended, but not yet all waits.
    assert!((found.slow_share - 8.0 / 9.0).abs() < 1e-9 && found.other_share == 0.0, "{found:?}");
    assert!(found.low > 0.4 && found.high < 1.0, "{found:?}");
}

#[test]
fn a_wait_for_a_core_is_counted_when_it_ends() {
    let mut seen = looks(&[("main thread", &then('w', 'e'))]);
    for (look, at) in seen.unix_us.iter().enumerate() {
        seen.waits_us[look] = if at % 500_000 == 40_000 { 40_000 } else { 0 };
    }
    assert_eq!(cause(&visits(stalled), &seen), Some(Cause::NoCore));
}

#[test]
fn a_machine_that_stood_still_was_seen_by_nobody() {
    let mut seen = looks(&[("main thread", &then('e', 'e'))]);
    let kept: Vec<_> = (0..1_200).filter(|look| !stalls(5_000 * look + 4_999)).collect();
    seen.unix_us = kept.iter().map(|look| 5_000 * look).collect();
    seen.threads[0].states.truncate(kept.len());
    assert_eq!(cause(&visits(stalled), &seen), Some(Cause::Unseen));
    // Time that the host gave to others explains it.
    let mut stolen = 1.0;
    let gap = |nth: usize| nth > 0 && seen.unix_us[nth] - seen.unix_us[nth - 1] > 5_000;
    seen.stolen_s = (0..kept.len())
        .map(|nth| {
            stolen += if gap(nth) { 0.04 } else { 0.0 };
            stolen
        })
        .collect();
    assert_eq!(cause(&visits(stalled), &seen), Some(Cause::Stolen));
}

#[test]
fn nothing_differs_if_the_threads_do_the_same_or_only_by_chance() {
    let stalled = visits(stalled);
    assert_eq!(cause(&stalled, &looks(&[("main thread", &then('e', 'e'))])), None);
    // Twenty threads, each of which does as it likes.
    for seed in 0..20 {
        let random = std::cell::RefCell::new(SplitMix64(seed));
        let any = |_: u64| ['r', 'e', 's', 'd'][(4.0 * random.borrow_mut().uniform()) as usize];
        let names: Vec<_> =
            (b'a'..=b't').map(|letter| format!("thread-{}", letter as char)).collect();
        let threads: Vec<_> =
            names.iter().map(|name| (&**name, &any as &dyn Fn(u64) -> char)).collect();
        assert_eq!(cause(&stalled, &looks(&threads)), None, "{seed}");
    }
    // One of twelve stalls is not the cause of all.
    let once = |at: u64| if at < 40_000 { 'r' } else { 'e' };
    assert_eq!(cause(&stalled, &looks(&[("main thread", &once)])), None);
}

#[test]
fn the_longest_stalls_are_too_few_to_find_what_all_have() {
    // Three of twelve are twice as long. Threads also run at a third of other times.
    let is_long = |at: u64| at % 2_000_000 < 80_000;
    let few = |due| if is_long(due) { 80_300 - due % 2_000_000 } else { 300 };
    let all = |due| if is_long(due) { few(due) } else { stalled(due) };
    let runs_if =
        |stalls: bool, at: u64| if stalls || at.is_multiple_of(15_000) { 'r' } else { 'e' };
    let runs = |at| runs_if(is_long(at) || stalls(at), at);
    let tail = of_run(&visits(all), &looks(&[("main thread", &runs)])).unwrap();
    assert_eq!(tail.difference.unwrap().cause, Cause::Runs { thread: "main thread".to_owned() });
    assert_eq!((tail.slow, tail.times, tail.may_differ), (300, 12, false));
    // Without the others, nobody can say.
    let runs = |at| runs_if(is_long(at), at);
    let tail = of_run(&visits(few), &looks(&[("main thread", &runs)])).unwrap();
    assert_eq!((tail.times, tail.may_differ, tail.difference), (3, true, None));
}

#[test]
fn one_long_stall_does_not_hide_the_others() {
    let longer = |due| if due < 120_000 { 120_300 - due } else { stalled(due) };
    let tail = of_run(&visits(longer), &looks(&[("main thread", &then('d', 'e'))])).unwrap();
    assert!(tail.slow >= 120 && tail.times >= 3, "{tail:?}");
    assert_eq!(tail.difference.unwrap().cause, named("main thread", "fdatasync"));
}

#[test]
fn a_run_without_a_tail_or_with_too_few_requests_or_times_has_none() {
    let seen = looks(&[("main thread", &then('r', 'e'))]);
    assert_eq!(of_run(&visits(|_| 300), &seen), None);
    assert_eq!(of_run(&visits(|due| if stalls(due) { 4_000 } else { 300 }), &seen), None);
    assert_eq!(of_run(&visits(|due| if stalls(due) { 40_000 } else { 20_000 }), &seen), None);
    let twice = |due| if due < 600_000 { stalled(due) } else { 300 };
    assert_eq!(of_run(&visits(twice), &seen), None);
    let mut few = visits(stalled);
    few.due_us.truncate(199);
    assert_eq!(of_run(&few, &seen), None);
    assert_eq!(of_run(&Visits::default(), &seen), None);
}

#[test]
fn a_thread_that_each_slow_request_holds_is_found_even_if_one_always_waits() {
    // Of forty threads, one sleeps for each that waits.
    let mut random = SplitMix64(3);
    let slow: Vec<bool> = (0..6_000).map(|_| random.uniform() < 0.125).collect();
    let visits = visits(|due| if slow[(due / 1_000) as usize] { 60_000 } else { 300 });
    let waiting = |at: u64| {
        let since = (at / 1_000).saturating_sub(59);
        (since..=at / 1_000).filter(|ms| slow[*ms as usize]).count()
    };
    let names: Vec<_> = (0..40).map(|nth| format!("worker-{nth}")).collect();
    let letters: Vec<Box<dyn Fn(u64) -> char>> = (0..40)
        .map(|nth| {
            let letter = move |at| if nth < waiting(at) { 'd' } else { 'e' };
            Box::new(letter) as Box<dyn Fn(u64) -> char>
        })
        .collect();
    let threads: Vec<_> =
        names.iter().zip(&letters).map(|(name, letter)| (&**name, &**letter)).collect();
    let tail = of_run(&visits, &looks(&threads)).unwrap();
    assert_eq!((tail.company, &tail.difference), (Some(Company::Alone), &None));
    let held = tail.held.unwrap();
    assert_eq!(held.cause, named("worker", "fdatasync"));
    assert!(held.low < 1.01 && held.high > 0.99, "{held:?}");
}
