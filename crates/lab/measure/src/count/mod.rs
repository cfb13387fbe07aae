//! Exact counts: what one visit costs a variant, in numbers that are the same on every machine.
//!
//! A clock says how fast a server is, here and now. A count says how much it does, so it can be a
//! test: allocations of the running server, its system calls, and whatever its companions count.
//!
//! The servers are built to count; see [`lab_servers::instrumented`].

mod gauge;
mod idle;
mod measure;
pub mod reference;
mod system_calls;

pub use idle::RESTLESS;
pub use measure::{Counts, measure, visit_in_steps};
pub use system_calls::{Counter, LONGEST, SYSTEM_CALLS, system_calls};
