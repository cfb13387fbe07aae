//! A verb that Ctrl-C ends.

use std::{future::Future, process::ExitCode};

use anyhow::Context as _;

/// Runs a verb to its end, or until Ctrl-C: then everything that it holds is dropped, and with it
/// go the servers that it started.
pub fn interruptible<T>(verb: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<Ended<T>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the Tokio runtime")?;
    runtime.block_on(async {
        tokio::select! {
            // First the signal: from a terminal the servers get it too, and their deaths are no news.
            biased;
            signal = told_to_end() => {
                signal.context("cannot wait for signals")?;
                Ok(Ended::Interrupted)
            }
            result = verb => result.map(Ended::Finished),
        }
    })
}

/// Completes on Ctrl-C, and on SIGTERM where there is such a thing.
async fn told_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// How a verb ended.
pub enum Ended<T> {
    Finished(T),
    Interrupted,
}

/// Tells of an interruption, with the exit code that shells give to one.
pub fn interrupted() -> ExitCode {
    eprintln!("\ninterrupted: the servers are stopped and nothing was written");
    ExitCode::from(130)
}
