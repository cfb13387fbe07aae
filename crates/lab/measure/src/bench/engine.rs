//! An engine: a command that reads a load plan and prints an outcome.
//!
//! Our own generator is one, in a process of its own so that its CPU time is separate. Others are
//! scripts in `benches/engines`, or any program that keeps to the same protocol (`docs/src/engines.md`).

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use lab_cases::lab_itself;
use lab_model::{Arrivals, EngineOptions, Invalid, LoadPlan, Outcome};
use lab_system::process::{CpuTime, peak_rss_mib};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    time::timeout,
};

/// Where a workspace has its engines.
const ENGINES: &str = "benches/engines";
/// How much longer than planned a run may take: an engine opens all connections first.
const SLACK: Duration = Duration::from_secs(120);
/// How much of that each user takes. Locust starts 100 users a second.
const RAMP: Duration = Duration::from_millis(10);
/// How long an engine may take to look for its tools.
const CHECKING: Duration = Duration::from_secs(30);
/// The longest outcome, in bytes, and the most that is read of what an engine says.
const LONGEST_OUTCOME: u64 = 64 << 20;
const LONGEST_WORDS: u64 = 16 << 20;
/// Lines on standard output with which an engine says that the measurement begins, and that it is over.
const MEASURING: &str = "measuring";
const MEASURED: &str = "measured";
/// Lines on standard error that begin like this are for the user, even if the run succeeds.
const NOTE: &str = "note: ";

#[derive(Clone, Debug)]
pub struct Engine {
    pub name: String,
    pub options: EngineOptions,
    program: PathBuf,
    args: &'static [&'static str],
}

impl Engine {
    pub fn lab() -> anyhow::Result<Self> {
        let program = lab_itself()?;
        let options = EngineOptions::default();
        Ok(Self { name: "lab".to_owned(), options, program, args: &["generate"] })
    }

    /// The program at a path, or the engine of this name in the workspace: the caller's, or the one
    /// that `lab` was built in.
    pub fn find(name: &str, workspace: Option<&Path>) -> anyhow::Result<Self> {
        let lab = Self::lab()?;
        let program = if name.contains('/') {
            PathBuf::from(name)
        } else {
            let roots = workspace.into_iter().chain(lab.program.ancestors());
            let mut engines = roots.map(|root| root.join(ENGINES).join(name));
            engines.find(|program| program.is_file()).with_context(|| {
                format!(
                    "there is no engine `{name}`: give the name of one in {ENGINES}, or a path such as \
                     ./{name}"
                )
            })?
        };
        let name = program.file_name().context("an engine is a file")?;
        Ok(Self { name: name.to_string_lossy().into_owned(), program, args: &[], ..lab })
    }

    /// How long other engines than our own take to start and to stop, roughly.
    pub fn start_time(users: usize) -> Duration {
        Duration::from_secs(3) + RAMP * users as u32
    }

    /// Fails if the engine misses something. Without a plan, it only looks for its tools.
    pub async fn check(&self) -> anyhow::Result<()> {
        self.check_within(CHECKING).await
    }

    async fn check_within(&self, limit: Duration) -> anyhow::Result<()> {
        let checked = timeout(limit, self.process(None, None, &|_| {})).await;
        let checked = checked.with_context(|| {
            let limit = limit.as_secs();
            format!("the engine `{}` did not finish its check within {limit} s", self.name)
        })?;
        checked.map(drop)
    }

    /// Puts the load of `plan` on its server; `note` gets the engine's notes as they come. Dropping
    /// the future ends the engine.
    pub async fn run(&self, plan: &LoadPlan, note: &dyn Fn(&str)) -> anyhow::Result<Outcome> {
        Ok(self.run_with(plan, json!(plan.options), note).await?.0)
    }

    /// [`Self::run`], with options that may be the engine's own. Also returns all that it printed.
    pub async fn run_with(
        &self,
        plan: &LoadPlan,
        options: Value,
        note: &dyn Fn(&str),
    ) -> anyhow::Result<(Outcome, Value)> {
        let name = &self.name;
        let users = match plan.arrivals {
            Arrivals::ClosedLoop(load) => load.users,
            Arrivals::OpenLoop(load) => load.connections,
        };
        let limit = plan.warm_up + plan.measurement + plan.grace + SLACK + RAMP * users as u32;
        // Somebody has to start the workers on the other machines first.
        let has_limit = options["listen"].is_null();
        let mut line = json!(plan);
        line["options"] = options;
        let line = format!("{line}\n");
        let began = Instant::now();
        let process = self.process(Some(&line), plan.server_pid, note);
        let (printed, metered) = if has_limit {
            timeout(limit, process).await.ok().with_context(|| {
                format!("the engine `{name}` did not finish within {} s", limit.as_secs())
            })??
        } else {
            process.await?
        };
        let unreadable = || format!("the outcome of the engine `{name}` cannot be read");
        let mut outcome: Outcome = serde_json::from_str(&printed).with_context(unreadable)?;
        let mut printed: Value = serde_json::from_str(&printed).with_context(unreadable)?;
        if let Some(used) = metered {
            (outcome.server_cpu, outcome.server_peak_rss_mib) = (used.cpu, used.peak_rss_mib);
            printed["server_cpu_s"] = json!(used.cpu.map(|cpu| cpu.as_secs_f64()));
            printed["server_peak_rss_mib"] = json!(used.peak_rss_mib);
        }
        outcome
            .check(plan, began.elapsed())
            .with_context(|| format!("the outcome of the engine `{name}` cannot be true"))?;
        if let Some(unanswered) = outcome.unanswered.take() {
            let ended = outcome.sent - outcome.unfinished;
            outcome.lost = unanswered.lost(ended, outcome.measured);
        }
        if self.args.is_empty() {
            // One that does not name itself has the name of its file.
            outcome.engine.get_or_insert_with(|| lab_model::Engine::named(name));
            make_plain(&mut outcome);
        }
        Ok((outcome, printed))
    }

