//! When a server stops: on Ctrl-C, on SIGTERM, and on request with its parent.

use std::io;

use tokio::sync::oneshot;

/// Returns a future that completes when the server has to stop.
///
/// Standard input closes when the parent ends. This needs no rights, works on every system, and works
/// even when the parent was killed.
pub fn requested(exit_with_parent: bool) -> io::Result<impl Future<Output = ()>> {
    let parent_gone = exit_with_parent.then(stdin_closed);
    // Now and not at the first poll, so that a signal right after the announcement counts.
    let signalled = signalled()?;
    Ok(async move {
        let parent_gone = async {
            match parent_gone {
                Some(gone) => drop(gone.await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = signalled => {}
            () = parent_gone => {}
        }
    })
}

/// Reads on its own thread, because a blocking read in Tokio would keep the runtime from ending.
fn stdin_closed() -> oneshot::Receiver<()> {
    let (closed, on_closed) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = closed.send(());
    });
    on_closed
}

#[cfg(unix)]
fn signalled() -> io::Result<impl Future<Output = ()>> {
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
fn signalled() -> io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
