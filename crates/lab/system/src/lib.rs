//! What the operating system says about this machine and about a running process.
//!
//! [`process`] has a server's CPU time, memory and sockets. [`doctor`] says what on this machine
//! distorts figures.

pub mod doctor;
#[cfg(unix)]
pub mod fake;
mod open_files;
pub mod process;
mod system;

pub use open_files::{allow_connections, open_files};
pub use system::System;
