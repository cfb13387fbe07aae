//! `lab supervise`: runs a server, and ends it with `lab`.
//!
//! A killed `lab` cannot stop its servers. So `lab` starts this process, which starts the server, and
//! notices the end of `lab` because its standard input closes.
//!
//! The system kills the server if this process is killed itself. What the server started then becomes a child
//! of `lab`, which ends it.
//!
//! A server may put a process into the background, whose parent then ends. The server adopts it, as the
//! first process of a container does, so it stays in the tree that is measured. What is left when the
//! server has ended is adopted and ended here.

use std::{
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    pin::pin,
    process::{ExitCode, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use lab_cases::lab_itself;
use lab_system::process;
use nix::{
    sys::{
        signal::{Signal, kill, killpg},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, getpgid},
};
use tokio::{process::Command, time::timeout};

use super::{
    block_on, closed,
    interrupt::{all_ended, descendants, piped_stdin, signalled},
};

/// How long the server and its children may take to end after SIGTERM.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long the system may take to end what was killed. Then look again: a process that was being
/// started goes unseen.
const KILLED: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Become the program, with its orphans as children, and end with this parent
    #[arg(long, value_name = "PID")]
    pub adopt: Option<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

/// Runs the command in its own process group until it ends, standard input closes, or a signal comes.
/// Then ends all that it started, and returns once nothing of that runs.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    process::adopt_orphans().context("cannot adopt what a server leaves behind")?;
    if let Some(supervisor) = options.adopt {
        process::end_with_parent(supervisor).context("cannot tie the server to its supervisor")?;
        let (program, args) = options.command.split_first().context("there is no command")?;
        let error = std::process::Command::new(program).args(args).exec();
        return Err(error).with_context(|| format!("cannot start {program}"));
    }
    block_on(async {
        // Whatever can fail comes before the server: nobody would end it.
        let signalled = signalled()?;
        let stdin = piped_stdin()?;
        // The server ends with the thread that starts it, which is the main one.
        let mut server = Command::new(lab_itself()?)
            .args(["supervise", "--adopt", &std::process::id().to_string(), "--"])
            .args(&options.command)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start `lab` again")?;
        let group = Pid::from_raw(i32::try_from(server.id().context("the server has ended")?)?);
        let (mut signal, mut patience) = tokio::select! {
            _ = server.wait() => (Signal::SIGKILL, KILLED),
            () = closed(stdin) => (Signal::SIGTERM, PATIENCE),
            () = signalled => (Signal::SIGTERM, PATIENCE),
        };
        let mut ended = pin!(async {
            let status = server.wait().await;
            all_ended(&[]).await;
            status
        });
        let status = loop {
            send(signal, group);
            if let Ok(status) = timeout(patience, &mut ended).await {
                break status?;
            }
            (signal, patience) = (Signal::SIGKILL, KILLED);
        };
        // What was adopted and has ended would stay visible as a child of `lab`.
        let any = || waitpid(None, Some(WaitPidFlag::WNOHANG));
        while any().is_ok_and(|status| status != WaitStatus::StillAlive) {}
        let code = status.code().or(status.signal().map(|signal| 128 + signal));
        Ok(ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1)))
    })
}

/// Sends a signal to the server's process group, and to the processes that have left it.
fn send(signal: Signal, group: Pid) {
    let _ = killpg(group, signal);
    for pid in descendants().into_iter().filter_map(|pid| i32::try_from(pid).ok()) {
        let pid = Pid::from_raw(pid);
        if getpgid(Some(pid)).is_ok_and(|its| its != group) {
            let _ = kill(pid, signal);
        }
    }
}
