//! Profilers' own programs.

use std::{path::Path, process::Command};

use lab_system::{ProgramError, ProgramFailure};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::process::Child;

use super::Obstacle;

/// A command that speaks English.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // The binaries have their symbols. Do not wait for a symbol server on the network.
    command.env("LC_ALL", "C").env("DEBUGINFOD_URLS", "");
    command
}

impl From<ProgramError> for Obstacle {
    fn from(error: ProgramError) -> Self {
        match &error.why {
            ProgramFailure::Failed { messages: Some(messages), .. } => {
                Self::new(format!("{} failed: {}", error.name, gist(messages)))
            }
            _ => Self::new(error.to_string()),
        }
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
