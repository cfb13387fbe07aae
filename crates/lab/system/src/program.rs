//! Runs other programs to their end, such as git and cargo.

use std::{process::Stdio, time::Duration};

use anstream::adapter::strip_str;
use anyhow::{Context as _, ensure};
use tokio::{process::Command, time::timeout};

/// How many lines of a program are shown when it fails.
const LAST_LINES: usize = 12;
/// How many columns of each are shown.
const LONGEST_LINE: usize = 200;

/// Runs a program to its end, and returns what it printed. Its messages go to `stderr`: a pipe, whose
/// last lines the error shows, or the terminal. Dropping the future ends the program.
///
/// # Errors
///
/// If it is missing, takes longer than `limit`, or fails.
pub async fn run(
    command: std::process::Command,
    limit: Duration,
    stderr: Stdio,
) -> anyhow::Result<Vec<u8>> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.take(4).map(|word| word.to_string_lossy()).collect();
    let what = format!("`{}`", words.join(" "));
    let child = Command::from(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot run {what}: is it installed?"))?;
    let output = timeout(limit, child.wait_with_output()).await;
    let output = output.ok().with_context(|| {
        format!("{what} did not finish within {} s: run it yourself to see why", limit.as_secs())
    })??;
    let last = last_lines(&output.stderr).unwrap_or_else(|| "; its message is above".to_owned());
    ensure!(output.status.success(), "{what} failed ({}){last}", output.status);
    Ok(output.stdout)
}

/// The last lines of what a program printed, as the end of an error message; `None` if there are none.
pub fn last_lines(printed: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(printed);
    let lines: Vec<_> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    let last: String = last.iter().map(|line| format!("\n  | {}", plain(line))).collect();
    (!last.is_empty()).then(|| format!("; its last lines:{last}"))
}

/// [`escaped`], and cut if it is long.
pub fn plain(line: &str) -> String {
    let line = escaped(line);
    match line.char_indices().nth(LONGEST_LINE) {
        None => line,
        Some(_) => line.chars().take(LONGEST_LINE - 1).chain(['…']).collect(),
    }
}

/// A line of another program, without colours, and with its control characters escaped: a terminal would
/// obey them, and a picture with one can't be read. So are those that turn the direction of writing.
pub fn escaped(line: &str) -> String {
    let turns = |it: char| matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let escape = |it: char| {
        if it.is_control() && it != '\t' || turns(it) {
            it.escape_default().to_string()
        } else {
            it.to_string()
        }
    };
    strip_str(line).to_string().chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_no_line_of_another_program() {
        for (line, shown) in [
            ("\x1b[32mready\x1b[0m\ton 80", "ready\ton 80"),
            ("\x1b]0;title\x07it fails\x1b[2J", "it fails"),
            ("\x1b(0q\u{9b}2J\r", "q\\u{9b}2J\\r"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\x1b]8;;http://unfinished", ""),
        ] {
            let plain = plain(line);
            assert!(!plain.contains(|it: char| it.is_control() && it != '\t'), "{plain:?}");
            assert_eq!(plain, shown);
        }
        assert_eq!(plain(&"x".repeat(9_000)).chars().count(), LONGEST_LINE);
    }

    #[tokio::test]
    async fn a_program_that_fails_hangs_or_is_missing_is_named_with_its_last_lines() {
        let error = async |args: &[&str]| {
            let mut command = std::process::Command::new(args[0]);
            command.args(&args[1..]);
            let ran = run(command, Duration::from_secs(1), Stdio::piped()).await;
            ran.unwrap_err().to_string()
        };
        let failed = error(&["sh", "-c", "echo 'no disk' >&2; exit 3"]).await;
        assert!(
            failed.ends_with("failed (exit status: 3); its last lines:\n  | no disk"),
            "{failed}"
        );
        let hung = error(&["sleep", "60"]).await;
        assert!(hung.starts_with("`sleep 60` did not finish within 1 s"), "{hung}");
        assert_eq!(error(&["no-such"]).await, "cannot run `no-such`: is it installed?");
    }
}
