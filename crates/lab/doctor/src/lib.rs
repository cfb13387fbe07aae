//! What distorts figures on this machine or makes tools fail, and the command that fixes it.
//!
//! Each check is a small function from a [`System`] to [`Finding`]s. It reads `/proc`, `/sys` and
//! the programs of `PATH` through that, never past it, so that a test can show it any machine.
//! What cannot be read, as on other systems than Linux, is said to be so.

mod cpu;
mod finding;
mod host;
mod limits;
pub mod noise_floor;
mod perf;
mod report;
mod room;
mod servers;
mod system;
mod tools;

pub use finding::{Finding, Group, Status};
pub use host::container_sign;
pub use noise_floor::NoiseFloor;
pub use perf::package as perf_package;
pub use report::{line, summary, text};
pub use system::{Needs, System};
pub use tools::install;

/// Every check, in the order in which it is told.
const CHECKS: [fn(&System) -> Finding; 20] = [
    cpu::cores,
    cpu::quota,
    cpu::governor,
    cpu::turbo,
    cpu::clock,
    cpu::load,
    host::virtual_machine,
    host::container,
    host::power,
    limits::open_files,
    limits::ports,
    room::memory,
    room::swap,
    room::disk,
    servers::build,
    servers::binaries,
    perf::perf,
    perf::paranoid,
    perf::kernel_symbols,
    tools::valgrind,
];

/// Looks at everything but the noise floor.
pub fn examine(system: &System) -> Vec<Finding> {
    CHECKS.iter().map(|check| check(system)).chain(tools::optional(system)).collect()
}

#[cfg(any(test, feature = "testing"))]
#[cfg(unix)]
pub mod fake;
#[cfg(test)]
#[cfg(unix)]
mod faults;
#[cfg(test)]
#[cfg(unix)]
mod tests;
