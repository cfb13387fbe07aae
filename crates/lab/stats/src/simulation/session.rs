//! A simulated session: all runs of a comparison in their order, on a machine with a flaw.

use std::{array, f64::consts::TAU};

use crate::{
    Look, Slot, Speedup, SplitMix64, Verdict, control_pairs, count_error, judge, median_of,
    schedule,
};

/// What disturbs the runs, in addition to normal noise of 2 % in each run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimulatedMachine {
    /// Nothing, and the noise is 1 %.
    Quiet,
    /// Nothing.
    Steady,
    /// The speed walks at random, with a standard deviation of 8 % at the end of a session.
    Walk,
    /// The speed goes once up and down by 8 %, from a random phase on.
    Wave,
    /// Another process takes 10 to 40 % of every twelfth run or so.
    Stalls,
    /// `Walk` and `Stalls`.
    Busy,
    /// The same work takes 5.2 or 8.4 ms. The speed changes at random, also within a run, and lasts
    /// so many runs on average.
    TwoSpeeds(f64),
    /// Another process takes half of the cores in this share of each period, which lasts so many runs.
    Periodic { runs: f64, share: f64 },
    /// `Busy`, and another process that takes half of the cores for half of every fourth run.
    Noisy,
}

/// The part of a run's time that is measured: 1.4 of 2.46 s.
const MEASURED: f64 = 0.57;

/// The share of the time from 0 to `end` in which a process works that is at work at the beginning of
/// each period, for a `share` of it.
fn worked(end: f64, period: f64, share: f64) -> f64 {
    let periods = (end / period).floor();
    period * (periods * share + (end / period - periods).min(share))
}

/// Normal with a standard deviation of 1 (Box and Muller).
pub fn normal(rng: &mut SplitMix64) -> f64 {
    (2.0 * rng.exponential()).sqrt() * (TAU * rng.uniform()).cos()
}

/// The logarithms of throughput and of answers per CPU time, for consecutive runs of the same work.
/// The machine's speed moves both; a stall costs only throughput.
pub fn measure(rng: &mut SplitMix64, machine: SimulatedMachine, runs: usize) -> Vec<[f64; 2]> {
    measure_with(rng, machine, runs, runs, 1.0)
}

/// The same for runs with so many times the noise, of which so many make a session: the speed drifts as far within them.
pub fn measure_with(
    rng: &mut SplitMix64,
    machine: SimulatedMachine,
    runs: usize,
    session: usize,
    noise_factor: f64,
) -> Vec<[f64; 2]> {
    let (mut walked, mut angle) = (0.0, TAU * rng.uniform());
    let (mut is_fast, mut lasts) = (rng.uniform() < 0.5, 0.0);
    let phase = 100.0 * rng.uniform();
    let run = |nth: usize| {
        // The machine's speed, as a logarithm: it changes from run to run and within runs.
        let speed = match machine {
            SimulatedMachine::Quiet
            | SimulatedMachine::Steady
            | SimulatedMachine::Stalls
            | SimulatedMachine::Periodic { .. } => 0.0,
            SimulatedMachine::Walk | SimulatedMachine::Busy | SimulatedMachine::Noisy => {
                walked += 0.08 / (session as f64).sqrt() * normal(rng);
                walked
            }
            SimulatedMachine::Wave => {
                angle += TAU / session as f64;
                0.08 * angle.sin()
            }
            SimulatedMachine::TwoSpeeds(mean) => {
                let (mut left, mut work) = (1.0, 0.0);
                while left > 0.0 {
                    if lasts <= 0.0 {
                        (is_fast, lasts) = (!is_fast, mean * rng.exponential());
                    }
                    let part = f64::min(left, lasts);
                    work += part * if is_fast { 1.0 } else { 5.2 / 8.4 };
                    (left, lasts) = (left - part, lasts - part);
                }
                work.ln()
            }
        };
        // Time that a run loses: to a single long stall, or to a process that works periodically.
        let is_stalled = matches!(
            machine,
            SimulatedMachine::Stalls | SimulatedMachine::Busy | SimulatedMachine::Noisy
        ) && rng.uniform() < 0.08;
        let taken = match machine {
            SimulatedMachine::Periodic { runs, share } => Some((runs, share)),
            SimulatedMachine::Noisy => Some((4.0, 0.5)),
            _ => None,
        };
        let taken = taken.map_or(0.0, |(runs, share)| {
            let begin = phase * runs + nth as f64;
            let taken = worked(begin + MEASURED, runs, share) - worked(begin, runs, share);
            0.5 * taken / MEASURED
        });
        let stall = taken + if is_stalled { 0.1 + 0.3 * rng.uniform() } else { 0.0 };
        // A stall takes no CPU time, so only throughput has it.
        let noise = if machine == SimulatedMachine::Quiet { 0.01 } else { 0.02 } * noise_factor;
        [speed + (-stall).ln_1p() + noise * normal(rng), speed + noise * normal(rng)]
    };
    (0..runs).map(run).collect()
}

