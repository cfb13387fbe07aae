//! Runs a profiler's program to its end.

use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

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

/// Runs a command to its end and hands over each line of its standard output, which may be larger
/// than memory. `patience` is for each line.
pub async fn read_lines(
    command: &mut Command,
    what: &str,
    patience: Duration,
    mut each: impl FnMut(&str) -> anyhow::Result<()>,
) -> Result<(), Obstacle> {
    let child = command.spawn();
    let mut child =
        child.map_err(|error| Obstacle::new(format!("`{what}` cannot be started: {error}")))?;
    let stdout = child.stdout.take();
    let read = async {
        let Some(stdout) = stdout else { return Ok(()) };
        let mut lines = BufReader::new(stdout).split(b'\n');
        loop {
            let line = timeout(patience, lines.next_segment()).await;
            let Ok(Some(line)) = line.map_err(|_| hung(what, patience))? else { return Ok(()) };
            each(String::from_utf8_lossy(&line).trim_end()).map_err(|error| {
                Obstacle::new(format!("cannot parse the output of `{what}`: {error:#}"))
            })?;
        }
    };
    let ended = async { succeeded(child.wait_with_output().await, what) };
    // Its messages are read at the same time, because a full pipe would block it. On an error, it is
    // dropped and thereby killed.
    tokio::try_join!(read, ended).map(drop)
}

fn hung(what: &str, patience: Duration) -> Obstacle {
    Obstacle::new(format!("`{what}` did not end within {} s", patience.as_secs()))
}

fn succeeded(output: std::io::Result<Output>, what: &str) -> Result<(), Obstacle> {
    let output =
        output.map_err(|error| Obstacle::new(format!("cannot wait for `{what}`: {error}")))?;
    if output.status.success() {
        Ok(())
    } else {
        let message = String::from_utf8_lossy(&output.stderr);
        Err(Obstacle::new(format!("`{what}` failed: {}", gist(&message))))
    }
}

/// Sends Ctrl-C, on which profilers write what they have recorded and exit.
pub fn interrupt(child: &mut Child) {
    // Nobody has waited for it yet, so the number is still its own.
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
    }
}

/// The first line with content: later lines are mostly advice.
pub fn gist(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim);
    let noise = ["", "Error:", "Events disabled", "Warning:"];
    lines.find(|line| !noise.contains(line)).unwrap_or("no message")
}
