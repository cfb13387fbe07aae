//! How `perf` finds callers in a process, and how often it samples.

use lab_protocol::NoteKind;
use std::{num::NonZero, path::PathBuf, thread, time::Duration};

use lab_observation::{LANGUAGES, Language, Unwinder};
use lab_system::process;

/// How many bytes a recording may write.
const LIMIT: f64 = 1e9;
/// Samples per second and thread. None divides the timers' 100 or 1,000: samples must not keep step
/// with them.
const RATES: [u32; 7] = [499, 199, 99, 49, 19, 7, 3];

/// The languages of a process and its descendants, each with the process.
pub fn languages(pid: u32) -> impl Iterator<Item = (u32, &'static Language)> {
    let language = |pid| {
        let program = PathBuf::from(format!("/proc/{pid}/exe"));
        Some((pid, LANGUAGES.of_program(&program)?))
    };
    process::pids(pid).into_iter().filter_map(language)
}

/// The one with which most stacks are whole. Unwind tables need no special build.
pub fn unwinder(pid: u32) -> Unwinder {
    if languages(pid).any(|(_, language)| language.frame_pointers) {
        Unwinder::FramePointers
    } else {
        Unwinder::Dwarf
    }
}

/// The value of `perf record --call-graph`.
pub fn call_graph(unwinder: Unwinder) -> &'static str {
    match unwinder {
        Unwinder::FramePointers => "fp",
        // The most that `perf` copies of a stack: its default of 8 KiB cuts nearly all stacks of
        // an async server.
        Unwinder::Dwarf => "dwarf,65528",
    }
}

/// The highest rate at which the file of a server that uses so many cores, or all of them, stays small.
pub fn rate(unwinder: Unwinder, cores: Option<f64>, length: Duration) -> u32 {
    let sample_bytes = match unwinder {
        // The 127 addresses that the kernel keeps at most.
        Unwinder::FramePointers => 1100.0,
        Unwinder::Dwarf => 66_000.0,
    };
    let all = thread::available_parallelism().map_or(1, NonZero::get) as f64;
    let most = LIMIT / (cores.unwrap_or(all) * length.as_secs_f64() * sample_bytes);
    let fits = RATES.into_iter().find(|rate| f64::from(*rate) <= most);
    fits.unwrap_or(RATES[RATES.len() - 1])
}

/// A rate that was lowered.
pub fn lowered(rate: u32) -> Option<NoteKind> {
    let [usual, ..] = RATES;
    (rate < usual).then_some(NoteKind::RateLowered { rate, usual, gigabytes: LIMIT / 1e9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cores_and_a_longer_recording_lower_the_rate() {
        let rate =
            |unwinder, cores, seconds| rate(unwinder, Some(cores), Duration::from_secs(seconds));
        assert_eq!(rate(Unwinder::Dwarf, 2.0, 5), 499);
        assert_eq!(rate(Unwinder::Dwarf, 8.0, 5), 199);
        assert_eq!(rate(Unwinder::Dwarf, 32.0, 60), 7);
        assert_eq!(rate(Unwinder::Dwarf, 1e9, 60), 3);
        assert_eq!(rate(Unwinder::FramePointers, 30.0, 60), 499);
    }
}
