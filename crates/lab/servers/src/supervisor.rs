//! The process that holds a server, and ends it when `lab` ends.

use std::{
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use lab_cases::lab_itself;
use lab_system::process;
use tokio::{
    process::{Child, ChildStdin, Command},
    time::timeout,
};

use super::{Launch, launch::Placeholders, output::ServerOutput};

/// When a server ended, for messages.
pub const BEFORE: &str = "exited before it listened";
const UNDER_LOAD: &str = "died under load";
/// The advice for a server that ends without an error.
const STAY: &str =
    "\n  a server must stay in the foreground: leave out what makes it a daemon, or ends it";
/// How long a server may take to exit: it is killed three seconds after it was asked to.
const STOP: Duration = Duration::from_secs(10);

/// `lab supervise`, with the server as its child. It ends the server when its standard input closes,
/// which happens when this is dropped, and even if this process is killed. So do not kill it. A signal
/// to the process group of `lab` does not reach it.
#[derive(Debug)]
pub struct Supervisor {
    /// The name of its server.
    name: String,
    pub process: Child,
    stdin: Option<ChildStdin>,
    pub output: ServerOutput,
}

impl Supervisor {
    /// Starts the server of `launch`.
    ///
    /// # Errors
    ///
    /// If `lab` cannot start its own program again.
    pub fn start(launch: &Launch, placeholders: &Placeholders) -> anyhow::Result<Self> {
        // What a killed supervisor leaves behind becomes a child of `lab`, which then ends it.
        process::adopt_orphans().context("cannot adopt what a supervisor leaves behind")?;
        let mut command = Command::new(lab_itself()?);
        command.args(["supervise", "--"]).arg(&launch.program);
        if let Some(dir) = &launch.dir {
            command.current_dir(dir);
        }
        launch.unset.iter().for_each(|name| {
            command.env_remove(name);
        });
        let mut process = command
            .process_group(0)
            .args(launch.args.iter().map(|arg| placeholders.fill(arg)))
            .envs(launch.env.iter().map(|(key, value)| (key, placeholders.fill(value))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let mut output = ServerOutput::default();
        output.follow(process.stdout.take().context("stdout is a pipe")?);
        output.follow(process.stderr.take().context("stderr is a pipe")?);
        Ok(Self { name: launch.name.clone(), stdin: process.stdin.take(), process, output })
    }

    /// Waits until the server exits, which is always an error; reports its status and last lines.
    pub async fn died(&mut self) -> anyhow::Error {
        match self.process.wait().await {
            Ok(status) => self.why(UNDER_LOAD, status).await,
            Err(error) => anyhow::Error::new(error).context(format!("cannot watch {}", self.name)),
        }
    }

    /// Asks the server to exit, and kills it if it does not.
    ///
    /// # Errors
    ///
    /// If it has exited before: nobody may have watched it until now.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let exited = self.process.try_wait()?;
        drop(self.stdin.take());
        let ended = timeout(STOP, self.process.wait()).await;
        let status = ended.ok().with_context(|| {
            format!("{} still runs {} s after it was asked to end", self.name, STOP.as_secs())
        })??;
        if exited.is_some() || status.signal().is_some() {
            return Err(self.why(UNDER_LOAD, status).await);
        }
        Ok(())
    }

    /// Why the server ended, and what to do about it.
    pub async fn why(&mut self, when: &str, status: ExitStatus) -> anyhow::Error {
        let name = &self.name;
        // It reports a signal that ended the server as an exit code.
        if let Some(signal) = status.signal() {
            return anyhow!(
                "the supervisor of {name} was killed by signal {signal}, so the server ended too\n  \
                 does the server kill its parent, or does the system lack memory (`dmesg`)?"
            );
        }
        let advice = if status.success() { STAY } else { "" };
        anyhow!("{name} {when} ({}){}{advice}", exit(status), self.output.last_lines().await)
    }
}

fn exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}
