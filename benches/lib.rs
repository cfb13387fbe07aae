//! What all benches share: how long they measure, and on what.
//!
//! A bench asks the variants in process, without a socket. It sees the handler and the framework,
//! and none of the kernel's work: the macro lens is `lab bench`.

pub mod behind_upstream;
#[cfg(any(test, doctest))]
mod chapters;
pub mod downstream;

use std::time::Duration;

use criterion::{Criterion, PlottingBackend};
use tokio::runtime::{Builder, Runtime};

/// Criterion as every bench of this workspace runs it: short enough that all cases fit in a few
/// minutes, long enough for ten samples of the slowest variant.
pub fn criterion() -> Criterion {
    Criterion::default()
        .plotting_backend(PlottingBackend::Plotters)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}

/// Criterion for alternatives and sweeps, of which there are many: a second each, and no plots, as
/// the course draws its own.
pub fn brief_criterion() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

/// A multi-threaded Tokio runtime, such as the servers run on.
pub fn runtime() -> Runtime {
    Runtime::new().expect("a Tokio runtime can be started")
}

/// A Tokio runtime of two threads on any machine: how much a lock is fought over depends on it.
pub fn two_workers() -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a Tokio runtime can be started")
}
