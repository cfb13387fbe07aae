//! System calls of a running process, counted by the kernel: `perf stat`, where it is there and
//! permitted.

use std::{process::Stdio, time::Duration};

use anyhow::{Context as _, ensure};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// Every entry into the kernel on request of the process.
const EVENT: &str = "raw_syscalls:sys_enter";

/// How long `perf` may take to obey.
const PATIENCE: Duration = Duration::from_secs(10);

/// `perf`, attached to a process.
pub struct SystemCalls {
    perf: Child,
    control: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl SystemCalls {
    /// Attaches to all threads of a process, those that it still starts included, and counts
    /// nothing yet. The error says what is missing.
    pub async fn attach(pid: u32) -> anyhow::Result<Self> {
        let mut perf = Command::new("perf")
            .args(["stat", "-x", ",", "-e", EVENT, "--delay=-1", "--control", "fd:0,1", "-p"])
            .arg(pid.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("`perf` cannot be started")?;
        let control = perf.stdin.take().context("stdin is a pipe")?;
        let answers = BufReader::new(perf.stdout.take().context("stdout is a pipe")?);
        let mut calls = Self { perf, control, answers };
        // It answers only after it has attached, so this finds out whether it may.
        calls.command("disable").await.context("`perf` may not count system calls here")?;
        Ok(calls)
    }

    /// Counts from here on.
    pub async fn begin(&mut self) -> anyhow::Result<()> {
        self.command("enable").await
    }

    /// Counts no more.
    pub async fn end(&mut self) -> anyhow::Result<()> {
        self.command("disable").await
    }

    /// How many there were between begin and end. `perf` tells it when the process has ended, so
    /// that has to come first.
    pub async fn total(self) -> anyhow::Result<u64> {
        let output = timeout(PATIENCE, self.perf.wait_with_output()).await;
        let output =
            output.context("`perf` does not end")?.context("`perf` cannot be waited for")?;
        count(&String::from_utf8_lossy(&output.stderr))
    }

    async fn command(&mut self, command: &str) -> anyhow::Result<()> {
        self.control.write_all(format!("{command}\n").as_bytes()).await.context("it has ended")?;
        let mut answer = String::new();
        timeout(PATIENCE, self.answers.read_line(&mut answer)).await.context("it is silent")??;
        // It ends its answers with a zero byte, which lands in front of the next one.
        ensure!(answer.contains("ack"), "it does not obey");
        Ok(())
    }
}

/// The number in the line of the event: `38,,raw_syscalls:sys_enter,...`.
fn count(lines: &str) -> anyhow::Result<u64> {
    let line = lines.lines().find(|line| line.contains(EVENT));
    let number = line.and_then(|line| line.split(',').next()?.parse().ok());
    number.with_context(|| format!("`perf` does not say how many, but `{}`", lines.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_its_line() {
        let lines = "# started\n38,,raw_syscalls:sys_enter,21004,100.00,,\n";
        assert_eq!(count(lines).unwrap(), 38);
        assert!(count("<not counted>,,raw_syscalls:sys_enter,0,100.00,,").is_err());
        assert!(count("").is_err());
    }
}
