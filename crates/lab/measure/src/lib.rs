//! What is done with servers: `bench` compares them, `count` counts what a visit costs, and `watch`
//! observes them under load through a profiler.

pub mod bench;
pub mod count;
pub mod watch;
