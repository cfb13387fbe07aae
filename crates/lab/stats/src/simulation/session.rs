//! A simulated session: paired runs on a machine with drift, noise and stalls.

use crate::Speedup;

/// How the machine's speed changes during a session.
#[derive(Clone, Copy, Debug)]
pub enum Drift {
    /// A random walk with a standard deviation of 8 % at its end.
    Walk,
    /// One wave of 8 % up and 8 % down, with a random phase.
    Wave,
}

/// Random numbers that do not depend on the machine or on a crate's version: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct Rng(pub u64);

impl Rng {
    /// Uniform between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normal with a standard deviation of 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The logarithms of the throughputs of pairs of runs.
pub struct Session {
    pub baseline: Vec<f64>,
    pub candidate: Vec<f64>,
}

impl Session {
    /// Runs pairs in the order A B, B A; the candidate is truly faster by `effect`.
    pub fn new(rng: &mut Rng, drift: Drift, pairs: usize, effect: f64) -> Self {
        let runs = 2.0 * pairs as f64;
        let (mut walked, mut angle) = (0.0, std::f64::consts::TAU * rng.uniform());
        let mut run = || {
            walked += 0.08 / runs.sqrt() * rng.normal();
            angle += std::f64::consts::TAU / runs;
            let speed = match drift {
                Drift::Walk => walked,
                Drift::Wave => 0.08 * angle.sin(),
            };
            let stall = if rng.uniform() < 0.08 { 0.1 + 0.3 * rng.uniform() } else { 0.0 };
            speed + 0.02 * rng.normal() + (-stall).ln_1p()
        };
        let mut session = Self { baseline: Vec::new(), candidate: Vec::new() };
        for pair in 0..pairs {
            let (first, second) = (run(), run());
            let (a, b) = if pair % 2 == 0 { (first, second) } else { (second, first) };
            session.baseline.push(a);
            session.candidate.push(b + effect.ln_1p());
        }
        session
    }

    /// The logarithm of each pair's ratio.
    pub fn log_ratios(&self) -> impl Iterator<Item = f64> {
        self.baseline.iter().zip(&self.candidate).map(|(a, b)| b - a)
    }

    pub fn speedup(&self) -> Speedup {
        Speedup::of_pairs(self.log_ratios().map(f64::exp)).unwrap()
    }
}
