//! `meta.json`: what stands behind the pictures, for other programs and for doubters.

use std::{collections::BTreeMap, path::Path};

use jiff::Timestamp;
use serde::Serialize;

use super::{Observation, Rung, Scene, Seen};
use crate::machine::{Build, Machine};

/// All that is written beside the pictures of a case.
#[derive(Debug, Serialize)]
pub struct Meta {
    /// The case, or the reader's own server.
    pub name: String,
    /// When the pictures were made.
    pub created: Timestamp,
    /// The command that made them.
    pub command: Vec<String>,
    /// Where.
    pub machine: Machine,
    /// Of what.
    pub build: Build,
    /// By variant.
    pub variants: BTreeMap<String, Variant>,
    /// What a reader has to know.
    pub notices: Vec<String>,
}

impl Meta {
    /// What there is to say of a scene.
    pub fn of(scene: &Scene, seen: &Seen) -> Self {
        let dir = scene.program.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        let variant = |it: &Observation| (it.name.clone(), Variant::of(it));
        Self {
            name: scene.name.clone(),
            created: Timestamp::now(),
            command: std::env::args().collect(),
            machine: Machine::here(),
            build: Build::of(dir, dir),
            variants: seen.observations.iter().map(variant).collect(),
            notices: seen.notices.clone(),
        }
    }
}

/// How far the pictures of a variant can be trusted.
#[derive(Debug, Serialize)]
pub struct Variant {
    /// Which profiler.
    pub rung: Rung,
    /// Samples taken.
    pub samples: u64,
    /// The share of samples whose stack reaches the start of its thread.
    pub rooted_share: Option<f64>,
    /// The share of samples that were lost.
    pub lost_share: f64,
    /// CPU time by the samples over CPU time by the system's account.
    pub cpu_agreement: Option<f64>,
    /// Requests answered while the load was measured.
    pub requests: u64,
    /// Seconds over which those requests were answered.
    pub load_s: f64,
    /// Seconds that were recorded.
    pub wall_s: f64,
    /// CPU seconds of the server while it was recorded, by the system's account.
    pub cpu_s: Option<f64>,
    /// CPU microseconds of one request, by the system's account.
    pub cpu_us_per_request: Option<f64>,
}

impl Variant {
    /// What there is to say of an observation.
    pub fn of(observation: &Observation) -> Self {
        let recording = observation.recording.as_ref();
        Self {
            rung: recording.map_or(Rung::CountersOnly, |recording| recording.rung),
            samples: recording.map_or(0, |recording| recording.samples),
            rooted_share: recording.and_then(|recording| recording.rooted_share),
            lost_share: recording.map_or(0.0, |recording| recording.lost_share),
            cpu_agreement: recording.and_then(|recording| recording.cpu_agreement()),
            requests: observation.answered(),
            load_s: observation.outcome.measured.as_secs_f64(),
            wall_s: recording.map_or(0.0, |recording| recording.window.as_secs_f64()),
            cpu_s: recording
                .and_then(|recording| recording.system_cpu)
                .map(|cpu| cpu.as_secs_f64()),
            cpu_us_per_request: observation.cpu_per_request().map(|cpu| cpu.as_secs_f64() * 1e6),
        }
    }
}
