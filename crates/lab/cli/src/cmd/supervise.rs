//! `lab supervise`: runs a server, and ends it with `lab`.
//!
//! A killed `lab` cannot stop its servers. So `lab` starts this process, which starts the server, and
//! notices the end of `lab` because its standard input closes.
//!
//! A server may put a process into the background, whose parent then ends. The server adopts it, as the
//! first process of a container does, so it stays in the tree that is measured. What is left when the
//! server has ended is adopted and ended here.

use std::{
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use lab_model::lab_itself;
use lab_system::process;
use nix::{
    sys::{
        signal::{Signal, kill, killpg},
        wait::wait,
    },
    unistd::Pid,
};
use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
    time::timeout,
};

use super::{block_on, closed};

/// How long the server may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Become the program, with its orphans as children, instead of its parent
    #[arg(long)]
    pub adopt: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Runs the command in its own process group until it ends, standard input closes, or a signal comes.
/// Then ends the whole group, and what left it.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    process::adopt_orphans().context("cannot adopt what a server leaves behind")?;
    if options.adopt {
        let (program, args) = options.command.split_first().context("there is no command")?;
        let error = std::process::Command::new(program).args(args).exec();
        return Err(error).with_context(|| format!("cannot start {program}"));
    }
    let code = block_on(async {
        let mut server = Command::new(lab_itself()?)
            .args(["supervise", "--adopt", "--"])
            .args(&options.command)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start `lab` again")?;
        let group = Pid::from_raw(i32::try_from(server.id().context("the server has ended")?)?);
        let mut terminated = signal(SignalKind::terminate())?;
        let mut interrupted = signal(SignalKind::interrupt())?;
        tokio::select! {
            status = server.wait() => {
                // Also stops processes that the server started.
                let _ = killpg(group, Signal::SIGKILL);
                let status = status?;
                let code = status.code().or(status.signal().map(|signal| 128 + signal));
                return Ok(ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1)));
            }
            () = closed(tokio::io::stdin()) => {}
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        let _ = killpg(group, Signal::SIGTERM);
        let _ = timeout(PATIENCE, server.wait()).await;
        let _ = killpg(group, Signal::SIGKILL);
        server.wait().await?;
        Ok(ExitCode::SUCCESS)
    });
    end_orphans();
    code
}

/// Kills every process that is left, until there is none.
fn end_orphans() {
    let own = std::process::id();
    let end = |pid: &u32| *pid != own && kill(Pid::from_raw(*pid as i32), Signal::SIGKILL).is_ok();
    // One that has ended leaves its own children to this process.
    while process::pids(own).iter().filter(|pid| end(pid)).count() > 0 && wait().is_ok() {}
}
