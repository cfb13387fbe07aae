//! How `perf` finds the callers of a function: a short trial on the loaded server decides.

use std::{fmt, num::NonZero, thread, time::Duration};

use serde::Serialize;

/// How long each unwinder is tried.
pub const TRIAL: Duration = Duration::from_millis(500);
/// How many bytes a recording may write, before compression.
const LIMIT: f64 = 1e9;
/// The loss of whole stacks at which frame pointers still win: they need a sixtieth of the memory.
const TIE: f64 = 0.03;
/// Samples per second and thread. None divides the timers' 100 or 1,000: samples must not keep step
/// with them.
const RATES: [u32; 7] = [499, 199, 99, 49, 19, 7, 3];
/// The rate of a recording that stays small anyway.
pub const RATE: u32 = RATES[0];

/// How `perf` finds the callers of a function.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unwinder {
    /// Follows the pointers from frame to frame, which all code of the process has to maintain.
    FramePointers,
    /// Copies each stack, and unwinds the copies later by the unwind tables of the binaries.
    Dwarf,
}

impl Unwinder {
    /// The value of `perf record --call-graph`.
    pub fn call_graph(self) -> &'static str {
        match self {
            Self::FramePointers => "fp",
            // The most that `perf` copies of a stack: its default of 8 KiB cuts nearly all stacks of
            // an async server.
            Self::Dwarf => "dwarf,65528",
        }
    }

    /// The highest rate at which the file of so many busy cores stays small.
    pub fn rate(self, cores: f64, length: Duration) -> u32 {
        let sample_bytes = match self {
            // The 127 addresses that the kernel keeps at most.
            Self::FramePointers => 1100.0,
            Self::Dwarf => 66_000.0,
        };
        let most = LIMIT / (cores * length.as_secs_f64() * sample_bytes);
        let fits = RATES.into_iter().find(|rate| f64::from(*rate) <= most);
        fits.unwrap_or(RATES[RATES.len() - 1])
    }
}

/// What a trial of both unwinders found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The one to record with.
    pub unwinder: Unwinder,
    /// The share of whole stacks with each, from 0 to 1. Absent if the server was idle.
    pub frame_pointers: Option<f64>,
    pub dwarf: Option<f64>,
    /// How many cores the server may use in its recording.
    pub cores: f64,
}

impl Trial {
    /// Chooses the unwinder with more whole stacks, unless it is `chosen` already for another server
    /// of the same comparison. Without evidence this is DWARF, which needs no special build.
    pub fn new(whole: [Option<f64>; 2], cores: f64, chosen: Option<Unwinder>) -> Self {
        let [frame_pointers, dwarf] = whole;
        let is_as_good = frame_pointers.is_some_and(|it| it + TIE >= dwarf.unwrap_or_default());
        let better = if is_as_good { Unwinder::FramePointers } else { Unwinder::Dwarf };
        let unwinder = chosen.unwrap_or(better);
        Self { unwinder, frame_pointers, dwarf, cores }
    }
}

/// `frame pointers (98 % of stacks whole, DWARF 3 %)`.
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides = [("frame pointers", self.frame_pointers), ("DWARF", self.dwarf)];
        let [(used, share), (other, other_share)] = match self.unwinder {
            Unwinder::FramePointers => sides,
            Unwinder::Dwarf => [sides[1], sides[0]],
        };
        let (Some(share), Some(other_share)) = (share, other_share) else {
            return write!(f, "{used} (too few samples to compare with {other})");
        };
        let (share, other_share) = (100.0 * share, 100.0 * other_share);
        write!(f, "{used} ({share:.0} % of stacks whole, {other} {other_share:.0} %)")
    }
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
    fn the_unwinder_with_more_whole_stacks_wins_and_frame_pointers_win_a_tie() {
        use Unwinder::{Dwarf, FramePointers};
        for (whole, unwinder, words) in [
            ([0.98, 0.03], FramePointers, "frame pointers (98 % of stacks whole, DWARF 3 %)"),
            ([0.98, 1.0], FramePointers, "frame pointers (98 % of stacks whole, DWARF 100 %)"),
            ([0.61, 0.99], Dwarf, "DWARF (99 % of stacks whole, frame pointers 61 %)"),
        ] {
            let trial = Trial::new(whole.map(Some), 1.0, None);
            assert_eq!((trial.unwinder, &*trial.to_string()), (unwinder, words));
        }
        let second = Trial::new([Some(0.9), Some(0.1)], 1.0, Some(Dwarf));
        assert_eq!(second.unwinder, Dwarf, "both servers of a comparison have the same");
        let idle = Trial::new([None, None], 0.1, None);
        assert_eq!(idle.to_string(), "DWARF (too few samples to compare with frame pointers)");
    }

    #[test]
    fn more_cores_and_a_longer_recording_lower_the_rate() {
        let rate =
            |unwinder: Unwinder, cores, seconds| unwinder.rate(cores, Duration::from_secs(seconds));
        assert_eq!(rate(Unwinder::Dwarf, 2.0, 5), RATE);
        assert_eq!(rate(Unwinder::Dwarf, 8.0, 5), 199);
        assert_eq!(rate(Unwinder::Dwarf, 32.0, 60), 7);
        assert_eq!(rate(Unwinder::Dwarf, 1e9, 60), 3);
        assert_eq!(rate(Unwinder::FramePointers, 30.0, 60), RATE);
    }
}
