//! Runs other programs to their end, such as git, cargo, `perf` and load engines: with a limit, and without a question.

use std::{
    fmt,
    fs::File,
    io,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStderr, ChildStdout},
    time::timeout,
};

use crate::{last_lines, repository};

/// The most that is read of its messages, in bytes.
const MOST_MESSAGES: u64 = 16 << 20;

/// A program to run to its end. It gets no input, unless one is named. At its limit, or when the future is dropped, it
/// is killed; what it has started isn't, but for [`Self::answer`], which asks all of them to end.
#[derive(Debug)]
pub struct Program {
    command: Command,
    limit: Duration,
    name: Option<String>,
    shows_messages: bool,
    /// Whether the program leads a process group, which is killed together with the program.
    leads_group: bool,
}

/// Why a program has no output.
#[derive(Debug)]
pub struct ProgramError {
    /// The program's name, or the first words of its command.
    pub name: String,
    pub why: ProgramFailure,
}

#[derive(Debug)]
pub enum ProgramFailure {
    NotStarted(io::Error),
    /// The program was killed after this time.
    TooLong(Duration),
    /// The program failed. `None` if its messages went to the terminal.
    Failed {
        status: ExitStatus,
        messages: Option<String>,
    },
    /// The caller cannot read what the program printed.
    Unreadable(anyhow::Error),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.why {
            ProgramFailure::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "cannot run {name}: is it installed?")
            }
            ProgramFailure::NotStarted(error) => write!(f, "cannot run {name}: {error}"),
            ProgramFailure::TooLong(limit) => {
                let limit = limit.as_secs();
                write!(f, "{name} did not finish within {limit} s: run it yourself to see why")
            }
            ProgramFailure::Failed { status, messages } => {
                let last = match messages {
                    Some(messages) => last_lines(messages.as_bytes()).unwrap_or_default(),
                    None => "; its messages are above".to_owned(),
                };
                write!(f, "{name} failed ({status}){last}")
            }
            ProgramFailure::Unreadable(error) => {
                write!(f, "cannot read the output of {name}: {error:#}")
            }
        }
    }
}

impl std::error::Error for ProgramError {}

impl Program {
    /// A tool of `lab`: it works in the repository of its directory, also where `lab` runs in a hook of another one.
    pub fn new(mut command: Command, limit: Duration) -> Self {
        repository::find_its_own(&mut command);
        Self::of_user(command, limit)
    }

    /// A command of the user's own, which gets the environment that the user gave `lab`.
    pub fn of_user(mut command: Command, limit: Duration) -> Self {
        command.stdin(Stdio::null());
        Self { command, limit, name: None, shows_messages: false, leads_group: false }
    }

