//! What `perf` is told of an unwinder, and how often it samples.

use std::{num::NonZero, thread, time::Duration};

use lab_observation::Unwinder;

/// How long each unwinder is tried.
pub const TRIAL: Duration = Duration::from_millis(500);
/// How many bytes a recording may write, before compression.
const LIMIT: f64 = 1e9;
/// Samples per second and thread. None divides the timers' 100 or 1,000: samples must not keep step
/// with them.
const RATES: [u32; 7] = [499, 199, 99, 49, 19, 7, 3];
/// The rate of a recording that stays small anyway.
pub const RATE: u32 = RATES[0];

/// The value of `perf record --call-graph`.
pub fn call_graph(unwinder: Unwinder) -> &'static str {
    match unwinder {
        Unwinder::FramePointers => "fp",
        // The most that `perf` copies of a stack: its default of 8 KiB cuts nearly all stacks of
        // an async server.
        Unwinder::Dwarf => "dwarf,65528",
    }
}

/// The highest rate at which the file of so many busy cores stays small.
pub fn rate(unwinder: Unwinder, cores: f64, length: Duration) -> u32 {
    let sample_bytes = match unwinder {
        // The 127 addresses that the kernel keeps at most.
        Unwinder::FramePointers => 1100.0,
        Unwinder::Dwarf => 66_000.0,
    };
    let most = LIMIT / (cores * length.as_secs_f64() * sample_bytes);
    let fits = RATES.into_iter().find(|rate| f64::from(*rate) <= most);
    fits.unwrap_or(RATES[RATES.len() - 1])
}

/// What a reader has to know of a rate that was lowered.
pub fn lowered(rate: u32) -> Option<String> {
    (rate < RATE).then(|| {
        format!(
            "sampled {rate} times a second instead of {RATE}, which keeps the recording below \
             {:.0} GB; fix for more detail: record for fewer seconds",
            LIMIT / 1e9
        )
    })
}

/// How many cores this machine has: without a trial, a server may use them all.
pub fn all_cores() -> f64 {
    thread::available_parallelism().map_or(1, NonZero::get) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cores_and_a_longer_recording_lower_the_rate() {
        let rate = |unwinder, cores, seconds| rate(unwinder, cores, Duration::from_secs(seconds));
        assert_eq!(rate(Unwinder::Dwarf, 2.0, 5), RATE);
        assert_eq!(rate(Unwinder::Dwarf, 8.0, 5), 199);
        assert_eq!(rate(Unwinder::Dwarf, 32.0, 60), 7);
        assert_eq!(rate(Unwinder::Dwarf, 1e9, 60), 3);
        assert_eq!(rate(Unwinder::FramePointers, 30.0, 60), RATE);
    }
}
