//! Measurements: `bench` compares servers, `micro` compares benchmarks, `objective` searches for the rate that a server
//! holds, `count` counts the cost of a visit, `routes` loads each request of a visit alone, and `watch` observes servers
//! under load through a profiler.

#![warn(clippy::missing_errors_doc)]

pub mod bench;
pub mod count;
pub mod micro;
pub mod objective;
mod one_run;
pub mod routes;
pub mod watch;
mod workload;

pub use lab_load::request_names;
pub use one_run::Programs;
pub use workload::Workload;
