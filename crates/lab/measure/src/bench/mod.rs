//! Comparing servers: interleaved runs, each of a fresh process, and the record of them.

mod assess;
mod effort;
mod engine;
pub mod neighbours;
mod ratios;
mod run;
mod warm_up;

pub use effort::{Effort, SHORTEST_OPEN_LOOP};
pub use engine::Engine;
pub use run::{Comparison, generate, visit_once};
