//! The order of the runs, and which of them are pairs.

/// One planned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The index of the server: 0 is the baseline.
    pub subject: usize,
    /// The round; `None` for an extra run of the baseline that only the control uses.
    pub round: Option<usize>,
}

/// The order of all runs of a comparison. A round runs every server once, alternately forwards and
/// backwards. One extra run of the baseline comes first and one comes last.
///
/// For two servers and four rounds that is `A AB BA AB BA A`. No server is always the first. Where one
/// round ends with the baseline and the next begins with it, two runs of the same server are
/// consecutive. These pairs are the control: it shows the machine's noise for two extra runs.
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

/// The positions of the control's pairs: consecutive runs of the baseline.
///
/// The first and the second run take turns as the candidate, as in the compared pairs. So a machine
/// that gets slower and slower does not look like a difference.
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
    fn rounds_alternate_and_the_baseline_follows_itself() {
        assert_eq!(letters(&schedule(2, 4)), "AABBAABBAA");
        assert_eq!(letters(&schedule(3, 2)), "AABCCBAA");
        assert_eq!(letters(&schedule(2, 1)), "AAB");
    }

    #[test]
    fn six_pairs_come_with_four_of_the_control() {
        let slots = schedule(2, 6);
        assert_eq!(slots.len(), 14);
        assert_eq!(control_pairs(&slots).len(), 4);
        assert_eq!(control_pairs(&schedule(2, 15)).len(), 8);
    }

    #[test]
    fn the_runs_of_the_control_take_turns() {
        assert_eq!(control_pairs(&schedule(2, 2)), [(0, 1), (5, 4)]);
    }
}
