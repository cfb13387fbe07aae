//! What all benches share: how long they measure, and on what.
//!
//! A bench asks the variants in process, without a socket. It sees the handler and the framework,
//! and none of the kernel's work: the macro lens is `lab bench`.

use std::time::Duration;

use criterion::{Criterion, PlottingBackend};
use tokio::runtime::Runtime;

/// Criterion as every bench of this workspace runs it: short enough that all cases fit in a few
/// minutes, long enough for ten samples of the slowest variant.
pub fn criterion() -> Criterion {
    Criterion::default()
        .plotting_backend(PlottingBackend::Plotters)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
}

/// A multi-threaded Tokio runtime, such as the servers run on.
pub fn runtime() -> Runtime {
    Runtime::new().expect("a Tokio runtime can be started")
}
