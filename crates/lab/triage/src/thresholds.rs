//! The thresholds from which a triage looks closely.

pub use lab_observation::ENOUGH_SAMPLES;

/// Costs within this factor are about the same.
pub const SAME: f64 = 1.1;

/// The level at which the server is watched closely: more users than most machines have cores, and
/// few enough for a slow server.
pub const WATCHED: usize = 16;
