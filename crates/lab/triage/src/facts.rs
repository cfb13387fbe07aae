//! Named figures of what was measured: the language of the rules.
//!
//! The end of a name says the unit: `_share` is from 0 to 1, `_ms` is milliseconds, `_rps` is answers
//! per second, `_per_request` is a count. All are of one request, even if a visit has several. What could
//! not be measured has no figure, and a rule that needs it is not checked.

mod load;
#[cfg(test)]
mod tests;
mod threads;

use std::collections::BTreeMap;

use lab_display::{percent, significant, thousands, time_ms};
use lab_observation::{Kernel, Pattern};
use serde::Serialize;

use super::measure::Measured;

/// Figures and words by name.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Facts {
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
    /// Names, such as the system call in which most threads sleep.
    #[serde(flatten)]
    pub words: BTreeMap<String, String>,
}

/// Shares of fewer samples than this are too rough.
pub const ENOUGH_SAMPLES: u64 = 100;

impl Facts {
    /// The facts of a measurement. `groups` names functions that belong together; each becomes
    /// `NAME_cpu_share`.
    pub fn of(measured: &Measured, groups: &BTreeMap<String, Vec<Pattern>>) -> Self {
        let mut facts = Self::default();
        facts.throughput(measured);
        facts.latency(measured);
        facts.threads(measured);
        facts.idle(measured);
        if let Some(counts) = &measured.counts {
            facts.counts(counts, measured.asks);
        }
        if let Some(recording) = measured.recording().filter(|it| it.samples >= ENOUGH_SAMPLES) {
            // Without the kernel's part, these are shares of less than the whole.
            let seen = match recording.profiler.kernel {
                Kernel::Missing => recording.cpu_agreement().unwrap_or(1.0).min(1.0),
                _ => 1.0,
            };
            let is_in = |name: &str, patterns: &[Pattern]| patterns.iter().any(|it| it.fits(name));
            let shares = recording.stacks.shares(|name| {
                groups.iter().filter(|it| is_in(name, it.1)).map(|it| it.0).collect()
            });
            for (group, patterns) in groups {
                if recording.profiler.kernel == Kernel::Frames
                    || !patterns.iter().all(Pattern::is_of_kernel)
                {
                    let share = shares.get(group).copied().unwrap_or(0.0);
                    facts.put(&format!("{group}_cpu_share"), seen * share);
                }
            }
        }
        // A flush waits for the disk, and works before that.
        let shares = ["disk_share", "flush_cpu_share"].map(|name| facts.get(name).unwrap_or(0.0));
        facts.put("flush_share", shares[0].max(shares[1]));
        facts
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    pub fn put(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.figures.insert(name.to_owned(), value);
        }
    }

    /// A fact as a reader sees it.
    pub fn shown(&self, name: &str) -> Option<String> {
        if let Some(word) = self.words.get(name) {
            return Some(word.clone());
        }
        let value = self.get(name)?;
        Some(match name {
            name if name.ends_with("_share") => percent(value),
            name if name.ends_with("_ms") => time_ms(value),
            name if name.ends_with("_rps") => rate(value),
            name if name.ends_with("_per_request") && value < 0.005 => "0".to_owned(),
            _ if (value - value.round()).abs() < 0.005 * value.abs() => thousands(value),
            _ => significant(value),
        })
    }
}

/// `1,292 answers per second`.
fn rate(per_second: f64) -> String {
    format!("{} req/s", significant(per_second))
}
