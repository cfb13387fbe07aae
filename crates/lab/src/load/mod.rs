//! The load generator: a closed loop of users who each wait for their answer.
//!
//! It runs in a process of its own, so that its CPU time is told from the laboratory's. A [`Plan`]
//! goes in as JSON, an [`Outcome`] comes out.

mod check;
mod closed_loop;
mod connection;
mod fetch;
mod outcome;
mod plan;
mod tally;

pub use check::Expected;
pub use closed_loop::run;
pub use connection::{Connection, Prepared, Verdict};
pub use fetch::{fetch, is_ready};
pub use outcome::{Latency, Outcome};
pub use plan::{Ask, Plan, address};
