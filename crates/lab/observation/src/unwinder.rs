//! How `perf` finds the callers of a function: a short trial on the loaded server decides.

use std::fmt;

use serde::Serialize;

/// The loss of whole stacks at which frame pointers still win: they need a sixtieth of the memory.
const TIE: f64 = 0.03;

/// How `perf` finds the callers of a function.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unwinder {
    /// Follows the pointers from frame to frame, which all code of the process has to maintain.
    FramePointers,
    /// Copies each stack, and unwinds the copies later by the unwind tables of the binaries.
    Dwarf,
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
}
