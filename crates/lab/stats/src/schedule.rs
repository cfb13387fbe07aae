//! The order of the runs, and which of them are pairs.

use std::iter;

use crate::SplitMix64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// The index of the server: 0 is the baseline.
    pub subject: usize,
    /// The pair: two consecutive runs, one of the baseline and one of a candidate. `None` for an extra
    /// run of the baseline that only the control uses.
    pub pair: Option<usize>,
    /// The round, from 1 on. All runs of one meet the same arrivals, whatever server they are of: a candidate that met
    /// fewer requests than another one would look better. 0 for the extra runs of the baseline.
    pub round: usize,
}

/// The order of all runs of a comparison that may go on forever, drawn at random from a seed. A round has one pair for
/// every candidate.
///
/// For two servers, that may be `AB BA BA AB BA AB ...`:
///
/// - Both runs of a pair are consecutive, so they share the machine's drift.
/// - Which of them is first is decided by a coin, for each pair anew. A regular order has a period,
///   and so have many neighbours: one that works for 5 of every 10 seconds would always meet the same
///   server. With a coin, a disturbance of whatever form is as likely to favour either side, which is
///   all that the signed-rank test assumes.
///
/// Every candidate has baseline runs of its own, so `c` candidates take `2 c` runs a round. Sharing
/// one baseline run would take `1 + c`, but the pairs would be up to `c` runs apart, and drift would
/// make them noisier than the control.
pub fn rounds(subjects: usize, seed: u64) -> impl Iterator<Item = Slot> {
    let mut random = SplitMix64(seed);
    let pairs = (1..).flat_map(move |round| (1..subjects).map(move |subject| (round, subject)));
    pairs.enumerate().flat_map(move |(pair, (round, candidate))| {
        let mut runs = [0, candidate];
        if random.uniform() < 0.5 {
            runs.reverse();
        }
        runs.map(|subject| Slot { subject, pair: Some(pair), round })
    })
}

/// The first so many [`rounds`] between two extra runs of the baseline: the control gets a pair more.
pub fn schedule(subjects: usize, count: usize, seed: u64) -> Vec<Slot> {
    let extra = Slot { subject: 0, pair: None, round: 0 };
    let pairs = rounds(subjects, seed).take(2 * count * (subjects - 1));
    iter::once(extra).chain(pairs).chain([extra]).collect()
}

/// The positions of the control's pairs: every two runs of the baseline that follow each other.
///
/// The first and the second run take turns as the candidate. So a machine that gets slower and slower
/// does not look like a difference.
pub fn control_pairs(slots: &[Slot]) -> Vec<(usize, usize)> {
    let baseline: Vec<_> = (0..slots.len()).filter(|&place| slots[place].subject == 0).collect();
    let pairs = baseline.chunks_exact(2).enumerate().map(|(index, pair)| match index % 2 {
        0 => (pair[0], pair[1]),
        _ => (pair[1], pair[0]),
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_two_consecutive_runs() {
        for (subjects, rounds) in [(2, 1), (2, 6), (3, 6), (4, 15)] {
            let slots = schedule(subjects, rounds, 1);
            assert_eq!(slots.len(), 2 * rounds * (subjects - 1) + 2);
            let [first, pairs @ .., last] = &slots[..] else { panic!() };
            assert_eq!([first, last], [&Slot { subject: 0, pair: None, round: 0 }; 2]);
            for (index, pair) in pairs.chunks(2).enumerate() {
                let mut runs = [pair[0].subject, pair[1].subject];
                runs.sort_unstable();
                assert_eq!(runs, [0, 1 + index % (subjects - 1)]);
                assert!(pair.iter().all(|slot| slot.pair == Some(index)));
                assert!(pair.iter().all(|slot| slot.round == 1 + index / (subjects - 1)));
            }
        }
    }

    #[test]
    fn a_coin_decides_which_run_of_a_pair_is_first() {
        let order = |seed| schedule(2, 6, seed).iter().map(|it| it.subject).collect::<Vec<_>>();
        assert_eq!(order(7), order(7), "a seed determines the order");
        // Each of the 64 orders of six pairs comes about as often as the others.
        let mut orders: Vec<_> = (0..6400).map(order).collect();
        orders.sort_unstable();
        let counts: Vec<_> = orders.chunk_by(|one, other| one == other).map(<[_]>::len).collect();
        assert!(
            counts.len() == 64 && counts.iter().all(|count| (60..140).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_control_takes_every_two_runs_of_the_baseline_that_follow_each_other() {
        let slots = [0, 1, 0, 0, 1, 0].map(|subject| Slot { subject, pair: None, round: 0 });
        assert_eq!(control_pairs(&slots), [(0, 2), (5, 3)], "they take turns");
        assert_eq!([6, 15].map(|pairs| control_pairs(&schedule(2, pairs, 1)).len()), [4, 8]);
    }
}
