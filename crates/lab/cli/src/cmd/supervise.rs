//! `lab supervise`: runs a server, and ends it with `lab`.
//!
//! A killed `lab` cannot stop its servers. So `lab` starts this process, which starts the server, and
//! notices the end of `lab` because its standard input closes.

use std::{
    os::unix::process::ExitStatusExt as _,
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use nix::{
    sys::signal::{Signal, killpg},
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
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Runs the command in its own process group until it ends, standard input closes, or a signal comes.
/// Then ends the whole group.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    block_on(async {
        let (program, args) = options.command.split_first().context("there is no command")?;
        let mut server = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
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
    })
}
