//! Error rates of a verdict on a latency while the generator itself is late: simulated sessions in which
//! both servers are truly alike, or the candidate hardly stalls.
//! `cargo test --release -p lab-measure lag_simulation -- --nocapture` prints all rates.

#![expect(clippy::disallowed_macros, reason = "only a test prints these tables")]

use std::time::Duration;

use lab_protocol::{Latency, Metric, Outcome, Punctuality};
use lab_report::Run;
use lab_stats::{Look, SplitMix64, Verdict, judge, schedule};

use super::{control, is_late, outcomes_of, over};

/// Sessions per rate; they measure a rate of 2.5 % to within ±2.5 %.
const SESSIONS: usize = 150;
fn only(pairs: usize) -> Look {
    Look::only(pairs, 1)
}

const PAIRS: usize = 6;
const REQUESTS: usize = 1100;
/// The share of requests that meet a stall of the server, and how long it can be, in milliseconds.
const STALLED: f64 = 0.03;
const STALL: f64 = 25.0;

/// How late the generator is: for this share of its requests, up to so many milliseconds.
#[derive(Clone, Copy, Debug)]
struct Lag {
    share: f64,
    longest: f64,
    /// Whether the same work stalls the server and the generator.
    with_stalls: bool,
}

const PUNCTUAL: Lag = Lag { share: 0.01, longest: 0.2, with_stalls: false };
const LATE: Lag = Lag { share: 0.04, longest: 4.0, with_stalls: false };
const VERY_LATE: Lag = Lag { longest: 12.0, ..LATE };
const WITH_STALLS: Lag = Lag { with_stalls: true, ..VERY_LATE };

impl Lag {
    /// The generator's delay at one end of a request.
    fn draw(self, random: &mut SplitMix64, is_stalled: bool) -> f64 {
        let share = match self.with_stalls {
            // As often in all, but only where the server stalls.
            true if is_stalled => (self.share / STALLED).min(1.0),
            true => 0.0,
            false => self.share,
        };
        if random.uniform() < share { self.longest * random.uniform() } else { 0.02 }
    }
}

/// Simulates a run against a server whose stalls last up to `stall` ms.
fn run(random: &mut SplitMix64, lag: Lag, stall: f64) -> Outcome {
    // Lag comes in phases: some runs have twice as much as others.
    let lag = Lag { share: lag.share * (0.67 + 0.67 * random.uniform()), ..lag };
    let [mut due, mut served, mut lags] = [(); 3].map(|()| Latency::default());
    for _ in 0..REQUESTS {
        let is_stalled = random.uniform() < STALLED;
        let work =
            0.1 * random.exponential() + if is_stalled { stall * random.uniform() } else { 0.0 };
        let [before, after] = [(); 2].map(|()| lag.draw(random, is_stalled));
        let record = |into: &mut Latency, ms: f64| into.record(Duration::from_secs_f64(ms / 1e3));
        record(&mut due, before + work + after);
        record(&mut served, work + after);
        record(&mut lags, before);
    }
    let punctuality = Punctuality {
        lag_p99_ms: lags.quantile_ms(99.0).unwrap(),
        queued: 0,
        at_least_ms: served.without_lag(&lags),
    };
    let invalid = punctuality.fault(&due);
    let punctuality = Some(punctuality);
    Outcome { latency: due, invalid, punctuality, ok_in_time: 1, ..Outcome::default() }
}

/// The verdict on the p99 by the shipped rule, and by the latencies as they are, lag included.
fn verdicts(random: &mut SplitMix64, lags: [Lag; 2], stalls: [f64; 2]) -> [Verdict; 2] {
    let slots = schedule(2, PAIRS, (1e15 * random.uniform()) as u64);
    let names = ["slow", "fixed"];
    let runs: Vec<_> = slots
        .iter()
        .map(|slot| Run {
            variant: names[slot.subject].to_owned(),
            pair: slot.pair,
            seed: None,
            load_average: None,
            server: None,
            neighbours: None,
            outcome: run(random, lags[slot.subject], stalls[slot.subject]),
        })
        .collect();
    let p99 = Metric::all().find(|metric| <&str>::from(*metric) == "latency-p99").unwrap();
    let noise = control("slow", &runs);
    let found = over("slow", "fixed", &runs, only);
    let shipped = judge(found.of(p99), noise.of(p99), 0.1).verdict;
    let shipped = match shipped {
        Verdict::Faster | Verdict::Slower => shipped,
        _ if found.is_bound(p99) => Verdict::Undecided,
        other => other,
    };
    let mut naive = runs.clone();
    naive.iter_mut().for_each(|run| run.outcome.invalid = None);
    assert!(!is_late(&outcomes_of("slow", &naive)));
    let naive = judge(over("slow", "fixed", &naive, only).of(p99), noise.of(p99), 0.1).verdict;
    [shipped, naive]
}

/// In % of sessions: faster and slower by the shipped rule, then both by the naive one.
fn rates(name: &str, lags: [Lag; 2], stalls: [f64; 2]) -> [f64; 4] {
    let mut random = SplitMix64(0x5eed);
    let mut counts = [0; 4];
    for _ in 0..SESSIONS {
        let [shipped, naive] = verdicts(&mut random, lags, stalls);
        let all = [(shipped, Verdict::Faster), (shipped, Verdict::Slower)];
        let all = all.into_iter().chain([(naive, Verdict::Faster), (naive, Verdict::Slower)]);
        counts
            .iter_mut()
            .zip(all)
            .for_each(|(count, (verdict, of))| *count += u32::from(verdict == of));
    }
    let rates = counts.map(|count| 100.0 * f64::from(count) / SESSIONS as f64);
    println!("{name:44}{}", rates.map(|rate| format!("{rate:>9.1}")).concat());
    rates
}

#[test]
fn lag_never_makes_a_server_look_better_or_worse() {
    println!("{:44}   faster   slower  (as they are: faster, slower)", "% of sessions");
    let cases = [
        ("punctual", [PUNCTUAL, PUNCTUAL]),
        ("late for the candidate", [PUNCTUAL, LATE]),
        ("late for the baseline", [LATE, PUNCTUAL]),
        ("very late for both", [VERY_LATE, VERY_LATE]),
        ("very late where the baseline stalls", [WITH_STALLS, PUNCTUAL]),
        ("very late where either stalls", [WITH_STALLS, WITH_STALLS]),
    ];
    // The alarms of the naive rule.
    let of_case = |(name, lags): (&str, [Lag; 2])| {
        let mut naive_alarms = 0.0;
        // Both stall for long, and both so little that nearly all of their p99 is lag.
        for (alike, stall) in [("alike", STALL), ("alike and quick", 0.5)] {
            let [up, down, wrongs @ ..] = rates(&format!("{name}; {alike}"), lags, [stall, stall]);
            assert!(up + down <= 2.5, "{name}");
            naive_alarms += wrongs.iter().sum::<f64>();
        }
        // A generator that is very late for the candidate hides what it gained.
        if lags[1].longest <= LATE.longest {
            let stalls = [STALL, STALL / 100.0];
            let [up, down, ..] = rates(&format!("{name}; a hundredth"), lags, stalls);
            assert!(up >= 85.0 && down == 0.0, "{name}");
        }
        naive_alarms
    };
    let naive_alarms: f64 = std::thread::scope(|scope| {
        let threads = cases.map(|case| scope.spawn(move || of_case(case)));
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert!(naive_alarms >= 200.0, "without the rule, these lags are false verdicts");
}
