//! A build of the cases' servers, with a line of progress in place of cargo's, which names crates: their names
//! give faults away.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use lab_system::Progress;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    time::timeout,
};

/// How often the line is drawn. What is up to date takes less.
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
    let (mut messages, start) = (Vec::new(), Instant::now());
    let progress = Progress::new("building");
    loop {
        match timeout(TICK, lines.next_line()).await {
            Ok(Ok(Some(text))) => messages.extend(serde_json::from_str::<Value>(&text).ok()),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(error).context("cannot read what cargo prints"),
            Err(_) if start.elapsed() > limit => {
                bail!("the build did not finish within {} s", limit.as_secs())
            }
            Err(_) => {}
        }
        if start.elapsed() > TICK {
            let parts = messages.iter().filter(|it| is_compiled(it)).count();
            progress.waiting(&format!("building, {parts} parts are done"), start.elapsed());
        }
    }
    drop(progress);
    let status = child.wait().await?;
    ensure!(status.success(), "the build failed ({status}); cargo's messages are above");
    Ok(messages)
}

/// Whether a message says that something was compiled, and not found as it was.
fn is_compiled(message: &Value) -> bool {
    message["reason"] == "compiler-artifact" && message["fresh"] == false
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
