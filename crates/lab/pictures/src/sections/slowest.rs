//! Why the slowest of random arrivals are slow, in each server.

use lab_observation::Observations;
use lab_report::slowest_or_none;

use crate::page::Section;

/// Absent if no server is fast enough for random arrivals.
pub fn slowest(all: &Observations) -> Option<Section> {
    let lead = "After each recording, random arrivals came to the same server, at half of the rate that it answered or at \
                the rate of the case, and its threads were looked at every 5 ms. Each sentence compares the times at which \
                one of the slowest hundredth waited with the rest of that run. The intervals hold with 99.7 %.";
    let mut section = Section::new("Why the slowest requests are slow", lead.to_owned());
    let servers = all.servers.iter();
    let found = servers.filter_map(|server| Some((&server.name, server.slowest.as_ref()?)));
    section.findings =
        found.map(|(name, seen)| format!("{name}: {}", slowest_or_none(seen))).collect();
    Some(section).filter(|section| !section.findings.is_empty())
}
