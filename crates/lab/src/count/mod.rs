//! The exact lens: what one page costs a variant, in numbers that repeat on any machine.
//!
//! A clock says how fast a server is, here and now. A count says how much it does, and a change of
//! the code changes it or does not: so a count can be a test. Counted are the allocations of the
//! running server, its system calls, and whatever its companions count.
//!
//! The servers are a build of their own, which counts; see [`crate::binaries`].

mod client;
mod counts;
mod foreign;
mod gauge;
mod idle;
mod instructions;
mod measure;
mod plan;
pub mod reference;
mod report;
mod system_calls;

pub use counts::{Counts, Names};
pub use foreign::system_calls;
pub use gauge::{Gauge, growth};
pub use instructions::Instructions;
pub use measure::measure;
pub use plan::Plan;
pub use report::{spread, table};
pub use system_calls::SystemCalls;

/// The line that a server which counts its allocations prints before `listening on`.
///
/// Counting makes every allocation wait for numbers that all threads share, so such a server must
/// never be timed.
pub const ANNOUNCEMENT: &str = "counting allocations";

/// Where a server that counts answers with `{"allocations":N,"bytes":N}`.
pub const ALLOCATIONS: &str = "/.lab/allocations";
