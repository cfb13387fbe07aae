//! Draws the visit of each arrival, if the plan has several kinds of visits.

use lab_protocol::{LoadPlan, Spacing};
use lab_stats::SplitMix64;

use super::WireRequest;

/// The seed for evenly spaced arrivals, which have none.
const FIXED_SEED: u64 = 1;

/// The visit that one arrival makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// The index of the kind in the plan.
    pub kind: u16,
    /// The index in [`alternatives`].
    pub alternative: usize,
}

/// Draws a kind by weight, and takes its alternatives in turn.
#[derive(Debug)]
pub struct VisitDraw {
    random: SplitMix64,
    kinds: Vec<Turn>,
}

#[derive(Debug)]
struct Turn {
    /// The sum of the weights up to this kind.
    weights: f64,
    /// The index of its first alternative.
    first: usize,
    alternatives: usize,
    next: usize,
}

impl VisitDraw {
    /// `None` if all visits are the same. The draw depends on the seed alone, and not on the server: both
    /// servers of a pair get the same visits.
    pub fn of(plan: &LoadPlan, spacing: Spacing) -> Option<Self> {
        let seed = spacing.seed().unwrap_or(FIXED_SEED);
        let (mut weights, mut first) = (0.0, 0);
        let turn = plan.visits.iter().map(|visit| {
            weights += visit.weight;
            let alternatives = visit.alternatives.len();
            let turn = Turn { weights, first, alternatives, next: 0 };
            first += alternatives;
            turn
        });
        let kinds: Vec<_> = turn.collect();
        // Another sequence than that of the gaps, which stay what they are without kinds.
        let random = SplitMix64(SplitMix64(seed).seed_of(0));
        (!kinds.is_empty()).then_some(Self { random, kinds })
    }

    pub fn draw(&mut self) -> Drawn {
        let last = self.kinds.len() - 1;
        let drawn = self.random.uniform() * self.kinds[last].weights;
        // Rounding may bring it up to the sum.
        let kind = self.kinds.partition_point(|kind| kind.weights <= drawn).min(last);
        let turn = &mut self.kinds[kind];
        let alternative = turn.first + turn.next;
        turn.next = (turn.next + 1) % turn.alternatives;
        Drawn { kind: kind as u16, alternative }
    }
}

/// All alternatives of all kinds, ready to be sent. Messages about a request name its visit.
pub fn alternatives(plan: &LoadPlan) -> anyhow::Result<Vec<Box<[WireRequest]>>> {
    let prepared = plan.visits.iter().flat_map(|visit| {
        let prepare = |request| {
            let prepared = WireRequest::new(request, plan.target.clone())?;
            let name = format!("visit `{}`: {}", visit.name, prepared.name);
            Ok(WireRequest { name, ..prepared })
        };
        visit.alternatives.iter().map(move |requests| requests.iter().map(prepare).collect())
    });
    prepared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::visits::{kind, plan_of};
    use lab_protocol::OpenLoop;

    #[test]
    fn the_seed_determines_the_draw() {
        let kinds = vec![kind("a", 1.0, &[&["/"]]), kind("b", 1.0, &[&["/"]])];
        let plan = plan_of(kinds, OpenLoop::new(1.0, 1));
        let drawn = |spacing| {
            let mut draw = VisitDraw::of(&plan, spacing).unwrap();
            std::iter::repeat_with(|| draw.draw()).take(100).collect::<Vec<_>>()
        };
        let [first, other] = [1, 2].map(|seed| drawn(Spacing::Random { seed }));
        assert_ne!(first, other);
        assert_eq!(first, drawn(Spacing::Random { seed: 1 }));
        assert_eq!(first, drawn(Spacing::Even), "its fixed seed");
    }
}
