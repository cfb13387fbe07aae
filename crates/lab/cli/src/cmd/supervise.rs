//! `lab supervise`: runs somebody else's server so that it ends when `lab` does.
//!
//! Our own servers watch their standard input and end when it closes. Others do not, and a `lab`
//! that is killed cannot stop anything any more. So this process stands between the two.

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
    io::AsyncReadExt as _,
    process::Command,
    signal::unix::{SignalKind, signal},
    time::timeout,
};

/// How long the server may take to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(3);

/// The command to run.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Runs the command in a process group of its own until it ends, our standard input closes, or we
/// are told to end; then ends the whole group.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
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
                // What it may have left behind is stopped as well.
                let _ = killpg(group, Signal::SIGKILL);
                let status = status?;
                let code = status.code().or(status.signal().map(|signal| 128 + signal));
                return Ok(ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1)));
            }
            () = parent_gone() => {}
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        let _ = killpg(group, Signal::SIGTERM);
        let _ = timeout(PATIENCE, server.wait()).await;
        let _ = killpg(group, Signal::SIGKILL);
        server.wait().await?;
        anyhow::Ok(ExitCode::SUCCESS)
    });
    // A read of standard input may be under way on a thread that cannot be stopped.
    runtime.shutdown_background();
    code
}

/// Completes when the process that holds the other end of our standard input has closed it.
async fn parent_gone() {
    let mut stdin = tokio::io::stdin();
    let mut unused = [0; 64];
    while stdin.read(&mut unused).await.is_ok_and(|read| read > 0) {}
}
