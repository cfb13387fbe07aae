//! How much is measured.

use std::time::Duration;

use lab_stats::schedule;

#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Pairs of runs.
    pub pairs: usize,
    /// How long the load runs before anything counts.
    pub warm_up: Duration,
    /// How long requests count.
    pub measurement: Duration,
    /// How long the last requests may take after that.
    pub grace: Duration,
    /// How long arrivals of the open loop count; zero for no open loop.
    pub open_loop: Duration,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
}

impl Effort {
    /// About how long one run takes, with start and stop.
    pub fn run(self) -> Duration {
        self.warm_up + self.measurement + self.grace / 4 + Duration::from_millis(300)
    }

    /// How many runs a comparison of so many servers takes.
    pub fn runs(self, subjects: usize) -> usize {
        let open = if self.open_loop.is_zero() { 0 } else { subjects };
        schedule(subjects, self.pairs).len() + open
    }
}
