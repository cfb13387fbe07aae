//! A profiler's program that is run to its end.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use super::Obstacle;

/// A command that speaks English, asks nobody and is killed when it is dropped.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LC_ALL", "C")
        // Symbols are in the binaries. A server for the others would make us wait for the network.
        .env("DEBUGINFOD_URLS", "")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// What a command said.
#[derive(Debug)]
pub(super) struct Said {
    /// On its standard output.
    pub(super) out: String,
    /// On its standard error.
    pub(super) err: String,
}

/// Runs a command to its end; `what` names it in the obstacle that it becomes if it fails or does
/// not end.
pub(super) async fn run(
    command: &mut Command,
    what: &str,
    patience: Duration,
) -> Result<Said, Obstacle> {
    let Ok(output) = timeout(patience, command.output()).await else {
        let seconds = patience.as_secs();
        return Err(Obstacle::new(format!("`{what}` did not end within {seconds} s")));
    };
    let output =
        output.map_err(|error| Obstacle::new(format!("`{what}` cannot be started: {error}")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = Said { out: text(&output.stdout), err: text(&output.stderr) };
    match output.status.success() {
        true => Ok(said),
        false => Err(Obstacle::new(format!("`{what}` failed: {}", gist(&said.err)))),
    }
}

/// The first line that says something: the ones after it are mostly advice.
pub(super) fn gist(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim);
    lines
        .find(|line| {
            !line.is_empty() && !matches!(*line, "Error:" | "Events disabled" | "Warning:")
        })
        .unwrap_or("it said nothing")
}
