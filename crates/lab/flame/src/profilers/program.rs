//! Runs a profiler's program to its end.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use super::Obstacle;

/// A command that speaks English, asks no questions and is killed when dropped.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LC_ALL", "C")
        // The binaries have their symbols. Do not wait for a symbol server on the network.
        .env("DEBUGINFOD_URLS", "")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Runs a command to its end and returns its standard output; `what` names it in the obstacle if it
/// fails or hangs.
pub async fn run(
    command: &mut Command,
    what: &str,
    patience: Duration,
) -> Result<String, Obstacle> {
    let Ok(output) = timeout(patience, command.output()).await else {
        let seconds = patience.as_secs();
        return Err(Obstacle::new(format!("`{what}` did not end within {seconds} s")));
    };
    let output =
        output.map_err(|error| Obstacle::new(format!("`{what}` cannot be started: {error}")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let message = String::from_utf8_lossy(&output.stderr);
            Err(Obstacle::new(format!("`{what}` failed: {}", gist(&message))))
        }
    }
}

/// The first line with content: later lines are mostly advice.
pub fn gist(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim);
    let noise = ["", "Error:", "Events disabled", "Warning:"];
    lines.find(|line| !noise.contains(line)).unwrap_or("no message")
}
