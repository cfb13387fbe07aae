//! `samply`, which samples a process on macOS.
//!
//! Its file is one for Firefox's profiler. It tells addresses, and a second file tells their names.

mod profile;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    super::{Recording, Rung},
    Failure, Obstacle, Subject, program, window,
};
use crate::doctor::System;

/// The version whose files are known: their format is Firefox's, and changes with it.
const INSTALL: &str = "cargo install --locked samply@0.13.1 && samply setup";

/// Samples a second of each thread.
const RATE: u32 = 1000;

/// Whether it is there. Whether it may attach shows only then.
pub(super) fn look(system: &System) -> Result<(), Obstacle> {
    match system.program("samply") {
        Some(_) => Ok(()),
        None => Err(Obstacle::new("`samply` is missing").mend(INSTALL)),
    }
}

/// Samples for the window and reads what was written.
pub(super) async fn record(
    samply: &Path,
    subject: &Subject<'_>,
    length: Duration,
    patience: Duration,
) -> Result<Recording, Failure> {
    let file = subject.dir.join(format!("{}.samply.json", subject.name));
    let mut command = program::command(samply);
    command
        .args(["record", "--save-only", "--unstable-presymbolicate"])
        .args(["--rate", &RATE.to_string(), "--duration", &length.as_secs_f64().to_string()])
        .arg("--output")
        .arg(&file)
        .args(["--pid", &subject.pid.to_string()]);
    if let Err(obstacle) = program::run(&mut command, "samply record", length + patience).await {
        window::ensure_alive_for_a_while(subject.pid).await?;
        // It may not attach before its binary is signed.
        return Err(obstacle.mend("samply setup").into());
    }
    window::ensure_alive(subject.pid)?;
    let names = file.with_extension("syms.json");
    let stacks = read(&file)
        .and_then(|profile| profile::Stacks::read(&profile, &read(&names)?))
        .map_err(|error| Obstacle::new(format!("what `samply` wrote is odd: {error:#}")))
        .map_err(|obstacle| obstacle.mend(INSTALL))?;
    Ok(stacks.recording(Rung::Samply, length, file))
}

fn read(file: &PathBuf) -> anyhow::Result<String> {
    use anyhow::Context as _;
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}
