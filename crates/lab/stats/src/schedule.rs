//! In which order the runs are made, and which of them are pairs.

/// One run to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Which server: 0 is the baseline.
    pub subject: usize,
    /// The round whose pairs it belongs to; none for a run that is there for the control alone.
    pub round: Option<usize>,
}

/// The order of all runs of a comparison: rounds of every server once, in turn forwards and
/// backwards, between two more runs of the baseline.
///
/// For two servers that is `A AB BA AB BA A`. Neither server profits from always being first. And
/// wherever a round ends with the baseline and the next begins with it, two runs of the same server
/// are neighbours in time: the control, which shows what this machine makes of no difference at
/// all, costs two runs and not half as many again.
pub fn schedule(subjects: usize, rounds: usize) -> Vec<Slot> {
    let control = Slot { subject: 0, round: None };
    let mut slots = vec![control];
    for round in 0..rounds {
        let slot = |subject| Slot { subject, round: Some(round) };
        match round % 2 {
            0 => slots.extend((0..subjects).map(slot)),
            _ => slots.extend((0..subjects).rev().map(slot)),
        }
    }
    if slots.last().is_some_and(|last| last.subject == 0) {
        slots.push(control);
    }
    slots
}

/// The positions of the control's pairs: runs of the baseline that follow each other.
///
/// As in the pairs that are compared, in turn the first and the second one plays the candidate, so
/// that a machine that only gets slower does not look like a difference.
pub fn control_pairs(slots: &[Slot]) -> Vec<(usize, usize)> {
    let neighbours = (1..slots.len()).map(|second| (second - 1, second));
    let of_baseline = neighbours
        .filter(|&(first, second)| slots[first].subject == 0 && slots[second].subject == 0);
    let flipped = of_baseline.enumerate().map(|(index, (first, second))| match index % 2 {
        0 => (first, second),
        _ => (second, first),
    });
    flipped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(slots: &[Slot]) -> String {
        slots.iter().map(|slot| char::from(b'A' + slot.subject as u8)).collect()
    }

    #[test]
    fn rounds_alternate_and_the_baseline_meets_itself() {
        assert_eq!(letters(&schedule(2, 4)), "AABBAABBAA");
        assert_eq!(letters(&schedule(3, 2)), "AABCCBAA");
        assert_eq!(letters(&schedule(2, 1)), "AAB");
    }

    #[test]
    fn ten_pairs_bring_six_of_the_control() {
        let slots = schedule(2, 10);
        assert_eq!(slots.len(), 22);
        assert_eq!(control_pairs(&slots).len(), 6);
        assert_eq!(control_pairs(&schedule(2, 15)).len(), 8);
    }

    #[test]
    fn the_control_takes_turns_too() {
        assert_eq!(control_pairs(&schedule(2, 2)), [(0, 1), (5, 4)]);
    }
}
