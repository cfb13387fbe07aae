//! Ends a verb early on Ctrl-C, SIGTERM or a closed terminal. Every process that the verb started ends, too.

use std::{
    future::{Future, poll_fn},
    io::stdin,
    os::fd::AsFd as _,
    process::ExitCode,
    task::Poll,
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use lab_report::translate;
use lab_system::err;
use lab_system::process;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    net::unix::pipe,
    signal::unix::{SignalKind, signal},
    task::LocalSet,
    time::{sleep, timeout},
};

/// How long the end of everything that a verb started may take. A supervisor gives its server three
/// seconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the system may take to end what was killed.
const KILLED: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);
/// How long a verb that has ended may take to keep and print its figures after a signal.
const LAST_WORK: Duration = Duration::from_secs(2);
/// The exit code that shells use for an interruption.
pub const INTERRUPTED: u8 = 130;

/// Runs a verb to its end; `None` after a signal, which drops everything that the verb holds and so
/// stops its servers. Returns once they have ended, after an error too.
pub fn interruptible<T>(
    verb: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Option<T>> {
    // Connections in HTTP/2 have tasks of their own.
    let done = block_on(async { LocalSet::new().run_until(ended(verb)).await });
    end_by_signal();
    done
}

async fn ended<T>(verb: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<Option<T>> {
    let signalled = signalled()?;
    // A shell that became `lab` by `exec` may have left some.
    let others = descendants();
    let result = tokio::select! {
        // The signal first: a terminal sends it to other programs as well, and their ends are no
        // error.
        biased;
        () = signalled => Ok(None),
        result = verb => result.map(Some),
    };
    // The rest was left behind by a supervisor that was killed.
    if timeout(PATIENCE, all_ended(&others)).await.is_err()
        && timeout(KILLED, all_killed(&others)).await.is_err()
    {
        let running: Vec<_> = running(&others).map(|pid| pid.to_string()).collect();
        let left = anyhow!("some processes still run: `kill -9 {}`", running.join(" "));
        return result.and(Err(left));
    }
    result
}

/// From now on, a signal ends this process, although it may wait for the reader of its output: the handlers of
/// Tokio stay.
fn end_by_signal() {
    let (listening, listens) = std::sync::mpsc::channel::<()>();
    let wait = move || {
        let waited = block_on(async {
            let signalled = signalled()?;
            drop(listening);
            signalled.await;
            sleep(LAST_WORK).await;
            Ok(())
        });
        if waited.is_ok() {
            std::process::exit(INTERRUPTED.into());
        }
    };
    // Without a thread, a signal waits for the reader, too.
    let _ = std::thread::Builder::new().spawn(wait);
    // Ends when the thread listens, or has failed to.
    let _ = listens.recv();
}

pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the Tokio runtime")?;
    let result = runtime.block_on(work);
    // A blocked thread must not keep the process alive.
    runtime.shutdown_background();
    result
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error, as on a full disk. The system's
/// default is to kill the process, and with it the figures.
pub fn survive_file_limit() {
    let kind = SignalKind::from_raw(Signal::SIGXFSZ as i32);
    // The handler stays when the runtime ends. Without it, all else works.
    let _ = block_on(async { Ok(signal(kind)?) });
}

/// Listens from now on; completes on Ctrl-C, on SIGTERM, and when the terminal closes.
pub fn signalled() -> anyhow::Result<impl Future<Output = ()>> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    if !ignores_hangup() {
        kinds.push(SignalKind::hangup());
    }
    let signals = kinds.into_iter().map(signal).collect::<Result<Vec<_>, _>>();
    let mut signals = signals.context("cannot wait for signals")?;
    Ok(poll_fn(move |context| {
        if signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }))
}

/// Whether this process was started to outlive its terminal, as with `nohup`.
fn ignores_hangup() -> bool {
    let ignored = process::status("/proc/self".as_ref(), "SigIgn:");
    let ignored = ignored.and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    // The lowest bit is signal 1.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

/// The processes below this one that run.
pub fn descendants() -> Vec<u32> {
    let this = std::process::id();
    let below = process::pids(this).into_iter().filter(|pid| *pid != this);
    below.filter(|pid| process::is_alive(*pid)).collect()
}

fn running(others: &[u32]) -> impl Iterator<Item = u32> {
    descendants().into_iter().filter(|pid| !others.contains(pid))
}

/// Waits until no process below this one runs, except these.
pub async fn all_ended(others: &[u32]) {
    while running(others).next().is_some() {
        sleep(POLL).await;
    }
}

/// Kills the processes below this one, except these, until none runs.
async fn all_killed(others: &[u32]) {
    while running(others).next().is_some() {
        for pid in running(others).filter_map(|pid| i32::try_from(pid).ok()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        sleep(POLL).await;
    }
}

/// Reports an interruption and what is left of the work; returns the exit code that shells use for it.
pub fn interrupted(left: &str) -> ExitCode {
    err!("\n{}", translate!("interrupted: the servers are stopped and {left}", left));
    ExitCode::from(INTERRUPTED)
}

/// Standard input, for a verb that `lab` itself starts. Only a pipe can be read without a thread, which may
/// not start.
pub fn piped_stdin() -> anyhow::Result<pipe::Receiver> {
    let stdin = stdin().as_fd().try_clone_to_owned()?;
    pipe::Receiver::from_owned_fd(stdin).context("standard input has to be a pipe")
}

/// Completes when `input` closes: a process that was started with a pipe as its standard input
/// learns this way that the other one has exited.
pub async fn closed(mut input: impl AsyncRead + Unpin) {
    let mut unused = [0; 64];
    while input.read(&mut unused).await.is_ok_and(|read| read > 0) {}
}
