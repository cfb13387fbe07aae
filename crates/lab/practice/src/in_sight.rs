//! Shows that something goes on while a check waits for a server.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use lab_system::Progress;
use tokio::time::timeout;

/// Shows how long something takes that may wait for a server, which may never answer.
pub(super) async fn in_sight<T>(what: &str, work: impl Future<Output = T>) -> T {
    let (progress, start, mut work) = (Progress::new(what), Instant::now(), pin!(work));
    loop {
        match timeout(Duration::from_secs(1), &mut work).await {
            Ok(done) => return done,
            Err(_) => progress.waiting(what, start.elapsed()),
        }
    }
}
