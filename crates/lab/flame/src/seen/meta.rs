//! `meta.json`: how far to trust the pictures, for other programs and for doubters.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lab_record::{Build, Machine};
use serde::Serialize;

use super::{Observation, Scene, Seen};
use crate::profilers::Profiler;

#[derive(Debug, Serialize)]
pub struct Meta {
    /// The case or your own server.
    pub name: String,
    pub created: Timestamp,
    /// The command that made the pictures.
    pub command: Vec<String>,
    pub machine: Machine,
    pub build: Build,
    pub variants: BTreeMap<String, Variant>,
    pub notices: Vec<String>,
}

impl Meta {
    pub fn of(scene: &Scene, seen: &Seen) -> Self {
        let variant = |it: &Observation| (it.name.clone(), Variant::of(it));
        Self {
            name: scene.name.clone(),
            created: Timestamp::now(),
            command: std::env::args().collect(),
            machine: Machine::here(),
            build: scene.build.clone(),
            variants: seen.observations.iter().map(variant).collect(),
            notices: seen.notices.clone(),
        }
    }
}

/// How far to trust the pictures of one server.
#[derive(Debug, Serialize)]
pub struct Variant {
    pub profiler: Profiler,
    pub samples: u64,
    /// The share of samples whose stack reaches the start of its thread.
    pub rooted_share: Option<f64>,
    pub lost_share: f64,
    /// CPU time of the samples over CPU time as the system counts it.
    pub cpu_agreement: Option<f64>,
    /// Requests answered while the load was measured.
    pub requests: u64,
    /// Seconds over which the load was measured.
    pub load_s: f64,
    /// Seconds that were recorded.
    pub wall_s: f64,
    /// CPU seconds of the server during the recording, as the system counts them.
    pub cpu_s: Option<f64>,
    /// CPU microseconds per request, as the system counts them.
    pub cpu_us_per_request: Option<f64>,
}

impl Variant {
    fn of(observation: &Observation) -> Self {
        let recording = observation.recording.as_ref();
        Self {
            profiler: recording.map_or(Profiler::None, |it| it.profiler),
            samples: recording.map_or(0, |it| it.samples),
            rooted_share: recording.and_then(|it| it.rooted_share),
            lost_share: recording.map_or(0.0, |it| it.lost_share),
            cpu_agreement: recording.and_then(|it| it.cpu_agreement()),
            requests: observation.answered,
            load_s: observation.measured.as_secs_f64(),
            wall_s: recording.map_or(0.0, |it| it.window.as_secs_f64()),
            cpu_s: recording.and_then(|it| it.system_cpu).map(|cpu| cpu.as_secs_f64()),
            cpu_us_per_request: observation.cpu_per_request().map(|cpu| cpu.as_secs_f64() * 1e6),
        }
    }
}
