//! How far two equal things seem to be apart on this machine, right now.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{Finding, Group};
use lab_stats::{Speedup, median_of};

/// Pairs of the CPU's A/A: 12, because from there on one stall does not reach the interval's ends.
const PAIRS: usize = 12;
/// About how long each half of a pair works.
const WORK: Duration = Duration::from_millis(100);

/// The result of an A/A comparison: something measured against itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// What was measured, as the topic of a line: `CPU`.
    pub topic: String,
    /// How, in words: `A/A, 12 pairs of 104 ms`.
    pub method: String,
    /// By how much it seemed to be faster than itself. Its truth is 1.
    pub speedup: Speedup,
}

impl NoiseFloor {
    /// The farthest that the interval reaches from no difference: 0.018 for ±1.8 %.
    pub fn share(&self) -> f64 {
        self.speedup.reach() - 1.0
    }

    /// As a line of the doctor's, also if nothing could be measured.
    pub fn finding(measured: Option<&Self>) -> Finding {
        match measured {
            Some(measured) => measured.measured(),
            None => Finding::note(Group::Noise, "unknown", "it could not be measured"),
        }
    }

    fn measured(&self) -> Finding {
        let found = format!("±{:.1} %  ({})", 100.0 * self.share(), self.method);
        let rerun = "just doctor  # again, when the machine is idle";
        match self.share() {
            share if share <= 0.03 => Finding::ok(Group::Noise, &self.topic, found),
            share if share <= 0.10 => Finding::note(
                Group::Noise,
                &self.topic,
                format!("{found}: smaller differences do not show"),
            )
            .mend(rerun),
            _ => Finding::warn(Group::Noise, &self.topic, format!("{found}: a noisy machine"))
                .mend(rerun),
        }
    }
}

/// Of the CPU alone: the same arithmetic in pairs on this thread, for about three seconds. A server
/// under load, with sockets and a scheduler in between, is noisier than that.
pub fn cpu() -> anyhow::Result<Option<NoiseFloor>> {
    let rounds = rounds_for(WORK);
    let pairs: Vec<_> = (0..PAIRS).map(|_| (timed(rounds), timed(rounds))).collect();
    let ratios = pairs.iter().enumerate().map(|(pair, (first, second))| {
        // In turn first and second, as `lab bench` orders its runs.
        if pair % 2 == 0 { first / second } else { second / first }
    });
    // As long as it took, not as long as it was meant to: a busy machine stretches it.
    let took = median_of(pairs.iter().flat_map(|(first, second)| [*first, *second]));
    let method = format!("A/A, {PAIRS} pairs of {:.0} ms", 1e3 * took.unwrap_or_default());
    Ok(Speedup::of_pairs(ratios).map(|speedup| NoiseFloor {
        topic: "CPU".to_owned(),
        method,
        speedup,
    }))
}

/// How many rounds of work take so long: measured with few, and scaled.
///
/// The fastest of some tries counts. A single one that was interrupted would pass for slow work,
/// and the pairs would come out many times too short.
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

/// The seconds that so many rounds take.
fn timed(rounds: u64) -> f64 {
    let start = Instant::now();
    work(rounds);
    start.elapsed().as_secs_f64()
}

/// Arithmetic in which each step waits for the one before.
fn work(rounds: u64) -> u64 {
    (0..rounds)
        .fold(1, |state, round| black_box((state ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
