//! `perf record`, attached to a server and told when to begin and to end.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use super::{super::Obstacle, Complaint};

/// A running `perf record`; killed when it is dropped.
pub(super) struct Attached {
    child: Child,
    control: ChildStdin,
    answers: BufReader<ChildStdout>,
    said: JoinHandle<String>,
    patience: Duration,
}

impl Attached {
    /// Starts it and waits until it has attached. It records nothing before it is told to, so that
    /// the time that it takes for that is outside the window.
    pub(super) async fn start(mut command: Command, patience: Duration) -> Result<Self, Complaint> {
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(Complaint::no_start)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(control), Some(answers), Some(mut stderr)) = pipes else {
            return Err(Complaint::Said("it has no pipes".to_owned()));
        };
        // Read all the time, lest a full pipe stops it.
        let said = tokio::spawn(async move {
            let mut said = Vec::new();
            let _ = stderr.read_to_end(&mut said).await;
            String::from_utf8_lossy(&said).into_owned()
        });
        let mut perf = Self { child, control, answers: BufReader::new(answers), said, patience };
        // It answers only after it has attached, so this finds out whether it may.
        perf.command("disable").await?;
        Ok(perf)
    }

    /// Gives a command and waits until it is obeyed.
    pub(super) async fn command(&mut self, command: &str) -> Result<(), Complaint> {
        // A `perf` that has ended cannot be written to; its silence tells that too.
        let _ = self.control.write_all(format!("{command}\n").as_bytes()).await;
        let mut answer = Vec::new();
        match timeout(self.patience, self.answers.read_until(b'\n', &mut answer)).await {
            Err(_) => Err(Complaint::Silent(self.patience)),
            // It ends its answers with a zero byte, which lands in front of the next one.
            Ok(Ok(_)) if String::from_utf8_lossy(&answer).contains("ack") => Ok(()),
            Ok(_) => {
                let ended = timeout(self.patience, self.ended()).await;
                Err(ended.unwrap_or(Complaint::Silent(self.patience)))
            }
        }
    }

    /// Waits until it ends, which it should not do yet, and takes what it said.
    pub(super) async fn ended(&mut self) -> Complaint {
        let _ = self.child.wait().await;
        // Not for long, as a process that it started may hold the pipe open.
        let said = timeout(Duration::from_secs(1), &mut self.said).await;
        Complaint::Said(said.ok().and_then(Result::ok).unwrap_or_default())
    }

    /// Lets it write its file to the end.
    pub(super) async fn finish(mut self) -> Result<(), Obstacle> {
        ask_to_end(&mut self.child);
        match timeout(self.patience, self.child.wait()).await {
            // It ends by the signal that it was sent, so that its status says nothing.
            Ok(_) => Ok(()),
            Err(_) => Err(Complaint::Silent(self.patience).as_obstacle()),
        }
    }
}

#[cfg(unix)]
fn ask_to_end(child: &mut Child) {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    // Not waited for yet, so the number is still its own.
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
}

#[cfg(not(unix))]
fn ask_to_end(child: &mut Child) {
    let _ = child.start_kill();
}
