//! How long a comparison measures.

use std::time::Duration;

use anyhow::ensure;
use lab_measure::bench::{Effort, Experiment, Until, alone_takes};
use lab_protocol::Metric;
use lab_report::time_ms;

use super::Options;
use crate::cmd::effort::{how_long, seed};

/// Longer visits make the runs longer.
const LONG: Duration = Duration::from_millis(150);
/// Runs have to be long enough for so many visits of each user, if visits take longer than this.
const FEWEST: u32 = 3;
const SECONDS: Duration = Duration::from_millis(500);

/// The effort for servers whose visit takes so long. Fails if a run would be too short for figures.
pub fn effort(options: &Options, visit_takes: Duration) -> anyhow::Result<Effort> {
    let usual = Effort::of_own_servers(options.effort.quick, seed());
    let effort = options.effort.effort(usual, Metric::Throughput, options.sides.candidates());
    let effort = options.effort.chosen(effort.for_visits(visit_takes));
    let runs = effort.measurement;
    ensure!(
        visit_takes < SECONDS || runs >= FEWEST * visit_takes || effort.allow_unfinished,
        "a visit takes {}, so runs of {} s have no figures: leave out --measurement, or give {:.0} s or more",
        time_ms(visit_takes.as_secs_f64() * 1e3),
        runs.as_secs_f64(),
        (FEWEST * visit_takes).as_secs_f64().ceil()
    );
    Ok(effort)
}

/// What a comparison says before it measures: how long that takes, and why.
pub fn planned(experiment: &Experiment, watching: Duration, is_quick: bool) -> String {
    let [look, longest] = [experiment.length(), experiment.longest()].map(|time| watching + time);
    let alone = look + alone_takes(experiment);
    let [look, longest] = match experiment.effort.until {
        Until::Pairs(_) => [alone; 2],
        // What comes after the pairs is left out if the limit is over.
        Until::Known { .. } => [alone.min(longest.max(look)), longest],
    };
    format!("{}{}", how_long(look, longest), why_long(experiment.visit_takes, is_quick))
}

/// Why a measurement takes long, and what makes it shorter.
fn why_long(visit: Duration, is_quick: bool) -> String {
    if visit < LONG {
        return String::new();
    }
    let takes = time_ms(visit.as_secs_f64() * 1e3);
    let less = if is_quick { "" } else { "; --quick takes less than half of it" };
    format!(", because a visit takes {takes}{less}")
}
