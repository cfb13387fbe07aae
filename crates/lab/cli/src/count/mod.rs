//! The exact lens: what one page costs a variant, in numbers that repeat on any machine.
//!
//! A clock says how fast a server is, here and now. A count says how much it does, and a change of
//! the code changes it or does not: so a count can be a test. Counted are the allocations of the
//! running server, its system calls, and whatever its companions count.
//!
//! The servers are a build of their own, which counts; see `lab keep`.

mod client;
mod counts;
mod foreign;
mod gauge;
mod idle;
mod instructions;
mod measure;
pub mod reference;
mod report;
mod system_calls;

pub use counts::Counts;
pub use foreign::system_calls;
pub use instructions::Instructions;
pub use measure::measure;
pub use report::{spread, table};

/// Where a server that counts answers with `{"allocations":N,"bytes":N}`.
pub const ALLOCATIONS: &str = "/.lab/allocations";
