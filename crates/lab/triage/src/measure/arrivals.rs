//! Random arrivals at half of the peak.

use std::time::Duration;

use lab_measure::watch::{RandomArrivals, RandomLoad, half_of};
use lab_observation::Tail;
use lab_protocol::OpenLoop;

use super::{Level, Measured, level::peak, stages::Loaded};

const LENGTH: Duration = Duration::from_secs(6);
/// Fewer show nothing.
const FEWEST: f64 = 36.0;

impl Loaded<'_> {
    /// `None` if the server is too slow for enough of them.
    pub(super) async fn arrivals(
        &self,
        levels: &[Level],
    ) -> anyhow::Result<Option<RandomArrivals>> {
        // More connections than this were not served.
        let served = levels.iter().filter(|level| level.lost == 0 && level.outcome.failed == 0);
        let Some(connections) = served.map(|level| level.users).max() else { return Ok(None) };
        let load = OpenLoop::new(half_of(peak(levels)), connections);
        let requests = &self.triage.server.requests;
        let Some(load) = RandomLoad::new(requests, load, &[], LENGTH, FEWEST) else {
            return Ok(None);
        };
        self.triage.progress.step("random arrivals");
        let found = load.send(self.server, self.pid).await?;
        self.memory.learn_of(&found.outcome);
        Ok(Some(found))
    }
}

impl Measured {
    /// Why the slowest of the random arrivals are slow.
    pub fn tail(&self) -> Option<Tail> {
        self.arrivals.as_ref()?.tail()
    }
}
