//! The sampling error of costs, and which changes exceed it.
//!
//! A profiler takes its samples at times that have nothing to do with the work, so they are nearly
//! independent. The share `p` of a frame in `n` samples then has the standard error
//! `sqrt(p (1 - p) / n)`, and the variances of two recordings add up: the comparison of two
//! proportions in the NIST/SEMATECH e-Handbook of Statistical Methods, 7.3.3. The total that turns
//! shares into time per request is the system's count and no sample: it scales the error and adds
//! none. What two runs of the same binary differ by is not in it; `lab bench` measures that.
//!
//! The `±` of a frame is two standard errors, about 95 % for this one frame. A graph has many frames,
//! and one in twenty that did not change would exceed its `±`. So only a change above
//! `sqrt(2 ln(m / 0.05))` standard errors counts as shown, for a graph of `m` frames: a normal variable
//! exceeds `z` with a probability of at most `exp(-z² / 2)`, so in at most 5 % of the graphs in which
//! nothing changed is any frame coloured (Bonferroni's inequality).

use super::{Folded, Node};

/// How many standard errors the `±` is.
const WIDTH: f64 = 2.0;
/// The probability of any colour where nothing changed.
const ALARM: f64 = 0.05;

/// Two recordings with their sampling errors.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    slow: SampledSide,
    fixed: SampledSide,
    /// How many frames are compared.
    pub frames: usize,
}

#[derive(Clone, Copy, Debug)]
struct SampledSide {
    total: f64,
    samples: f64,
}

impl SampledSide {
    fn of(root: &Node, samples: u64) -> Self {
        Self { total: root.inclusive.max(1) as f64, samples: samples.max(1) as f64 }
    }

    /// The square of a cost's standard error.
    fn variance(self, weight: u64) -> f64 {
        // A function that no sample hit may still cost as much as one sample.
        let share = (weight as f64 / self.total).max(1.0 / self.samples);
        self.total.powi(2) * share * (1.0 - share).max(0.0) / self.samples
    }
}

impl Sampling {
    /// The sampling error of two recordings. `samples` has the number of samples of each; the stacks may be scaled to
    /// any total.
    pub fn of(slow: &Folded, fixed: &Folded, samples: [u64; 2]) -> Self {
        let (slow, fixed) = (Node::of(slow), Node::of(fixed));
        let mut frames = 0;
        slow.walk(&mut |_, _| frames += 1);
        fixed.walk(&mut |path, _| frames += usize::from(slow.at(path).is_none()));
        let (slow, fixed) =
            (SampledSide::of(&slow, samples[0]), SampledSide::of(&fixed, samples[1]));
        Self { slow, fixed, frames }
    }

    /// The `±` of the change from `slow` to `fixed`, as a part of `slow`.
    pub fn error(&self, slow: u64, fixed: u64) -> f64 {
        let ratio = fixed as f64 / slow.max(1) as f64;
        let variance = self.fixed.variance(fixed) + ratio.powi(2) * self.slow.variance(slow);
        WIDTH * variance.sqrt() / slow.max(1) as f64
    }

    /// Whether the cost changed by more than the samples can differ by chance.
    pub fn differs(&self, slow: u64, fixed: u64) -> bool {
        let error = (self.slow.variance(slow) + self.fixed.variance(fixed)).sqrt();
        slow.abs_diff(fixed) as f64 > self.limit() * error
    }

    /// How many standard errors a change has to exceed.
    pub fn limit(&self) -> f64 {
        (2.0 * (self.frames.max(1) as f64 / ALARM).ln()).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(slow: &str, fixed: &str, samples: u64) -> Sampling {
        Sampling::of(&slow.parse().unwrap(), &fixed.parse().unwrap(), [samples; 2])
    }

    #[test]
    fn the_error_is_that_of_two_shares() {
        // sqrt(0.5 * 0.5 / 100) is 0.05 of the total and 0.1 of the half; twice for both sides.
        let error = sampling("a 50\nb 50\n", "a 50\nb 50\n", 100).error(50, 50);
        assert!((error - 2.0 * 0.02_f64.sqrt()).abs() < 1e-12, "{error}");
        // The other side's total counts, and not only its share.
        let scaled = sampling("a 50\nb 50\n", "a 500\nb 500\n", 100);
        assert!(scaled.error(50, 500) > 9.9 * error);
        // What no sample hit is not known to be free.
        let gone = sampling("a 50\nb 50\n", "b 50\n", 100).error(50, 0);
        assert!((0.01..0.03).contains(&gone), "{gone}");
    }

    /// Frames of the same program, sampled twice: binomial counts, drawn from a small generator.
    #[test]
    fn no_frame_of_an_unchanged_program_differs_beyond_chance() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut recording = || -> Folded {
            let sample = |_| (vec![format!("f{}", random(40).min(random(40)))], 1);
            (0..2000).map(sample).collect()
        };
        let (mut graphs, mut beyond_two) = (0, 0);
        for _ in 0..200 {
            let (one, other) = (recording(), recording());
            let sampling = Sampling::of(&one, &other, [2000; 2]);
            let (one, other) = (Node::of(&one), Node::of(&other));
            let mut any = false;
            one.walk(&mut |path, node| {
                let other = other.at(path).map_or(0, |node| node.inclusive);
                any |= sampling.differs(node.inclusive, other);
                let change = other as f64 / node.inclusive as f64 - 1.0;
                beyond_two += usize::from(change.abs() > sampling.error(node.inclusive, other));
            });
            graphs += usize::from(any);
        }
        assert!(graphs <= 10, "{graphs} of 200 graphs have a colour");
        assert!(beyond_two > 100, "two standard errors alone colour {beyond_two} frames");
    }
}
