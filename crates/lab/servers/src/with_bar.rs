//! A cargo that shows a bar in place of what it would show: it names crates, and their names give faults away.

use std::{
    cell::{Cell, RefCell},
    io::{IsTerminal as _, stderr},
    process::Command,
    time::{Duration, Instant},
};

use lab_system::{Program, ProgramFailure, Progress, err, without_colours};

use super::cargo::CompiledTarget;

/// Has cargo count its parts where no terminal is, too. It cuts the list of crates that follows to this width.
const COUNTED: [(&str, &str); 3] = [
    ("CARGO_TERM_PROGRESS_WHEN", "always"),
    ("CARGO_TERM_PROGRESS_WIDTH", "80"),
    ("CARGO_TERM_QUIET", "false"),
];
/// Cargo counts in this time what is there already.
const FRESH: Duration = Duration::from_secs(1);
/// The columns of the verb in front of cargo's lines, such as `Compiling`.
const VERB: usize = 12;

/// Runs a cargo that prints messages for programs, and returns those about what it has compiled. Errors and warnings of
/// the compiler appear as they come. The limit is for the compilation of one crate.
pub async fn run_cargo(
    mut command: Command,
    limit: Duration,
) -> anyhow::Result<Vec<CompiledTarget>> {
    command.envs(COUNTED);
    if stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let messages = RefCell::new(Vec::new());
    let read = |line: &str| {
        messages.borrow_mut().extend(serde_json::from_str::<CompiledTarget>(line).ok());
        Ok(())
    };
    let (progress, start, begun) = (Progress::new("building"), Instant::now(), Cell::new(0));
    let show = |line: &str| match Line::of(line) {
        Line::Parts(done, total) => {
            if start.elapsed() < FRESH {
                begun.set(done);
            }
            progress.parts([begun.get(), done, total], "crates", start.elapsed());
        }
        Line::Status => {}
        Line::Message => progress.aside(|| err!("{line}")),
    };
    // No name: cargo's arguments are those of crates.
    let cargo = Program::new(command, limit).named("the build");
    let built = cargo.lines_and_messages(read, &show).await;
    drop(progress);
    built.map_err(|mut error| {
        if let ProgramFailure::Failed { messages, .. } = &mut error.why {
            *messages = None;
        }
        error
    })?;
    Ok(messages.into_inner())
}

/// The kinds of lines that cargo prints.
#[derive(Debug, PartialEq)]
enum Line {
    /// The number of crates that are done, and of all crates.
    Parts(usize, usize),
    /// A status line, which has the name of a crate.
    Status,
    /// A message for people, such as a warning.
    Message,
}

impl Line {
    fn of(line: &str) -> Self {
        let plain = without_colours(line);
        let Some((verb, rest)) = plain.split_at_checked(VERB) else { return Self::Message };
        let word = verb.trim_start();
        let is_verb = word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.chars().all(char::is_alphabetic)
            && rest.starts_with(' ');
        // It says why nothing happens.
        if !is_verb || word == "Blocking" {
            return if plain.trim().is_empty() { Self::Status } else { Self::Message };
        }
        let counted = || {
            // `Building [==> ] 12/345: serde, tokio`
            let (_, counts) = rest.split_once("] ")?;
            let (done, total) = counts.split([':', ' ']).next()?.split_once('/')?;
            Some(Self::Parts(done.parse().ok()?, total.trim_end().parse().ok()?))
        };
        counted().unwrap_or(Self::Status)
    }
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
    async fn messages_are_collected() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"api","kind":["bin"],"src_path":"/s"},"executable":null,"fresh":false}
{"reason":"build-finished","success":true}
note: no message for programs"#;
        let printed =
            run_cargo(script(&format!("echo '{messages}'")), Duration::MAX).await.unwrap();
        assert_eq!(printed.len(), 1);
    }

    #[tokio::test]
    async fn a_build_that_fails_or_does_not_end_is_an_error() {
        let failed = run_cargo(script("exit 101"), Duration::MAX).await.unwrap_err().to_string();
        assert_eq!(failed, "the build failed (exit status: 101); its messages are above");
        let slow = run_cargo(script("sleep 5"), Duration::ZERO).await.unwrap_err().to_string();
        assert!(slow.starts_with("the build did not finish within 0 s"), "{slow}");
    }

    #[test]
    fn what_names_crates_is_not_a_message_and_what_is_for_people_is_one() {
        let [bold, plain] = ["\u{1b}[1m\u{1b}[92m", "\u{1b}[0m"];
        assert_eq!(Line::of(&format!("{bold}   Compiling{plain} hot-clone v0.1.0")), Line::Status);
        assert_eq!(
            Line::of("    Building [==>     ] 12/345: serde, hot-clone"),
            Line::Parts(12, 345)
        );
        assert_eq!(
            Line::of("    Finished `release` profile [optimized] target(s) in 3s"),
            Line::Status
        );
        for line in [
            "warning: unused variable: `x`",
            "   --> crates/hot-clone/src/mine.rs:3:5",
            "   |         ^ help: remove it",
            "    Blocking waiting for file lock on build directory",
        ] {
            assert_eq!(Line::of(line), Line::Message, "{line}");
        }
    }
}
