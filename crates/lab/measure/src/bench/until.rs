//! When a comparison has measured enough.

use std::time::{Duration, Instant};

use lab_protocol::Reason;
use lab_report::CaseRecord;
use lab_stats::{Look, Speedup, Verdict};

/// When the pairs of a comparison end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// After so many pairs of each candidate. The only look is at all of them.
    Pairs(usize),
    /// At the look that shows what one wants to know, or at the last one that is likely to end within the limit.
    Known {
        /// How far the ends of the interval may be from the estimate: 0.03 is 3 %. `None` for a verdict.
        interval: Option<f64>,
        /// Of the time since the first run.
        limit: Duration,
    },
}

impl Until {
    /// The fewest pairs that it may end with, of a family of candidates.
    pub fn fewest_pairs(self, family: usize) -> usize {
        match self {
            Self::Pairs(pairs) => pairs,
            Self::Known { .. } => Look::first(family).pairs,
        }
    }
}

/// The looks at a comparison that goes on.
#[derive(Debug)]
pub(crate) struct Looks {
    interval: Option<f64>,
    limit: Duration,
    next: Look,
    began: Instant,
    /// The pairs from before this session.
    earlier: usize,
}

/// What to do after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    GoOn,
    Look(Look),
    End,
}

impl Looks {
    /// `earlier`: how many pairs were measured before.
    pub fn new(family: usize, earlier: usize, interval: Option<f64>, limit: Duration) -> Self {
        let mut next = Look::first(family);
        while next.pairs <= earlier {
            next = next.next();
        }
        Self { interval, limit, next, began: Instant::now(), earlier }
    }

    /// What to do after so many pairs of each candidate.
    pub fn after(&mut self, pairs: usize) -> Next {
        if pairs >= self.next.pairs {
            let look = self.next;
            self.next = look.next();
            return Next::Look(look);
        }
        if self.left().is_zero() { Next::End } else { Next::GoOn }
    }

    /// Whether the next look is likely to come too late, after so many pairs.
    pub fn is_last(&self, pairs: usize) -> bool {
        let round = self.began.elapsed() / pairs.saturating_sub(self.earlier).max(1) as u32;
        round * self.next.pairs.saturating_sub(pairs) as u32 > self.left()
    }

    /// The time to the limit.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    /// The part of the limit that is over.
    pub fn share(&self) -> f64 {
        1.0 - self.left().as_secs_f64() / self.limit.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Whether more pairs would change nothing that one wants to know of this candidate.
    pub fn is_known(&self, record: &CaseRecord) -> bool {
        if record.has_faults() || !is_statistical(record) {
            return true;
        }
        let found = record.speedup.of(record.metric);
        match self.interval {
            Some(target) => found.is_some_and(|found| is_within(found, target)),
            None => record.verdict != Verdict::Undecided,
        }
    }
}

/// Whether the verdict follows from the factor and its interval: any other reason holds for more pairs, too.
fn is_statistical(record: &CaseRecord) -> bool {
    matches!(record.reason, Reason::Rule(_))
}

/// Whether both ends of the interval are within this share of the estimate.
fn is_within(found: &Speedup, share: f64) -> bool {
    found.is_confident() && found.width() <= 1.0 + share
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of_looks(looks: &mut Looks, pairs: std::ops::Range<usize>) -> Vec<usize> {
        let is_look = |pairs: &usize| matches!(looks.after(*pairs), Next::Look(_));
        pairs.filter(is_look).collect()
    }

    #[test]
    fn looks_are_planned_and_go_on_where_an_earlier_session_ended() {
        let hour = Duration::from_secs(3600);
        let mut looks = Looks::new(1, 0, None, hour);
        assert_eq!(pairs_of_looks(&mut looks, 1..21), [6, 8, 11, 15, 20]);
        let mut looks = Looks::new(1, 12, None, hour);
        assert_eq!(pairs_of_looks(&mut looks, 13..28), [15, 20, 27]);
    }

    #[test]
    fn the_limit_ends_a_comparison_that_has_not_had_a_look() {
        let mut looks = Looks::new(1, 0, None, Duration::ZERO);
        assert_eq!((looks.after(3), looks.is_last(3)), (Next::End, true));
        // The pairs of a look that is due are not thrown away.
        assert!(matches!(looks.after(6), Next::Look(_)));
    }
}
