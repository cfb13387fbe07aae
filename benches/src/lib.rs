//! What all benches share: how long they measure, and on which runtime.
//!
//! A bench calls the variants in process. It sees the handler and the framework, but not the kernel's
//! work for the server's socket, which `lab bench` includes. Only the benches of `per-request-client`
//! use sockets, to their upstream.

mod alone;
mod behind_login;
pub mod behind_upstream;
pub mod downstream;

use std::time::Duration;

use criterion::{Criterion, PlottingBackend};
use tokio::runtime::{Builder, Runtime};

pub use alone::ran_each_alone;
pub use behind_login::behind_login;

/// Criterion draws its plots from all resamples, and with its own 100,000 that takes longer than the
/// measurement. Ten samples do not have more to say than these show.
const RESAMPLES: usize = 10_000;

/// Criterion for the benches in `micro/`: about three seconds a variant, and so less than a minute for
/// all cases. Two seconds of measurement are enough for ten samples of the slowest variant.
pub fn criterion() -> Criterion {
    Criterion::default()
        .plotting_backend(PlottingBackend::Plotters)
        .sample_size(10)
        .nresamples(RESAMPLES)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

/// Criterion for alternatives and sweeps. There are many, so each takes a second. The course draws its
/// own plots.
pub fn brief_criterion() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(20)
        .nresamples(RESAMPLES)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

/// A multi-threaded Tokio runtime, as the servers have.
pub fn runtime() -> Runtime {
    Runtime::new().expect("a Tokio runtime can be started")
}

/// A Tokio runtime with two threads on any machine, since lock contention depends on their number.
pub fn two_workers() -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a Tokio runtime can be started")
}
