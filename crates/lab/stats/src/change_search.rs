//! The search for the change that made a difference, as a machine that says what to measure next and takes what was
//! measured. It starts nothing, so that a simulation can drive the very code that users run.

use std::ops::RangeInclusive;

use crate::{
    bisection::{Bisection, Difference, Like, StateTest},
    evidence::Bet,
};

/// What a search wants measured next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NextRound {
    /// The first and the last state, a run of each.
    Ends,
    /// This state and both ends, a run of each.
    State(usize),
}

/// A search among the changes 1 to `n` between the states 0 and `n`: change `k` leads from state `k - 1` to state `k`.
#[derive(Clone, Debug)]
pub struct ChangeSearch {
    changes: usize,
    ends: Difference,
    bisection: Bisection,
    /// The state that is measured now.
    current: Option<(usize, StateTest)>,
}

impl ChangeSearch {
    /// A search that begins, or goes on with earlier pairs of its ends and states that were decided.
    pub fn new(changes: usize, pairs: &[f64], decided: &[(usize, Like)]) -> Self {
        let mut ends = Difference::default();
        pairs.iter().for_each(|pair| ends.add(*pair));
        let mut bisection = Bisection::new(changes);
        decided.iter().for_each(|(state, like)| bisection.learn(*state, *like));
        Self { changes, ends, bisection, current: None }
    }

    /// `None` if the search is over.
    pub fn next_round(&mut self) -> Option<NextRound> {
        if self.ends.needs_more() {
            return Some(NextRound::Ends);
        }
        let bet = Bet::learned(self.ends.effect()?, self.ends.pairs());
        if self.current.is_none() {
            let state = self.bisection.next()?;
            self.current = Some((state, StateTest::new(bet, self.changes)));
        }
        self.current.as_ref().map(|(state, _)| NextRound::State(*state))
    }

    /// Adds a round of the ends: the logarithm of what the last state achieved, divided by what the first one did.
    pub fn add_ends(&mut self, ln_ratio: f64) {
        self.ends.add(ln_ratio);
    }

    /// Adds a round of the present state: the logarithms of what the first state, this one and the last one achieved.
    /// Returns which end it is like, once that is decided.
    pub fn add_state(&mut self, achieved: [f64; 3]) -> Option<Like> {
        let (state, test) = self.current.as_mut()?;
        test.add(achieved);
        if test.needs_more() {
            return None;
        }
        let like = test.decided().unwrap_or(Like::Unknown);
        self.bisection.learn(*state, like);
        self.current = None;
        Some(like)
    }

    /// Leaves out the present state, because it can't be built or measured.
    pub fn skip(&mut self) {
        if let Some((state, _)) = self.current.take() {
            self.bisection.learn(state, Like::Unknown);
        }
    }

    /// The pairs of the ends so far.
    pub fn pairs(&self) -> &[f64] {
        self.ends.pairs()
    }

    /// The logarithm of the factor of the last state over the first one. It is too far from 0 rather than too near,
    /// because the pairs ended when they showed a difference. `None` if they show none.
    pub fn effect(&self) -> Option<f64> {
        self.ends.effect()
    }

    /// The changes that may have made the difference.
    pub fn suspects(&self) -> RangeInclusive<usize> {
        self.bisection.suspects()
    }

    /// How many states were looked at, also by an earlier call, and how many still are if all of them decide.
    pub fn states(&self) -> [usize; 2] {
        [self.bisection.looked_at(), self.bisection.steps_left()]
    }

    /// How many rounds the present state has had, and about how many it takes.
    pub fn rounds(&self) -> [usize; 2] {
        self.current.as_ref().map_or([0, 0], |(_, test)| [test.rounds(), test.usual_rounds()])
    }
}
