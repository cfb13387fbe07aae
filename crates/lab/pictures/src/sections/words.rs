//! What a page says in words.

use lab_observation::{Observation, Observations, Topic, Unit};
use lab_report::thousands;
use lab_system::Machine;

/// How it was measured, for the end of the page.
pub fn facts(topic: &Topic, all: &Observations) -> Vec<(String, String)> {
    let fact = |name: &str, value| (name.to_owned(), value);
    let mut facts = vec![fact("Profiler", all.made_by()), fact("Load", topic.load.clone())];
    facts.extend(all.servers.iter().map(|it| fact(&it.name, basis(it))));
    facts.push(fact("Machine", Machine::here().to_string()));
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    facts.push(fact("Recorded", now));
    facts
}

/// What one server's pictures are made of; `meta.json` has more.
fn basis(observation: &Observation) -> String {
    let answered = thousands(observation.answered as f64);
    let load_s = observation.measured.as_secs_f64();
    let mut words = format!("{answered} requests answered in {load_s:.1} s");
    if let Some(recording) = &observation.recording {
        let (samples, lost) = (thousands(recording.samples as f64), 100.0 * recording.lost_share);
        words += &format!(", {samples} samples, {lost:.1} % lost");
    }
    words
}

/// How busy a server was: `the server used 93 ms of 10,000 ms`.
pub fn busy(observation: &Observation) -> Option<String> {
    let recording = observation.recording.as_ref()?;
    let used = recording.system_cpu?.as_secs_f64() * 1e3;
    let window = recording.window.as_secs_f64() * 1e3;
    Some(format!("the server used {} ms of {} ms", thousands(used), thousands(window)))
}

/// A part of a whole, as a percentage.
pub fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Nanoseconds in the unit that fits.
pub fn time(ns: u64) -> String {
    lab_report::weight(Unit::Nanoseconds, ns)
}