    /// Sets the name of the program in errors, instead of the first words of its command.
    pub fn named(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    pub fn reading(mut self, file: File) -> Self {
        self.command.stdin(file);
        self
    }

    /// Sends the program's messages to the terminal as they come, and not into the error.
    pub fn showing_messages(self) -> Self {
        Self { shows_messages: true, ..self }
    }

    /// Runs the program, and returns its standard output.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, fails, or exceeds its limit of time.
    pub async fn output(self) -> Result<Vec<u8>, ProgramError> {
        let read = async |mut stdout: ChildStdout| {
            let mut printed = Vec::new();
            stdout.read_to_end(&mut printed).await.map_err(unreadable)?;
            Ok(printed)
        };
        let limit = self.limit;
        self.run(limit, None, read, &|_| {}).await
    }

    /// [`Self::output`], where nothing else can be done meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Self::output`]; also if no thread can be started.
    pub fn wait(self) -> Result<Vec<u8>, ProgramError> {
        let name = self.name();
        let ran = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime.block_on(self.output()))
        };
        // A thread of its own, because the caller's may belong to a runtime already.
        let ran = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, ran)?;
            thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
        });
        ran.unwrap_or_else(|error: io::Error| {
            Err(ProgramError { name, why: ProgramFailure::NotStarted(error) })
        })
    }

    /// Hands over each line of its standard output, which may be larger than memory. The limit is for each line.
    ///
    /// # Errors
    ///
    /// If the program cannot be started or fails, if a line exceeds the limit of time, or if `each` fails.
    pub async fn lines(
        self,
        each: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> Result<(), ProgramError> {
        self.lines_and_messages(each, &|_| {}).await
    }

    /// [`Self::lines`], and its messages: a line each, or more of them if it draws progress.
    ///
    /// # Errors
    ///
    /// As [`Self::lines`].
    pub async fn lines_and_messages(
        self,
        mut each: impl FnMut(&str) -> anyhow::Result<()>,
        message: &dyn Fn(&str),
    ) -> Result<(), ProgramError> {
        let limit = self.limit;
        let read = async |stdout: ChildStdout| {
            let mut lines = BufReader::new(stdout).split(b'\n');
            loop {
                let line = timeout(limit, lines.next_segment()).await;
                let line = line.map_err(|_| ProgramFailure::TooLong(limit))?.map_err(unreadable)?;
                let Some(line) = line else { return Ok(()) };
                let line = String::from_utf8_lossy(&line);
                each(line.trim_end()).map_err(ProgramFailure::Unreadable)?;
            }
        };
        self.run(Duration::MAX, None, read, message).await
    }

    /// Writes a line to it, and returns what it prints, which may have `most` bytes. Its first lines are handed over as
    /// they come, until `each` wants no more, and all lines of its messages. Its standard input stays open until it
    /// has ended; then what it has started ends, too.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, fails, exceeds its limit of time, or prints more than `most` bytes.
    pub async fn answer(
        self,
        line: Option<&str>,
        most: u64,
        mut each: impl FnMut(&str) -> bool,
        message: &dyn Fn(&str),
    ) -> Result<String, ProgramError> {
        let read = async |stdout: ChildStdout| {
            let (mut stdout, mut printed) = (BufReader::new(stdout.take(most + 1)), String::new());
            loop {
                let begin = printed.len();
                if stdout.read_line(&mut printed).await.map_err(unreadable)? == 0 {
                    break;
                }
                if !each(&printed[begin..]) {
                    stdout.read_to_string(&mut printed).await.map_err(unreadable)?;
                    break;
                }
            }
            if printed.len() as u64 > most {
                let printed = format!("it printed more than {} MiB", most >> 20);
                return Err(unreadable(io::Error::other(printed)));
            }
            Ok(printed)
        };
        let limit = self.limit;
        Self { leads_group: true, ..self }.run(limit, line, read, message).await
    }

    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
            let words: Vec<_> = words.take(4).map(|word| word.to_string_lossy()).collect();
            format!("`{}`", words.join(" "))
        })
    }

    async fn run<T>(
        self,
        limit: Duration,
        input: Option<&str>,
        read: impl AsyncFnOnce(ChildStdout) -> Result<T, ProgramFailure>,
        message: &dyn Fn(&str),
    ) -> Result<T, ProgramError> {
        let name = self.name();
        let ended = timeout(limit, self.ended(input, read, message)).await;
        let ended = ended.unwrap_or(Err(ProgramFailure::TooLong(limit)));
        ended.map_err(|why| ProgramError { name, why })
    }

    async fn ended<T>(
        self,
        input: Option<&str>,
        read: impl AsyncFnOnce(ChildStdout) -> Result<T, ProgramFailure>,
        message: &dyn Fn(&str),
    ) -> Result<T, ProgramFailure> {
        let mut command = tokio::process::Command::from(self.command);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        command.stdout(Stdio::piped());
        command.stderr(if self.shows_messages { Stdio::inherit() } else { Stdio::piped() });
        if self.leads_group {
            command.process_group(0);
        } else {
            command.kill_on_drop(true);
        }
        let mut child = command.spawn().map_err(ProgramFailure::NotStarted)?;
        let group = child.id().filter(|_| self.leads_group).map(ProgramGroup);
        let (mut stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let tell = async {
            // One that has ended does not read its input; its status says why.
            if let (Some(stdin), Some(input)) = (&mut stdin, input) {
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            Ok(())
        };
        let hear = async { messages(stderr, message).await.map_err(unreadable) };
        let read = async {
            match stdout {
                Some(stdout) => read(stdout).await,
                None => Err(unreadable(io::ErrorKind::BrokenPipe.into())),
            }
        };
        let end = async {
            let status = child.wait().await;
            // What it has started would keep the pipes open.
            drop(group);
            status.map_err(unreadable)
        };
        let (status, (), messages, printed) = tokio::try_join!(end, tell, hear, read)?;
        drop(stdin);
        if status.success() {
            Ok(printed)
        } else {
            Err(ProgramFailure::Failed { status, messages })
        }
    }
}

fn unreadable(error: io::Error) -> ProgramFailure {
    ProgramFailure::Unreadable(error.into())
}

/// Reads what a program writes for people, all the time, because a full pipe would stop it.
async fn messages(stderr: Option<ChildStderr>, each: &dyn Fn(&str)) -> io::Result<Option<String>> {
    let (mut messages, mut rest) = (String::new(), Vec::new());
    let Some(stderr) = stderr else { return Ok(None) };
    let mut stderr = stderr.take(MOST_MESSAGES);
    loop {
        let is_over = stderr.read_buf(&mut rest).await? == 0;
        if is_over && !rest.is_empty() {
            rest.push(b'\n');
        }
        // What a program draws again and again ends with a carriage return.
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            each(&line);
            messages += &line;
            messages.push('\n');
        }
        if is_over {
            break;
        }
    }
    Ok(Some(messages))
}

