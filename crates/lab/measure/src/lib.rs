//! What is done with servers: `bench` compares them, `micro` compares benchmarks, `count` counts what a visit costs, and `watch`
//! observes them under load through a profiler.

pub mod bench;
pub mod count;
pub mod micro;
pub mod watch;
mod workload;

pub use workload::Workload;
