//! Facts of the memory: what it was before the load and is after it, and whether it grew to the end.

use super::Facts;
use crate::{
    figure::Figure,
    measure::{Level, Measured, MemoryTrend, WATCHED},
};

impl Facts {
    pub(super) fn memory(&mut self, measured: &Measured) {
        let [first, .., last] = measured.memory[..] else { return };
        let grown = last.used_mib - first.used_mib;
        self.put(Figure::MemoryBeforeMib, first.used_mib);
        self.put(Figure::MemoryAfterMib, last.used_mib);
        self.put(Figure::MemoryGrownShare, (grown / last.used_mib).max(0.0));
        let mapped = (last.mapped_mib - first.mapped_mib) / grown;
        self.put(
            Figure::MemoryMappedShare,
            if measured.maps_early && grown > 0.0 { mapped.clamp(0.0, 1.0) } else { 1.0 },
        );
        let Some(trend) = MemoryTrend::of(&measured.memory) else { return };
        self.put(Figure::MemoryLateMib, trend.grown_mib);
        self.put(Figure::MemoryLateShare, trend.grown_mib / last.used_mib);
        self.put(Figure::MemorySteadiness, trend.steadiness);
        // Once most users have connected.
        let later = measured.levels.iter().filter(|level| level.users >= WATCHED);
        let (grown_mib, visits) = later.fold((0.0, 0), |(mib, visits), Level { outcome, .. }| {
            let grown = match outcome.server_rss_mib[..] {
                [first, .., last] => last - first,
                _ => 0.0,
            };
            (mib + grown, visits + outcome.ok_in_time)
        });
        let requests = visits as f64 * measured.requests.max(1) as f64;
        self.put(Figure::MemoryPerRequestKib, 1024.0 * grown_mib / requests);
    }
}
