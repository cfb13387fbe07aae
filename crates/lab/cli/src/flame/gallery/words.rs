//! What a page says in words, made from what was seen.

use super::super::{Observation, Recording, Rung, Scene, Seen, Unit};
use crate::{display::thousands, machine::Machine};

/// How it was measured, for the end of the page.
pub fn facts(scene: &Scene, seen: &Seen) -> Vec<(String, String)> {
    let machine = Machine::here();
    let mut facts =
        vec![("Profiler".to_owned(), profiler(seen)), ("Load".to_owned(), scene.load.clone())];
    for observation in &seen.observations {
        facts.push((observation.name.clone(), account(observation)));
    }
    let cpu = machine.cpu.unwrap_or_else(|| machine.arch.clone());
    facts.push(("Machine".to_owned(), format!("{cpu}, {} cores, {}", machine.cores, machine.os)));
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    facts.push(("Recorded".to_owned(), now));
    facts
}

/// Who recorded, and by what clock.
pub fn profiler(seen: &Seen) -> String {
    let recordings = || seen.observations.iter().filter_map(|it| it.recording.as_ref());
    let by_timer = recordings().next().is_some() && recordings().all(|it| it.by_timer);
    let clock = match seen.rung {
        Rung::PerfWithKernel | Rung::PerfUserOnly if by_timer => {
            ", sampled by the timer as there are no hardware counters here (fine for shares of time)"
        }
        _ => "",
    };
    format!("{}{clock}", seen.rung)
}

/// How far one server's pictures can be trusted.
fn account(observation: &Observation) -> String {
    let answered = thousands(observation.answered() as f64);
    let load_s = observation.outcome.measured.as_secs_f64();
    let mut words = vec![format!("{answered} requests answered in {load_s:.1} s")];
    if let Some(recording) = &observation.recording {
        words.push(format!("{} samples", thousands(recording.samples as f64)));
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        if let Some(rooted) = recording.rooted_share {
            words.push(format!("{} of the stacks whole", percent(rooted)));
        }
        words.push(format!("{} of the samples lost", percent(recording.lost_share)));
        if let Some(agreement) = recording.cpu_agreement() {
            words.push(format!("samples see {} of the system's CPU time", percent(agreement)));
        }
    }
    words.join(", ")
}

/// How busy a server was: `the server used 93 ms of 10,000 ms`.
pub fn busy(observation: &Observation) -> Option<String> {
    let recording = observation.recording.as_ref()?;
    let used = recording.system_cpu?.as_secs_f64() * 1e3;
    let window = recording.window.as_secs_f64() * 1e3;
    Some(format!("the server used {} ms of {} ms", thousands(used), thousands(window)))
}

/// Whether a server did next to nothing, so that its flame graph tells nothing.
pub fn is_idle(observation: &Observation) -> bool {
    let used = |recording: &Recording| {
        Some(recording.system_cpu?.as_secs_f64() / recording.window.as_secs_f64())
    };
    observation.recording.as_ref().and_then(used).is_some_and(|share| share < IDLE)
}

/// The share of one core below which a server counts as idle.
const IDLE: f64 = 0.05;

/// What one visit is: `request`, or `page of 19 requests`.
pub fn page_in_words(scene: &Scene) -> String {
    match scene.requests_per_page {
        1 => "request".to_owned(),
        requests => format!("page of {requests} requests"),
    }
}

/// Names in a row: `a, b and c`.
pub fn join(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A part of a whole, in per cent.
pub fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// A time in nanoseconds in the unit that suits it.
pub fn time(ns: u64) -> String {
    Unit::Nanoseconds.short(ns)
}

/// What is typed to make the page again, and to go on from it.
pub fn commands(scene: &Scene) -> Vec<String> {
    match scene.is_case {
        true => vec![format!("just flame {}", scene.name), format!("just bench {}", scene.name)],
        false => {
            let words: Vec<_> = std::env::args().skip(1).collect();
            vec![format!("lab {}", shell_words::join(words))]
        }
    }
}
