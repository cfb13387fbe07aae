//! Comparing servers: interleaved runs, each of a fresh process, and the record of them.

mod assess;
mod effort;
mod engine;
pub mod neighbours;
pub(crate) mod ratios;
mod run;
mod warm_up;

pub(crate) use assess::verdict;
pub use effort::{Effort, SHORTEST_OPEN_LOOP};
pub use engine::Engine;
pub use run::{Comparison, generate, visit_once};
