//! Comparing servers: an [`Experiment`] says what is measured, [`run`] measures it, and [`assess`] judges the runs.

mod alone;
mod assess;
mod by_request;
mod effort;
mod engine;
mod experiment;
mod neighbours;
pub(crate) mod ratios;
mod run;
mod until;
mod warm_up;

pub use alone::{CostAlone, alone_takes};
pub(crate) use assess::verdict;
pub use assess::{assess, assess_each};
pub use effort::{Effort, SHORTEST_OPEN_LOOP};
pub use engine::Engine;
pub use experiment::Experiment;
pub use neighbours::NeighbourMeter;
pub(crate) use run::Runner;
pub use run::{Runs, SystemCalls, Uncounted, generate, run, visit_once};
pub use until::Until;
pub(crate) use until::{Looks, Next};
pub use warm_up::{LongWarmUp, find_warm_up, watching};
