//! The figures and words of a measurement. What could not be measured has no figure, and a rule that needs it
//! is not checked.

mod load;
mod memory;
mod stalls;
#[cfg(test)]
mod tests;
mod threads;

use std::collections::BTreeMap;

use lab_observation::{Kernel, Pattern, Recording};
use serde::Serialize;

use super::{
    figure::{Figure, Word},
    groups::Groups,
    measure::Measured,
    thresholds::ENOUGH_SAMPLES,
};

#[derive(Clone, Debug, Default, Serialize)]
pub struct Facts {
    #[serde(flatten)]
    pub figures: BTreeMap<Figure, f64>,
    #[serde(flatten)]
    pub words: BTreeMap<Word, String>,
}

impl Facts {
    pub fn of(measured: &Measured, groups: &Groups) -> Self {
        let mut facts = Self::default();
        facts.load(measured);
        facts.memory(measured);
        facts.arrivals(measured);
        facts.threads(measured);
        facts.idle(measured);
        if let Some(counts) = &measured.counts {
            facts.counts(counts, measured.requests);
            facts.files(&measured.files, measured.requests);
        }
        facts.contenders();
        if let Some(recording) =
            measured.recording().filter(|recording| recording.samples >= ENOUGH_SAMPLES)
        {
            facts.groups(recording, groups);
            facts.helpers();
            facts.warm_gc();
        }
        if let Some(waits) = facts.get(Figure::WaitShare) {
            // Without a profile, only the wait is known.
            let exchanges = facts.get(Figure::SmallIoCpuShare).unwrap_or(0.0);
            facts.put(Figure::ExchangeShare, waits + (1.0 - waits) * exchanges);
        }
        let shares = [Figure::DiskShare, Figure::FlushCpuShare];
        let flush = shares.map(|figure| facts.get(figure).unwrap_or(0.0));
        facts.put(Figure::FlushShare, flush[0].max(flush[1]));
        facts
    }

    fn groups(&mut self, recording: &Recording, groups: &Groups) {
        // Without the kernel's part, these are shares of less than the whole.
        let seen = match recording.profiler.kernel {
            Kernel::Missing => recording.cpu_agreement().unwrap_or(1.0).min(1.0),
            _ => 1.0,
        };
        let is_in =
            |name: &str, patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.fits(name));
        let of = |name: &str| {
            let all = groups.functions.iter().filter(|(_, patterns)| is_in(name, patterns));
            all.map(|(figure, _)| *figure).collect()
        };
        let sets = recording.stacks.shares_of_sets(of);
        let share = |is: &dyn Fn(&[Figure]) -> bool| -> f64 {
            sets.iter().filter(|(set, _)| is(set)).map(|(_, share)| share).sum()
        };
        for (group, patterns) in &groups.functions {
            if recording.profiler.kernel == Kernel::Frames
                || !patterns.iter().all(Pattern::is_of_kernel)
            {
                self.put(*group, seen * share(&|set| set.contains(group)));
            }
        }
        let is_alone = |set: &[Figure]| {
            set.contains(&Figure::AllocatorCpuShare)
                && !set.iter().any(|group| groups.allocate.contains(group))
        };
        self.put(Figure::AllocatorAloneCpuShare, seen * share(&is_alone));
    }

    /// A server that has just started may compile as much as it collects.
    fn warm_gc(&mut self) {
        let figures = [Figure::GcCpuShare, Figure::OptimizerCpuShare];
        let [Some(gc), optimizer] = figures.map(|figure| self.get(figure)) else { return };
        self.put(Figure::WarmGcCpuShare, gc / (1.0 - optimizer.unwrap_or_default()));
    }

    pub fn get(&self, figure: Figure) -> Option<f64> {
        self.figures.get(&figure).copied()
    }

    pub fn put(&mut self, figure: Figure, value: f64) {
        if value.is_finite() {
            self.figures.insert(figure, value);
        }
    }

    /// A figure as a reader sees it.
    pub fn text(&self, figure: Figure) -> Option<String> {
        Some(figure.in_its_unit(self.get(figure)?))
    }
}
