//! Drives a `perf` that takes commands: `perf record` or `perf stat` with `--control fd:0,1`.

use std::{
    fmt,
    process::{Command, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    task::JoinHandle,
    time::timeout,
};

use super::super::program::{self, gist};

/// Why `perf` does not work.
#[derive(Debug)]
pub enum Complaint {
    NoStart(std::io::Error),
    Silent(Duration),
    Exited(String),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart(error) => write!(f, "`perf` cannot be started: {error}"),
            Self::Silent(patience) => {
                write!(f, "`perf` hung: it did not obey within {} s", patience.as_secs())
            }
            Self::Exited(message) => write!(f, "`perf` exited at once: {}", gist(message)),
        }
    }
}

impl std::error::Error for Complaint {}

/// A running `perf`; killed when dropped.
pub struct PerfControl {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    message: JoinHandle<String>,
    patience: Duration,
}

impl PerfControl {
    /// Starts `perf` and waits until it has attached, so that attaching is not part of the window.
    /// The command has to contain `--delay=-1 --control fd:0,1`: `perf` records nothing yet.
    ///
    /// # Errors
    ///
    /// If `perf` cannot be started, may not attach, or does not answer in time.
    pub async fn start(command: Command, patience: Duration) -> Result<Self, Complaint> {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().map_err(Complaint::NoStart)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(commands), Some(answers), Some(mut stderr)) = pipes else {
            return Err(Complaint::NoStart(std::io::ErrorKind::BrokenPipe.into()));
        };
        // Read all the time: a full pipe would stop `perf`.
        let message = tokio::spawn(async move {
            let mut message = Vec::new();
            let _ = stderr.read_to_end(&mut message).await;
            String::from_utf8_lossy(&message).into_owned()
        });
        let answers = BufReader::new(answers);
        let mut perf = Self { child, commands, answers, message, patience };
        // It answers only after it has attached, so this shows whether it may.
        perf.command("disable").await?;
        Ok(perf)
    }

    /// Sends a command, `enable` or `disable`, and waits until `perf` has obeyed.
    ///
    /// # Errors
    ///
    /// If `perf` has exited, or does not answer in time.
    pub async fn command(&mut self, command: &str) -> Result<(), Complaint> {
        // Writing to a `perf` that has exited fails. Reading from it says so too.
        let _ = self.commands.write_all(format!("{command}\n").as_bytes()).await;
        let mut answer = Vec::new();
        match timeout(self.patience, self.answers.read_until(b'\n', &mut answer)).await {
            Err(_) => Err(Complaint::Silent(self.patience)),
            // An answer ends with a zero byte, which arrives at the start of the next one.
            Ok(Ok(_)) if String::from_utf8_lossy(&answer).contains("ack") => Ok(()),
            Ok(_) => {
                let exited = timeout(self.patience, self.exited()).await;
                Err(exited.map_or(Complaint::Silent(self.patience), Complaint::Exited))
            }
        }
    }

    /// Asks `perf record` to write its file and to exit. `perf stat` would drop its counts: let the
    /// process that it counts exit instead.
    ///
    /// # Errors
    ///
    /// If `perf` does not exit in time.
    pub async fn finish(mut self) -> Result<(), Complaint> {
        program::interrupt(&mut self.child);
        // It exits by the signal, so its status says nothing.
        let exited = timeout(self.patience, self.child.wait()).await;
        exited.map(drop).map_err(|_| Complaint::Silent(self.patience))
    }

    /// Asks `perf stat` to report on a process that goes on running; see [`PerfControl::exited`].
    pub fn interrupt(&mut self) {
        program::interrupt(&mut self.child);
    }

    /// Waits until `perf` exits, as it does when its process has; returns what it wrote to standard
    /// error.
    pub async fn exited(&mut self) -> String {
        let _ = self.child.wait().await;
        // Do not wait long: a child of `perf` may hold the pipe open.
        let message = timeout(Duration::from_secs(1), &mut self.message).await;
        message.ok().and_then(Result::ok).unwrap_or_default()
    }
}
