//! The standard flame graph of each recording, for readers who know its form from other tools.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use lab_model::Output;

use lab_observation::{Observation, Observations, Topic};

/// Writes the stacks of a server as they were recorded, and lets `program` (`lab-flamegraph`) draw
/// them; returns the picture's name. Without samples or a program there is no picture.
///
/// # Errors
///
/// If the program fails.
pub fn draw(
    topic: &Topic,
    all: &Observations,
    observation: &Observation,
    program: Option<&Path>,
    output: &Output,
) -> anyhow::Result<Option<String>> {
    let server = &observation.name;
    let Some(recording) = observation.recording.as_ref().filter(|it| it.samples > 0) else {
        return Ok(None);
    };
    let folded = stacks_of(observation);
    output.write(&folded, &recording.stacks.demangled().to_string())?;
    let Some(program) = program else { return Ok(None) };
    let (subject, picture) = match topic.servers.len() {
        1 => (topic.name.clone(), "raw.svg".to_owned()),
        _ => (format!("{}, {server}", topic.name), format!("{server}.raw.svg")),
    };
    let drawn = Command::new(program)
        .args(["--deterministic", "--title", &format!("{subject}: all samples as recorded")])
        .args(["--subtitle", &all.profiler.to_string()])
        .stdin(File::open(output.dir().join(&folded))?)
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let message = String::from_utf8_lossy(&drawn.stderr);
    ensure!(drawn.status.success(), "{} failed: {}", program.display(), message.trim());
    output.write(&picture, &String::from_utf8(drawn.stdout)?)?;
    Ok(Some(picture))
}

/// The file of the stacks of a server as they were recorded.
pub fn stacks_of(observation: &Observation) -> String {
    format!("{}.folded", observation.name)
}
