//! Whether a level goes up with the work for good: a leak, or a store that fills.
//!
//! Neighbouring looks at a level depend on each other, so an interval from single looks would be too narrow. The work is
//! split into a few long blocks, and the interval comes from the growth from block to block (*batch means*: Law,
//! *Simulation Modeling and Analysis*, 5th edition, section 9.5.3; Schmeiser, *Operations Research* 30, 1982). Noise
//! that goes up in one block goes down in the next, which makes the interval wider than need be, and never narrower.

/// Blocks of a trend. With fewer, the quantile is large; with more, a garbage collector has none of its collections in
/// some.
pub const BLOCKS: usize = 13;
/// The upper 2.5 % of Student's t, from one degree of freedom on.
const STUDENT: [f64; 12] =
    [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179];
/// A slope that is at least this part of the one before is steady: what a visit costs, and so their number, is an estimate.
const STEADY: f64 = 0.8;
/// A slope that has fallen to this part of the one before ends soon.
const FADED: f64 = 0.25;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Slope {
    /// `None` without two blocks.
    fn of(growths: &[f64]) -> Option<Self> {
        let freedom = growths.len().checked_sub(2)?;
        let n = growths.len() as f64;
        let estimate = growths.iter().sum::<f64>() / n;
        let squares: f64 = growths.iter().map(|growth| (growth - estimate).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        let margin = STUDENT[freedom.min(STUDENT.len() - 1)] * error;
        Some(Self { estimate, low: estimate - margin, high: estimate + margin })
    }

    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self { estimate: self.estimate * by, low: self.low * by, high: self.high * by }
    }

    fn may_be_zero(self) -> bool {
        self.low <= 0.0 && 0.0 <= self.high
    }
}

/// What a level does as work goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rise {
    /// By as much in the second half of the work as in the first.
    Steady,
    /// It rose, and has come to an end.
    Ended,
    /// By less than matters.
    Flat,
    /// This much more work would tell, in multiples of the work so far.
    Unclear { more: f64 },
}

/// The slope of a level per block, and what it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    pub slope: Slope,
    pub rise: Rise,
}

impl Trend {
    /// The levels of blocks that each do the same work. Growth below `matters`, in all blocks together, counts as zero.
    /// `None` for fewer than five levels.
    pub fn of(levels: &[f64], matters: f64) -> Option<Self> {
        let growths: Vec<_> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (first, second) = growths.split_at(growths.len() / 2);
        let (slope, [first, second]) =
            (Slope::of(&growths)?, [Slope::of(first)?, Slope::of(second)?]);
        let grown = slope.estimate * growths.len() as f64;
        let fades = second.estimate < STEADY * first.estimate;
        let rise = if grown < matters {
            Rise::Flat
        } else if fades && second.estimate <= FADED * first.estimate && second.may_be_zero() {
            Rise::Ended
        } else if slope.low > 0.0 && !fades {
            Rise::Steady
        } else if fades {
            // As much work again has the late slope in all blocks.
            Rise::Unclear { more: 1.0 }
        } else {
            // The interval shrinks with the root of the work.
            Rise::Unclear { more: ((slope.high / slope.estimate - 1.0).powi(2) - 1.0).max(0.5) }
        };
        // How it got there is over.
        let slope = if rise == Rise::Ended { second } else { slope };
        Some(Self { slope, rise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn rise(levels: &[f64]) -> Rise {
        Trend::of(levels, 1.0).unwrap().rise
    }

    fn levels(of: impl FnMut(usize) -> f64) -> Vec<f64> {
        (0..BLOCKS).map(of).collect()
    }

    #[test]
    fn a_leak_is_steady_with_its_slope_in_a_narrow_interval() {
        let mut random = SplitMix64(7);
        let leak = levels(|block| 50.0 + 3.0 * block as f64 + 0.2 * random.uniform());
        let Trend { slope, rise } = Trend::of(&leak, 1.0).unwrap();
        assert_eq!(rise, Rise::Steady);
        assert!(2.8 < slope.low && slope.low < 3.0 && 3.0 < slope.high && slope.high < 3.2);
    }

    #[test]
    fn what_fills_has_an_end_and_what_still_fills_is_unclear() {
        let cache = levels(|block| 50.0 + 9.0 * block.min(4) as f64);
        assert_eq!(rise(&cache), Rise::Ended);
        assert_eq!(Trend::of(&cache, 1.0).unwrap().slope.estimate, 0.0, "where it has come to");
        let at_once = levels(|block| if block < 3 { 50.0 } else { 90.0 });
        assert_eq!(rise(&at_once), Rise::Ended);
        // What fills at random gets slower: within one time constant, half of the slope is left.
        let random =
            |constant: f64| levels(|block| 90.0 * (1.0 - (-(block as f64) / constant).exp()));
        assert_eq!(rise(&random(6.0)), Rise::Unclear { more: 1.0 });
        assert_eq!(rise(&random(1.5)), Rise::Ended);
        assert_eq!(rise(&random(60.0)), Rise::Steady, "only more work can tell");
    }

    #[test]
    fn steps_need_more_work_until_there_are_enough_of_them() {
        let one = levels(|block| if block < 9 { 50.0 } else { 90.0 });
        assert!(matches!(rise(&one), Rise::Unclear { more } if more > 1.0));
        let many = levels(|block| 50.0 + 8.0 * (block / 2) as f64);
        assert_eq!(rise(&many), Rise::Steady);
    }

    #[test]
    fn a_level_that_does_not_rise_is_flat_whatever_its_noise() {
        assert_eq!(rise(&levels(|_| 50.0)), Rise::Flat);
        assert_eq!(rise(&levels(|block| 50.0 - block as f64)), Rise::Flat);
        assert_eq!(rise(&levels(|block| 50.0 + 0.05 * block as f64)), Rise::Flat);
    }

    #[test]
    fn noise_is_called_steady_growth_less_often_than_its_interval_admits() {
        let mut random = SplitMix64(3);
        let mut found = |of: &mut dyn FnMut(f64) -> f64| {
            let is_steady = |_: &usize| {
                let levels = levels(|_| of(20.0 * random.uniform()));
                rise(&levels) == Rise::Steady
            };
            (0..2000).filter(is_steady).count()
        };
        assert!(found(&mut |noise| noise) < 10, "each block by itself");
        let mut level = 0.0;
        let mut walks = |noise: f64| {
            level += noise - 10.0;
            level
        };
        // One side of a 95 % interval would be 50.
        assert!(found(&mut walks) < 50, "a walk, in which blocks depend on each other");
    }

    #[test]
    fn few_levels_have_no_trend() {
        assert_eq!(Trend::of(&[1.0, 2.0, 3.0, 4.0], 0.1), None);
        assert!(Trend::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.1).is_some());
    }
}
