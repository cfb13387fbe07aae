//! The decisions of a search for the change that made a difference, and which state comes next.

use std::collections::BTreeMap;

use crate::{
    Speedup,
    evidence::{Bet, Evidence},
    median_of,
};

/// The chance that a search goes wrong, if each state is equal to one of its ends.
pub const ERROR: f64 = 0.05;
/// The chance that two equal ends are called different.
const ERROR_OF_ENDS: f64 = 0.01;
/// The most rounds for a state, and pairs for the ends.
const MOST_ROUNDS: usize = 96;
/// The fewest pairs of the ends: so few say how large their difference and its noise are.
const FEWEST_PAIRS: usize = 8;

/// Which end of the history a state is like.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Like {
    First,
    Last,
    /// It can't be built, or its runs don't show which.
    Unknown,
}

/// The first state of a history against the last one, measured in pairs until they differ.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    pairs: Vec<f64>,
    faster: Evidence,
    slower: Evidence,
}

impl Difference {
    /// Adds a pair: the logarithm of what the last state achieved, divided by what the first one did.
    pub fn add(&mut self, ln_ratio: f64) {
        // The distance of the earlier pairs is what is expected of this one. The first pair has none. A share that is
        // learned from so few finds fewer small effects.
        let distances = self.pairs.iter().map(|pair| pair.abs());
        if let Some(effect) = median_of(distances).filter(|distance| *distance > 0.0) {
            self.faster.add(ln_ratio, Bet { effect, share: 0.5 });
            self.slower.add(ln_ratio, Bet { effect: -effect, share: 0.5 });
        }
        self.pairs.push(ln_ratio);
    }

    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    pub fn needs_more(&self) -> bool {
        let is_enough = self.pairs.len() >= FEWEST_PAIRS && self.effect().is_some();
        !is_enough && self.pairs.len() < MOST_ROUNDS
    }

    /// The logarithm of their factor; `None` if they don't differ, as far as these pairs show.
    pub fn effect(&self) -> Option<f64> {
        let alpha = ERROR_OF_ENDS / 2.0;
        if !self.faster.suffices(alpha) && !self.slower.suffices(alpha) {
            return None;
        }
        Some(Speedup::of_pairs(self.pairs.iter().map(|pair| pair.exp()))?.estimate.ln())
    }
}

/// A state of the history between its first and its last one, measured in rounds: a run of each.
///
/// Two hypotheses are tested at once: that the state is equal to the first one, and that it is equal to the last one.
/// If one hypothesis is rejected and the state has been closer to the other end so far, it counts as equal to that end.
/// So the error is bounded if the state is equal to one of them, and nobody needs to know how large the noise is. A state
/// between them, where several changes made the difference, counts as equal to the nearer end.
#[derive(Clone, Debug)]
pub struct StateTest {
    bet: Bet,
    alpha: f64,
    rounds: usize,
    unlike_first: Evidence,
    unlike_last: Evidence,
    /// Above 0 if the state is nearer to the last one.
    leaning: f64,
}

impl StateTest {
    /// `bet` is that on the last state against the first one. The chance that any state of a search among so many
    /// changes is called like one end although it is equal to the other one is at most [`ERROR`].
    pub fn new(bet: Bet, changes: usize) -> Self {
        let alpha = ERROR / Bisection::most_steps(changes) as f64;
        let none = Evidence::default();
        Self { bet, alpha, rounds: 0, unlike_first: none, unlike_last: none, leaning: 0.0 }
    }

    /// Adds a round: the logarithms of what the first state, this one and the last one achieved.
    pub fn add(&mut self, [first, state, last]: [f64; 3]) {
        self.rounds += 1;
        self.unlike_first.add(state - first, self.bet);
        self.unlike_last.add(last - state, self.bet);
        self.leaning += self.bet.toward(state - first) - self.bet.toward(last - state);
    }

    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether another round is needed, and may be measured.
    pub fn needs_more(&self) -> bool {
        self.decided().is_none() && self.rounds < MOST_ROUNDS
    }

    /// About how many rounds a state takes whose runs are as noisy as those of the bet.
    pub fn usual_rounds(&self) -> usize {
        // What a bet wins in a pair, if it is the best one for it.
        let won = self.bet.share.ln_1p().min(0.7) * self.bet.share;
        ((-self.alpha.ln() / won).ceil() as usize).min(MOST_ROUNDS)
    }

    pub fn decided(&self) -> Option<Like> {
        if self.leaning > 0.0 {
            return self.unlike_first.suffices(self.alpha).then_some(Like::Last);
        }
        self.unlike_last.suffices(self.alpha).then_some(Like::First)
    }
}

