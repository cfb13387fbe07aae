//! A build of the cases' servers, with a line of progress in place of cargo's, which names crates: their names
//! give faults away.

use std::{
    cell::RefCell,
    process::Command,
    time::{Duration, Instant},
};

use lab_system::{Program, Progress};
use serde_json::Value;
use tokio::time::sleep;

/// How often the line is drawn. What is up to date takes less.
const TICK: Duration = Duration::from_millis(500);

/// Runs a cargo that prints messages for programs, and returns them. Errors and warnings of the compiler appear as
/// they come. The limit is for the compilation of one crate.
pub async fn build(mut command: Command, limit: Duration) -> anyhow::Result<Vec<Value>> {
    command.arg("--quiet");
    let (messages, start) = (RefCell::new(Vec::new()), Instant::now());
    let read = |line: &str| {
        messages.borrow_mut().extend(serde_json::from_str::<Value>(line).ok());
        Ok(())
    };
    // No name: cargo's arguments are those of crates.
    let cargo = Program::new(command, limit).named("the build").showing_messages();
    let progress = Progress::new("building");
    let shown = async {
        loop {
            sleep(TICK).await;
            let parts = messages.borrow().iter().filter(|it| is_compiled(it)).count();
            progress.waiting(&format!("building, {parts} parts are done"), start.elapsed());
        }
    };
    tokio::select! {
        built = cargo.lines(read) => built?,
        () = shown => {}
    }
    drop(progress);
    Ok(messages.into_inner())
}

/// Whether a message says that something was compiled, and not found as it was.
fn is_compiled(message: &Value) -> bool {
    message["reason"] == "compiler-artifact" && message["fresh"] == false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Command {
        let mut command = Command::new("sh");
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
        assert_eq!(failed, "the build failed (exit status: 101); its messages are above");
        let slow = build(script("sleep 5"), Duration::ZERO).await.unwrap_err().to_string();
        assert!(slow.starts_with("the build did not finish within 0 s"), "{slow}");
    }
}
