//! A build of the cases' servers, with a line of progress in place of cargo's, which names crates: their names
//! give faults away.

use std::{
    io::{IsTerminal as _, Write as _, stderr},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    time::timeout,
};

/// Moves to the begin of a terminal's line, and clears it.
const CLEAR: &str = "\r\x1b[2K";
/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(500);

/// Runs a cargo that prints messages for programs, and returns them. Errors and warnings of the compiler appear as
/// they come.
pub async fn build(
    mut command: std::process::Command,
    limit: Duration,
) -> anyhow::Result<Vec<Value>> {
    command.arg("--quiet").stdin(Stdio::null()).stdout(Stdio::piped());
    let child = tokio::process::Command::from(command).kill_on_drop(true).spawn();
    let mut child = child.context("cannot run `cargo`: is it installed?")?;
    let mut lines = BufReader::new(child.stdout.take().context("stdout is a pipe")?).lines();
    let (mut messages, mut line) = (Vec::new(), Line::begun());
    loop {
        match timeout(TICK, lines.next_line()).await {
            Ok(Ok(Some(text))) => messages.extend(serde_json::from_str::<Value>(&text).ok()),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(error).context("cannot read what cargo prints"),
            Err(_) if line.start.elapsed() > limit => {
                bail!("the build did not finish within {} s", limit.as_secs())
            }
            Err(_) => {}
        }
        line.draw(messages.iter().filter(|it| is_compiled(it)).count());
    }
    drop(line);
    let status = child.wait().await?;
    ensure!(status.success(), "the build failed ({status}); cargo's messages are above");
    Ok(messages)
}

/// Whether a message says that something was compiled, and not found as it was.
fn is_compiled(message: &Value) -> bool {
    message["reason"] == "compiler-artifact" && message["fresh"] == false
}

/// `building, 12 parts are done`, and for how long.
struct Line {
    start: Instant,
    drawn: Option<Instant>,
}

impl Line {
    fn begun() -> Self {
        Self { start: Instant::now(), drawn: None }
    }

    fn draw(&mut self, parts: usize) {
        let time = self.start.elapsed();
        // What is up to date takes less.
        if time < TICK || self.drawn.is_some_and(|drawn| drawn.elapsed() < TICK) {
            return;
        }
        let is_first = self.drawn.replace(Instant::now()).is_none();
        if stderr().is_terminal() {
            let (text, seconds) = (format!("building, {parts} parts are done"), time.as_secs());
            let text = format!("{CLEAR}  {text:<56} {}:{:02}", seconds / 60, seconds % 60);
            let _ = write!(stderr(), "{text}");
        } else if is_first {
            let _ = writeln!(stderr(), "building");
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.drawn.is_some() && stderr().is_terminal() {
            let _ = write!(stderr(), "{CLEAR}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> std::process::Command {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", text, "sh"]);
        command
    }

    #[tokio::test]
    async fn messages_are_collected_and_a_failure_is_an_error() {
        let messages = r#"{"reason":"compiler-artifact","fresh":false}
{"reason":"compiler-artifact","fresh":true}
note: no message for programs"#;
        let printed = build(script(&format!("echo '{messages}'")), Duration::MAX).await.unwrap();
        assert_eq!(printed.iter().map(is_compiled).collect::<Vec<_>>(), [true, false]);
        let failed = build(script("exit 101"), Duration::MAX).await.unwrap_err().to_string();
        assert!(failed.contains("cargo's messages are above"), "{failed}");
        let slow = build(script("sleep 5"), Duration::ZERO).await.unwrap_err().to_string();
        assert_eq!(slow, "the build did not finish within 0 s");
    }
}
