//! The order of the runs, and which of them are pairs.

/// One planned run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The index of the server: 0 is the baseline.
    pub subject: usize,
    /// The pair: two consecutive runs, one of the baseline and one of a candidate. `None` for an extra
    /// run of the baseline that only the control uses.
    pub pair: Option<usize>,
}

/// The order of all runs of a comparison. A round has one pair for every candidate. One extra run of
/// the baseline comes first, and one comes last where the last pair ends with the baseline.
///
/// For two servers and four rounds that is `A AB BA AB BA A`, for three and two rounds
/// `A AB CA AC BA A`, and for four and two rounds `A AB CA AD DA AC BA A`:
///
/// - Both runs of a pair are consecutive, so they share the machine's drift as the control's do.
/// - Every second round runs backwards, so every candidate is first as often as second.
/// - Where one pair ends with the baseline and the next begins with it, two of its runs are
///   consecutive. These pairs are the control: it shows the machine's noise for two extra runs.
///
/// Every candidate has baseline runs of its own, so `c` candidates take `2 c` runs a round. Sharing
/// one baseline run would take `1 + c`, but the pairs would be up to `c` runs apart, and drift would
/// make them noisier than the control.
pub fn schedule(subjects: usize, rounds: usize) -> Vec<Slot> {
    let round = (1..subjects).flat_map(|candidate| match candidate % 2 {
        1 => [0, candidate],
        _ => [candidate, 0],
    });
    let forwards: Vec<_> = round.collect();
    let backwards: Vec<_> = forwards.iter().rev().copied().collect();
    let order = (0..rounds).flat_map(|round| [&forwards, &backwards][round % 2]);

    let control = Slot { subject: 0, pair: None };
    let mut slots = vec![control];
    slots.extend(
        order.enumerate().map(|(run, subject)| Slot { subject: *subject, pair: Some(run / 2) }),
    );
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
        assert_eq!(letters(&schedule(3, 3)), "AABCAACBAABCAA");
        assert_eq!(letters(&schedule(4, 2)), "AABCAADDAACBAA");
        assert_eq!(letters(&schedule(2, 1)), "AAB");
        assert_eq!(control_pairs(&schedule(2, 2)), [(0, 1), (5, 4)], "they take turns");
        assert_eq!([6, 15].map(|pairs| control_pairs(&schedule(2, pairs)).len()), [4, 8]);
    }

    #[test]
    fn every_pair_and_every_pair_of_the_control_is_consecutive() {
        for (subjects, rounds) in [(2, 6), (3, 6), (4, 6), (4, 15), (5, 10)] {
            let slots = schedule(subjects, rounds);
            for candidate in 1..subjects {
                let of_candidate =
                    slots.iter().enumerate().filter(|(_, slot)| slot.subject == candidate);
                let places: Vec<_> = of_candidate.map(|(place, slot)| (place, slot.pair)).collect();
                assert_eq!(places.len(), rounds);
                // In each of its pairs: is the baseline the run before?
                let second = places.iter().filter(|&&(place, pair)| {
                    let baseline = Slot { subject: 0, pair };
                    let [before, after] =
                        [place - 1, place + 1].map(|it| slots.get(it) == Some(&baseline));
                    assert!(before != after, "{}", letters(&slots));
                    before
                });
                assert!(second.count().abs_diff(rounds / 2) <= 1, "first as often as second");
            }
            let pairs = slots.iter().filter_map(|slot| slot.pair);
            assert_eq!(pairs.max(), Some(rounds * (subjects - 1) - 1));

            let control = control_pairs(&slots);
            assert!(control.len() > rounds / 2, "{}", letters(&slots));
            for (one, other) in control {
                assert_eq!((slots[one].subject, slots[other].subject), (0, 0));
                assert_eq!(one.abs_diff(other), 1);
            }
        }
    }
}