/// One metric of all runs that a verdict uses, as logarithms.
#[derive(Clone)]
pub struct Session {
    /// The runs of the baseline and of the candidate, pair by pair.
    baseline: Vec<f64>,
    candidate: Vec<f64>,
    /// The ratios of the control's pairs.
    control: Vec<f64>,
    /// How many candidates are judged together.
    family: usize,
}

impl Session {
    /// Throughput and CPU time of the same runs: every server is equally fast, and the last one is the
    /// candidate.
    pub fn new(
        rng: &mut SplitMix64,
        machine: SimulatedMachine,
        subjects: usize,
        pairs: usize,
    ) -> [Self; 2] {
        let [last] = &Self::all(rng, machine, subjects, pairs)[subjects - 2..] else { panic!() };
        last.each_ref().map(Self::alone)
    }

    /// The sessions of all candidates, which are judged together.
    pub fn all(
        rng: &mut SplitMix64,
        machine: SimulatedMachine,
        subjects: usize,
        pairs: usize,
    ) -> Vec<[Self; 2]> {
        let slots = schedule(subjects, pairs, (1e15 * rng.uniform()) as u64);
        let runs = measure(rng, machine, slots.len());
        (1..subjects).map(|subject| Self::of(subject, &slots, &runs)).collect()
    }

    /// The metrics of a subject in these runs.
    pub fn of(subject: usize, slots: &[Slot], runs: &[[f64; 2]]) -> [Self; 2] {
        let candidates = || (0..slots.len()).filter(|&place| slots[place].subject == subject);
        let baseline = |place: usize| {
            if slots[place - 1].pair == slots[place].pair { place - 1 } else { place + 1 }
        };
        array::from_fn(|metric| Self {
            baseline: candidates().map(|place| runs[baseline(place)][metric]).collect(),
            candidate: candidates().map(|place| runs[place][metric]).collect(),
            control: control_pairs(slots)
                .into_iter()
                .map(|(one, other)| runs[other][metric] - runs[one][metric])
                .collect(),
            family: slots.iter().map(|slot| slot.subject).max().unwrap_or(1),
        })
    }

    /// The same runs, judged as if there were no other candidate.
    pub fn alone(&self) -> Self {
        Self { family: 1, ..self.clone() }
    }

    /// The same runs with a candidate that is truly better by `effect`.
    pub fn with(&self, effect: f64) -> Self {
        let candidate = self.candidate.iter().map(|run| run + effect.ln_1p()).collect();
        Self { candidate, ..self.clone() }
    }

    /// The verdict on runs of a third of a second: twice the noise, and a rate is a whole number of
    /// answers, about this many of the baseline. If `in_step`, each run of a server begins at one
    /// point of its work.
    pub fn quick_verdict(&self, rng: &mut SplitMix64, answers: f64, in_step: bool) -> Verdict {
        let phases = [rng.uniform(), rng.uniform()];
        let mut count = |side: usize, log: &f64| {
            let phase = if in_step { phases[side] } else { rng.uniform() };
            let noise = 0.035 * normal(rng);
            (answers * (log + noise).exp() + phase).floor()
        };
        let pairs = self.baseline.iter().zip(&self.candidate);
        let pairs: Vec<_> = pairs.map(|(a, b)| [count(0, a), count(1, b)]).collect();
        if pairs.iter().flatten().any(|count| *count == 0.0) {
            return Verdict::Undecided;
        }
        let by = median_of(pairs.iter().map(|pair| count_error(pair.map(|count| count as u64))));
        let speedup = Speedup::of_pairs(pairs.iter().map(|[a, b]| b / a)).unwrap();
        let control = Speedup::of_pairs(self.control.iter().copied().map(f64::exp));
        judge(Some(&speedup.widened(by.unwrap())), control.as_ref(), 0.1).verdict
    }

    pub fn verdict(&self, minimum_effect: f64) -> Verdict {
        let (speedup, control) = self.factors();
        judge(Some(&speedup), Some(&control), minimum_effect).verdict
    }

    /// The candidate over the baseline, pair by pair.
    pub fn ratios(&self) -> impl Iterator<Item = f64> {
        self.baseline.iter().zip(&self.candidate).map(|(a, b)| (b - a).exp())
    }

    /// The verdict on the first pairs, at this look.
    pub fn verdict_at(&self, look: Look, minimum_effect: f64) -> Verdict {
        let speedup = Speedup::of_look(self.ratios(), look);
        // The control has half as many pairs.
        let control = self.control.iter().take(look.pairs.div_ceil(2)).copied().map(f64::exp);
        judge(speedup.as_ref(), Speedup::of_pairs(control).as_ref(), minimum_effect).verdict
    }

    /// The candidate over the baseline, and the baseline over itself.
    pub fn factors(&self) -> (Speedup, Speedup) {
        let control = Speedup::of_pairs(self.control.iter().copied().map(f64::exp));
        let look = Look::only(self.candidate.len(), self.family);
        (Speedup::of_look(self.ratios(), look).unwrap(), control.unwrap())
    }
}
