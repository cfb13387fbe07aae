//! What distorts figures on this machine, and the command that fixes it.
//!
//! Each check is a small function from a [`System`] to a [`Finding`]. It reads `/proc`, `/sys` and
//! the programs on `PATH` only through that, so that a test can show it any machine. What a system
//! does not expose is reported as unknown, never as a fault.

mod checks;
mod finding;
mod report;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::System;

pub use checks::{INSTALL_PERF, examine};
pub use finding::{Finding, Status};
pub use report::{summary, text};