/// A program and what it has started: all get SIGTERM when this is dropped.
struct ProgramGroup(u32);

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.0) {
            let _ = killpg(Pid::from_raw(id), Signal::SIGTERM);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn program(words: &[&str]) -> Program {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        Program::new(command, Duration::from_secs(1))
    }

    fn script(text: &str) -> Program {
        program(&["sh", "-c", text])
    }

    #[test]
    fn a_program_that_fails_hangs_or_is_missing_is_named_with_its_last_lines() {
        let error = |program: Program| program.wait().unwrap_err().to_string();
        assert_eq!(
            error(script("echo 'no disk' >&2; exit 3").named("the disk")),
            "the disk failed (exit status: 3); its last lines:\n  | no disk"
        );
        let hung = error(program(&["sleep", "60"]));
        assert!(hung.starts_with("`sleep 60` did not finish within 1 s"), "{hung}");
        assert_eq!(error(program(&["no-such"])), "cannot run `no-such`: is it installed?");
    }

    #[tokio::test]
    async fn a_full_pipe_of_messages_does_not_stop_the_lines() {
        let mut lines = Vec::new();
        let many = "echo a; i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890 >&2; i=$((i+1)); \
                    done; echo b";
        let read = |line: &str| {
            lines.push(line.to_owned());
            Ok(())
        };
        script(many).lines(read).await.unwrap();
        assert_eq!(lines, ["a", "b"]);
    }

    #[tokio::test]
    async fn refused_and_missing_lines_are_errors() {
        let refuse = |_: &str| anyhow::bail!("not a number");
        let refused = script("echo a").named("it").lines(refuse).await.unwrap_err().to_string();
        assert_eq!(refused, "cannot read the output of it: not a number");
        let silent = script("echo a; sleep 60").named("it").lines(|_| Ok(())).await.unwrap_err();
        assert_eq!(silent.to_string(), "it did not finish within 1 s: run it yourself to see why");
    }

    /// `wait` would never see the end of the pipe that the other sleep holds.
    #[tokio::test]
    async fn an_answer_ends_what_its_program_has_started() {
        let messages = RefCell::new(Vec::new());
        let message = |line: &str| messages.borrow_mut().push(line.to_owned());
        let text = "read line; echo note >&2; sleep 60 & echo \"$line!\"";
        let answer =
            script(text).answer(Some("question\n"), 1 << 20, |_| true, &message).await.unwrap();
        assert_eq!((&*answer, messages.into_inner()), ("question!\n", vec!["note".to_owned()]));
        let endless =
            program(&["yes"]).answer(None, 1 << 20, |_| false, &|_| {}).await.unwrap_err();
        assert!(endless.to_string().ends_with("it printed more than 1 MiB"), "{endless}");
    }
}
