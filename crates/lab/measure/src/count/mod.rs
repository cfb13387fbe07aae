//! Exact counts: what one visit costs a variant, in numbers that are the same on every machine.
//!
//! A clock says how fast a server is, here and now. A count says how much it does, so it can be a
//! test: allocations of the running server, its system calls, and whatever its companions count.
//!
//! The servers are built to count; see [`lab_servers::instrumented`].

mod counts;
mod gauge;
mod measure;
pub mod reference;
mod system_calls;

pub use counts::{Counts, table};
pub use measure::measure;
pub use system_calls::{Counter, LONGEST, SYSTEM_CALLS, system_calls};