    /// Starts the engine, and returns what it prints, and what the server used in its measurement. Its
    /// standard input stays open until it has ended, because it ends at once when that closes.
    async fn process(
        &self,
        line: Option<&str>,
        server: Option<u32>,
        note: &dyn Fn(&str),
    ) -> anyhow::Result<(String, Option<Used>)> {
        let mut child = Command::new(&self.program)
            .args(self.args)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start the engine {}", self.program.display()))?;
        let group =
            Group(Pid::from_raw(i32::try_from(child.id().context("it was not waited for")?)?));
        let mut stdin = child.stdin.take();
        let stdout = child.stdout.take().context("stdout is a pipe")?;
        let stderr = child.stderr.take().context("stderr is a pipe")?;
        match (line, &mut stdin) {
            // One that has ended does not read its plan; its status says why.
            (Some(line), Some(stdin)) => drop(stdin.write_all(line.as_bytes()).await),
            _ => drop(stdin.take()),
        }
        let outcome = async {
            let mut stdout = BufReader::new(stdout.take(LONGEST_OUTCOME + 1));
            let (mut printed, mut before, mut metered) = (String::new(), None, None);
            loop {
                stdout.read_line(&mut printed).await?;
                match printed.trim_end() {
                    MEASURING => before = server.and_then(CpuTime::of),
                    MEASURED => metered = Some(Used::since(before.take(), server)),
                    // The outcome follows.
                    _ => break,
                }
                printed.clear();
            }
            stdout.read_to_string(&mut printed).await?;
            if stdout.get_ref().limit() == 0 {
                return Err(std::io::Error::other("it printed more than 64 MiB"));
            }
            Ok((printed, metered))
        };
        let ended = async {
            let status = child.wait().await;
            // Tools that it left behind would keep the pipes open.
            drop(group);
            status
        };
        let (status, words, printed) =
            tokio::try_join!(ended, last_words(stderr.take(LONGEST_WORDS), note), outcome)
                .with_context(|| format!("cannot use the engine `{}`", self.name))?;
        match (status.success(), &*words) {
            (true, _) => Ok(printed),
            (false, "") => bail!("the engine `{}` failed without a word ({status})", self.name),
            (false, words) => bail!("the engine `{}` failed: {words}", self.name),
        }
    }
}

/// What a server and its children used while an engine measured, as far as the system shows it.
#[derive(Debug)]
struct Used {
    cpu: Option<Duration>,
    peak_rss_mib: Option<f64>,
}

impl Used {
    fn since(before: Option<CpuTime>, server: Option<u32>) -> Self {
        let cpu = server.and_then(CpuTime::of).zip(before);
        Self {
            cpu: cpu.and_then(|(now, before)| now.since(&before)),
            peak_rss_mib: server.and_then(peak_rss_mib),
        }
    }
}

/// Cleans what another program says in words: a terminal would obey its control characters.
fn make_plain(outcome: &mut Outcome) {
    let Outcome { first_fault, invalid, engine, .. } = outcome;
    let invalid = invalid.iter_mut().filter_map(|why| match why {
        Invalid::Sentence(words) => Some(words),
        _ => None,
    });
    let words = engine.iter_mut().flat_map(|engine| {
        [&mut engine.name, &mut engine.version].into_iter().chain(&mut engine.notes)
    });
    for words in words.chain(first_fault).chain(invalid) {
        *words = lab_system::plain(words);
    }
}

/// The last line that is no note; passes the notes on.
async fn last_words(
    stderr: impl AsyncRead + Unpin,
    note: &dyn Fn(&str),
) -> std::io::Result<String> {
    let (mut lines, mut last) = (BufReader::new(stderr).lines(), String::new());
    while let Some(line) = lines.next_line().await? {
        match lab_system::plain(line.trim()).trim() {
            "" => {}
            line if line.starts_with(NOTE) => note(line),
            line => last = line.trim_start_matches("error: ").to_owned(),
        }
    }
    Ok(last)
}

/// An engine and the tools that it started: all end when this is dropped.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = killpg(self.0, Signal::SIGTERM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_engine_that_never_answers_is_an_error() {
        let (program, name) = (PathBuf::from("sleep"), "sleep".to_owned());
        let engine = Engine { program, args: &["600"], name, options: EngineOptions::default() };
        let error = engine.check_within(Duration::from_secs(1)).await.unwrap_err().to_string();
        assert_eq!(error, "the engine `sleep` did not finish its check within 1 s");
    }
}
