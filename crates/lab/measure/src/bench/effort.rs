//! How much is measured.

use std::time::Duration;

use lab_model::{Metric, Spacing};

/// The shortest open loop that decides.
pub const SHORTEST_OPEN_LOOP: Duration = Duration::from_millis(1200);

#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub pairs: usize,
    /// Of the order of the runs.
    pub seed: u64,
    /// How long a load generator takes to start and to stop.
    pub start: Duration,
    pub warm_up: Duration,
    pub measurement: Duration,
    /// How long the last requests may take after the measurement.
    pub grace: Duration,
    /// Length of the open loop's measurement; zero for no open loop.
    pub open_loop: Duration,
    /// When the requests of the open loop are sent.
    pub spacing: Spacing,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    /// What the verdict is about.
    pub metric: Metric,
    /// Whether requests may outlast a run.
    pub allow_unfinished: bool,
}

impl Effort {
    /// Six pairs of runs of a second each, and an open loop; a `quick` effort has shorter ones and no open
    /// loop.
    pub fn usual(quick: bool, seed: u64) -> Self {
        let [warm_up, measurement, grace, open_loop] = match quick {
            false => [800, 1400, 1000, 2000],
            true => [300, 350, 250, 0],
        }
        .map(Duration::from_millis);
        Self {
            pairs: 6,
            seed,
            start: Duration::from_millis(300),
            warm_up,
            measurement,
            grace,
            open_loop,
            spacing: Spacing::Random { seed },
            minimum_effect: 0.1,
            metric: Metric::Throughput,
            allow_unfinished: false,
        }
    }

    /// This effort for what a case promises. A latency is judged in an open loop that is as long as the other
    /// runs, so that it runs in pairs, too.
    pub fn for_case(self, decides: Metric) -> Self {
        let open_loop = match decides {
            Metric::Latency(_) => self.measurement.max(SHORTEST_OPEN_LOOP),
            _ => self.open_loop,
        };
        Self { open_loop, metric: decides, ..self }
    }

    /// The expected length of one run, with start and stop.
    pub fn run(self) -> Duration {
        self.start + self.warm_up + self.measurement + self.grace / 4
    }

    /// Whether the verdict is about a latency under random arrivals: in a closed loop, each user waits
    /// for a stalled server and sends it nothing, so most requests never meet a stall.
    pub fn decides_in_open_loop(self) -> bool {
        matches!(self.metric, Metric::Latency(_)) && !self.open_loop.is_zero()
    }
}
