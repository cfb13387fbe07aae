//! What the operating system says about this machine and about a running process.
//!
//! [`process`] has a server's CPU time, memory and sockets. [`doctor`] says what on this machine
//! distorts figures.

pub mod doctor;
#[cfg(test)]
mod fake;
mod open_files;
pub mod process;
mod processors;
mod program;
mod system;

// `fake` names this crate as a user does, because the tests of `lab-profile` include the file.
#[cfg(test)]
extern crate self as lab_system;

pub use open_files::allow_connections;
pub use processors::Processors;
pub use program::{escaped, last_lines, plain, run};
pub use system::System;