/// A search among the changes 1 to `n` between the states 0 and `n`: change `k` leads from state `k - 1` to state `k`.
#[derive(Clone, Debug)]
pub struct Bisection {
    changes: usize,
    known: BTreeMap<usize, Like>,
}

impl Bisection {
    pub fn new(changes: usize) -> Self {
        Self { changes, known: BTreeMap::new() }
    }

    /// The most states that are looked at: those of a search in which each one decides, and three that can't be built
    /// or don't decide.
    pub fn most_steps(changes: usize) -> usize {
        steps(changes) + 3
    }

    pub fn learn(&mut self, state: usize, like: Like) {
        self.known.insert(state, like);
    }

    /// The changes that may have made the difference: the last one that is left, if all states were decided.
    pub fn suspects(&self) -> std::ops::RangeInclusive<usize> {
        let of = |like| self.known.iter().filter(move |(_, known)| **known == like);
        let last = of(Like::Last).next().map_or(self.changes, |(state, _)| *state);
        let first = of(Like::First).map(|(state, _)| *state).rfind(|state| *state < last);
        first.map_or(1, |state| state + 1)..=last
    }

    /// The state to look at next: of those that aren't known, the one that leaves the fewest changes in the worst case.
    /// `None` if none is left, or if [`Self::most_steps`] are done.
    pub fn next(&self) -> Option<usize> {
        let suspects = self.suspects();
        let (first, last) = (*suspects.start() - 1, *suspects.end());
        let states = (first + 1..last).filter(|state| !self.known.contains_key(state));
        let is_over = self.known.len() >= Self::most_steps(self.changes);
        states.min_by_key(|state| (state - first).max(last - state)).filter(|_| !is_over)
    }

    /// How many states are known, or known not to decide.
    pub fn looked_at(&self) -> usize {
        self.known.len()
    }

    /// How many states are still to be looked at, if all of them decide.
    pub fn steps_left(&self) -> usize {
        self.next().map_or(0, |_| steps(self.suspects().count()))
    }
}

/// The steps of a search without an error.
fn steps(changes: usize) -> usize {
    changes.max(1).next_power_of_two().ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The suspects of a search among so many changes of which one is guilty, and how many states it looked at. These
    /// states can't be built.
    fn search(changes: usize, guilty: usize, broken: &[usize]) -> (Vec<usize>, usize) {
        let mut search = Bisection::new(changes);
        let mut steps = 0;
        while let Some(state) = search.next() {
            steps += 1;
            let like = if state < guilty { Like::First } else { Like::Last };
            search.learn(state, if broken.contains(&state) { Like::Unknown } else { like });
        }
        (search.suspects().collect(), steps)
    }

    #[test]
    fn each_change_is_found_in_as_many_steps_as_it_has_bits() {
        for (changes, most) in [(1, 0), (2, 1), (3, 2), (4, 2), (30, 5), (32, 5), (33, 6), (40, 6)]
        {
            for guilty in 1..=changes {
                let (suspects, steps) = search(changes, guilty, &[]);
                assert_eq!(suspects, [guilty], "of {changes}");
                assert!(steps <= most, "{steps} steps for change {guilty} of {changes}");
            }
        }
    }

    #[test]
    fn changes_around_a_state_that_cannot_be_built_are_suspected_together() {
        assert_eq!(
            search(40, 20, &[20]).0,
            [20, 21],
            "20 leads to the broken state, and 21 from it"
        );
        assert_eq!(search(40, 21, &[20]).0, [20, 21]);
        assert_eq!(search(40, 7, &[20]).0, [7], "the broken state is far away");
        let (suspects, steps) = search(40, 20, &(1..40).collect::<Vec<_>>());
        assert_eq!((suspects.len(), steps), (40, 9), "nothing compiles");
    }

    #[test]
    fn a_state_is_like_the_end_that_it_does_not_differ_from() {
        let decided = |state: f64| {
            let mut test = StateTest::new(Bet { effect: -0.1, share: 0.9 }, 2);
            let rounds = (1..).find(|_| {
                test.add([0.0, state, -0.1]);
                !test.needs_more()
            });
            (test.decided(), rounds)
        };
        assert_eq!(decided(0.0), (Some(Like::First), Some(7)));
        assert_eq!(decided(-0.1), (Some(Like::Last), Some(7)));
        assert_eq!(decided(-0.02).0, Some(Like::First), "the larger step is behind it");
    }
}
