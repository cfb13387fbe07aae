//! How much identical work seems to vary on this machine, right now.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use lab_stats::{Speedup, median_of};

use super::Finding;

/// Pairs of the A/A comparison: with 12, a single stall does not reach the interval's ends.
const PAIRS: usize = 12;
/// About how long each half of a pair works.
const WORK: Duration = Duration::from_millis(100);

/// Measures the CPU alone for about three seconds: the same arithmetic in pairs on this thread. A server
/// under load is noisier, because of sockets and the scheduler.
pub fn noise_floor() -> Option<Finding> {
    let rounds = rounds_for(WORK);
    let pairs: Vec<_> = (0..PAIRS).map(|_| (timed(rounds), timed(rounds))).collect();
    let ratios = pairs.iter().enumerate().map(|(pair, (first, second))| {
        // Alternating, as `lab bench` orders its runs.
        if pair % 2 == 0 { first / second } else { second / first }
    });
    // How far the interval reaches from 1: 0.018 for ±1.8 %.
    let share = Speedup::of_pairs(ratios)?.reach() - 1.0;
    // The actual time, not the intended one: a busy machine stretches it.
    let took = median_of(pairs.iter().flat_map(|(first, second)| [*first, *second]))?;
    let found = format!("±{:.1} %  (A/A, {PAIRS} pairs of {:.0} ms)", 100.0 * share, 1e3 * took);
    let topic = "noise floor";
    let rerun = "just doctor  # again, when the machine is idle";
    Some(match share {
        ..=0.03 => Finding::ok(topic, found),
        ..=0.10 => {
            Finding::note(topic, format!("{found}: smaller differences do not show")).fix(rerun)
        }
        _ => Finding::warn(topic, format!("{found}: a noisy machine")).fix(rerun),
    })
}

/// How many rounds of work take this long, extrapolated from fewer.
///
/// The fastest of several tries counts: an interrupted one would look like slow work, and the pairs
/// would become far too short.
fn rounds_for(time: Duration) -> u64 {
    let mut rounds = 1 << 16;
    loop {
        let tries = (0..5).map(|_| timed(rounds));
        let fastest = tries.fold(f64::INFINITY, f64::min);
        if fastest * 8.0 > time.as_secs_f64() {
            return (rounds as f64 * time.as_secs_f64() / fastest).ceil() as u64;
        }
        rounds *= 2;
    }
}

/// The seconds that this many rounds take.
fn timed(rounds: u64) -> f64 {
    let start = Instant::now();
    work(rounds);
    start.elapsed().as_secs_f64()
}

/// Arithmetic in which each step depends on the previous one.
fn work(rounds: u64) -> u64 {
    (0..rounds)
        .fold(1, |state, round| black_box((state ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
