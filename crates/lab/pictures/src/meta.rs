//! `meta.json`: how far to trust the pictures, for other programs and for doubters.

use lab_observation::{Observation, Observations, Topic};
use lab_report::{notes_for_programs, slowest};
use lab_system::{Machine, own_command};
use serde_json::{Map, Value, json};

pub fn meta(topic: &Topic, all: &Observations) -> Value {
    let variants = all.servers.iter().map(|it| (it.name.clone(), variant(it)));
    json!({
        // The case or your own server.
        "name": topic.name,
        "created": jiff::Timestamp::now(),
        "command": own_command(),
        "machine": Machine::here(),
        "build": topic.build,
        "variants": variants.collect::<Map<_, _>>(),
        "notes": notes_for_programs(&all.notes, serde_json::value::Serializer).unwrap_or_default(),
    })
}

fn variant(observation: &Observation) -> Value {
    let recording = observation.recording.as_ref();
    json!({
        "profiler": recording.map_or("none", |it| it.profiler.name),
        // How `perf` found callers.
        "unwinding": recording.and_then(|it| it.unwinder),
        "samples": recording.map_or(0, |it| it.samples),
        // The share of samples whose stack reaches the start of its thread.
        "rooted_share": recording.and_then(|it| it.rooted_share),
        "lost_share": recording.map_or(0.0, |it| it.lost_share),
        // CPU time of the samples over CPU time as the system counts it.
        "cpu_agreement": recording.and_then(|it| it.cpu_agreement()),
        // What the load measured, and for how long.
        "requests": observation.answered,
        "load_s": observation.measured.as_secs_f64(),
        "cpu_us_per_request": observation.cpu_per_request().map(|cpu| cpu.as_secs_f64() * 1e6),
        // Each request of a visit, whose CPU time is from a load of it alone; empty without one.
        "routes": observation.request_rows(),
        // What was recorded of it, and the server's CPU time in that, as the system counts it.
        "wall_s": recording.map_or(0.0, |it| it.window.as_secs_f64()),
        "cpu_s": recording.and_then(|it| it.system_cpu).map(|cpu| cpu.as_secs_f64()),
        // Random arrivals after the recording, and the answer as a sentence; null without a tail.
        "slowest": observation.slowest,
        "why_slowest": observation.slowest.as_ref().and_then(slowest),
    })
}
