//! What the figures of many runs say together: how fast, how sure, and whether that is enough.

mod median;
mod signed_rank;
#[cfg(test)]
mod simulation;
mod speedup;
mod verdict;

pub use median::median_of;
pub use signed_rank::NOMINAL;
pub use speedup::Speedup;
pub use verdict::{Judgement, Verdict, judge};
