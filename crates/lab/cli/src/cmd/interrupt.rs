//! Ctrl-C ends a verb and stops its servers.

use std::{future::Future, process::ExitCode};

use anyhow::Context as _;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    signal::unix::{SignalKind, signal},
};

/// Runs a verb to its end; `None` after Ctrl-C, which drops everything that the verb holds and so stops
/// its servers.
pub fn interruptible<T>(
    verb: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Option<T>> {
    block_on(async {
        tokio::select! {
            // The signal first: a terminal sends it to the servers as well, and their ends are no error.
            biased;
            signal = signalled() => {
                signal.context("cannot wait for signals")?;
                Ok(None)
            }
            result = verb => result.map(Some),
        }
    })
}

/// Does some work on this thread.
pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the Tokio runtime")?;
    let result = runtime.block_on(work);
    // A blocked read of standard input must not keep the process alive.
    runtime.shutdown_background();
    result
}

/// Completes on Ctrl-C and on SIGTERM.
async fn signalled() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

/// Reports an interruption and what is left of the work; returns the exit code that shells use for it.
pub fn interrupted(left: &str) -> ExitCode {
    eprintln!("\ninterrupted: the servers are stopped and {left}");
    ExitCode::from(130)
}

/// Completes when `input` closes: a process that was started with a pipe as its standard input
/// learns this way that the other one has exited.
pub async fn closed(mut input: impl AsyncRead + Unpin) {
    let mut unused = [0; 64];
    while input.read(&mut unused).await.is_ok_and(|read| read > 0) {}
}
