//! Whether `perf` can be used, before there is a server to record.

use super::{
    super::{super::Rung, Obstacle, program::gist},
    Complaint,
    complaint::install,
};
use crate::doctor::System;

/// Lets `perf` count the same event with the same rights for a moment. What else recording takes,
/// such as memory for its buffers, shows only then.
pub(in super::super) fn look(system: &System, rung: Rung) -> Result<(), Obstacle> {
    if system.program("perf").is_none() {
        return Err(Obstacle::new("`perf` is missing").mend(install(system)));
    }
    // The timer is there on every machine; named with its side, it is not made another by itself.
    let event = if rung == Rung::PerfWithKernel { "cpu-clock:k" } else { "cpu-clock:u" };
    let Some(counted) = system.run("perf", &["stat", "-x", ",", "-e", event, "true"]) else {
        return Err(Obstacle::new("`perf stat true` does not end").mend("just doctor"));
    };
    let said = String::from_utf8_lossy(&counted.stderr).into_owned();
    let counts = |line: &str| {
        let (count, rest) = line.split_once(',').unwrap_or_default();
        count.parse::<f64>().is_ok() && rest.contains("cpu-clock")
    };
    if counted.status.success() && said.lines().any(counts) {
        return Ok(());
    }
    Err(match counted.status.success() {
        true => {
            Obstacle::new(format!("`perf` counts nothing: {}", gist(&said))).mend("just doctor")
        }
        false => Complaint::Said(said).explain(system, rung),
    })
}
