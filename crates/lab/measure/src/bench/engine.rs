//! An engine: a command that reads a load plan and prints an outcome.
//!
//! Our own generator is one, in a process of its own so that its CPU time is separate. Others are
//! scripts in `crates/lab/measure/engines`, or any program that keeps to the same protocol (`docs/src/engines.md`).

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, ensure};
use lab_cases::lab_itself;
use lab_protocol::{Arrivals, EngineOptions, Invalid, LoadPlan, Outcome};
use lab_system::{
    Program, ProgramFailure,
    process::{CpuTime, peak_rss_mib},
};
use serde_json::{Value, json};

/// Where a workspace has its engines.
const ENGINES: &str = "crates/lab/measure/engines";
/// How much longer than planned a run may take: an engine opens all connections first.
const SLACK: Duration = Duration::from_secs(120);
/// How much of that each user takes. Locust starts 100 users a second.
const RAMP: Duration = Duration::from_millis(10);
/// How long an engine may take to look for its tools.
const CHECKING: Duration = Duration::from_secs(30);
/// The longest outcome, in bytes.
const LONGEST_OUTCOME: u64 = 64 << 20;
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
    /// `lab`'s own generator.
    ///
    /// # Errors
    ///
    /// If the system doesn't say which program is running.
    pub fn lab() -> anyhow::Result<Self> {
        let program = lab_itself()?;
        let options = EngineOptions::default();
        Ok(Self { name: "lab".to_owned(), options, program, args: &["generate"] })
    }

    /// The program at a path, or the engine of this name in the workspace: the caller's, or the one
    /// that `lab` was built in.
    ///
    /// # Errors
    ///
    /// If there is no such file, and no engine with this name.
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

    /// Whether it is our own.
    fn is_lab(&self) -> bool {
        !self.args.is_empty()
    }

    /// How long other engines than our own take to start and to stop, roughly.
    pub fn start_time(users: usize) -> Duration {
        Duration::from_secs(3) + RAMP * users as u32
    }

    /// Checks that the engine has its tools.
    ///
    /// # Errors
    ///
    /// If the engine cannot be started, or lacks a tool.
    pub async fn check(&self) -> anyhow::Result<()> {
        self.check_within(CHECKING).await
    }

    async fn check_within(&self, limit: Duration) -> anyhow::Result<()> {
        self.answer(None, None, limit, &|_| {}).await.map(drop)
    }

    /// Puts the load of `plan` on its server; `note` gets the engine's notes as they come. Dropping
    /// the future ends the engine.
    ///
    /// # Errors
    ///
    /// If the engine fails, takes too long, or prints an outcome that cannot be read or be true.
    pub async fn run(&self, plan: &LoadPlan, note: &dyn Fn(&str)) -> anyhow::Result<Outcome> {
        Ok(self.run_with(plan, json!(plan.options), note).await?.0)
    }

    /// [`Self::run`], with options that may be the engine's own. Also returns all that it printed.
    ///
    /// # Errors
    ///
    /// As [`Self::run`].
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
        let has_slots = plan.requests.iter().any(|request| !request.is_fixed());
        ensure!(
            !has_slots || self.is_lab(),
            "the engine `{name}` sends the same requests again and again: leave out --engine, or what is drawn or kept"
        );
        let mut line = json!(plan);
        line["options"] = options;
        let line = format!("{line}\n");
        let began = Instant::now();
        let limit = if has_limit { limit } else { Duration::MAX };
        let (printed, metered) = self.answer(Some(&line), plan.server_pid, limit, note).await?;
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
        if !self.is_lab() {
            // One that does not name itself has the name of its file.
            outcome.engine.get_or_insert_with(|| lab_protocol::EngineInfo::named(name));
            make_plain(&mut outcome);
        }
        Ok((outcome, printed))
    }

    /// Starts the engine, and returns what it prints, and what the server used in its measurement. It ends at
    /// once when its standard input closes.
    async fn answer(
        &self,
        line: Option<&str>,
        server: Option<u32>,
        limit: Duration,
        note: &dyn Fn(&str),
    ) -> anyhow::Result<(String, Option<Used>)> {
        let mut command = Command::new(&self.program);
        command.args(self.args);
        let program = Program::new(command, limit).named(&format!("the engine `{}`", self.name));
        let last = RefCell::new(String::new());
        let message = |line: &str| match lab_system::plain(line.trim()).trim() {
            "" => {}
            line if line.starts_with(NOTE) => note(line),
            line => *last.borrow_mut() = line.trim_start_matches("error: ").to_owned(),
        };
        let (mut before, mut metered) = (None, None);
        let printed = |line: &str| {
            match line.trim_end() {
                MEASURING => before = server.and_then(CpuTime::of),
                MEASURED => metered = Some(Used::since(before.take(), server)),
                // The outcome follows.
                _ => return false,
            }
            true
        };
        let answered = program.answer(line, LONGEST_OUTCOME, printed, &message).await;
        let answered = answered.map_err(|error| match &error.why {
            ProgramFailure::Failed { status, .. } if last.borrow().is_empty() => {
                anyhow!("{} failed without a word ({status})", error.name)
            }
            ProgramFailure::Failed { .. } => anyhow!("{} failed: {}", error.name, last.borrow()),
            _ => error.into(),
        })?;
        let is_outcome = |line: &&str| ![MEASURING, MEASURED].contains(&line.trim_end());
        let outcome = answered.split_inclusive('\n').filter(is_outcome).collect();
        Ok((outcome, metered))
    }
}

/// The CPU time and memory of a server and its children while an engine measured, as far as the system shows them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_engine_that_never_answers_is_an_error() {
        let (program, name) = (PathBuf::from("sleep"), "sleep".to_owned());
        let engine = Engine { program, args: &["600"], name, options: EngineOptions::default() };
        let error = engine.check_within(Duration::from_secs(1)).await.unwrap_err().to_string();
        assert!(error.starts_with("the engine `sleep` did not finish within 1 s"), "{error}");
    }
}
