//! When a server stops: on Ctrl-C and on SIGTERM.

use std::io;

/// Returns a future that completes when the server has to stop. A signal counts from now on, and not only from
/// the first poll.
#[cfg(unix)]
pub fn requested() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub fn requested() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
