//! Facts of the operating system about this machine and about running processes, and the files that `lab` writes.
//!
//! [`process`] has a server's CPU time, memory and sockets. [`doctor`] says what on this machine
//! distorts figures. Files that `lab` writes are complete, or not there, and an [`Output`] is a directory in the
//! making.

#![warn(clippy::missing_errors_doc)]

pub mod doctor;
mod files;
mod groups;
mod limits;
mod machine;
pub mod memory;
mod output;
mod plain;
mod ports;
mod printed;
pub mod process;
mod processors;
mod program;
mod progress;
pub mod quota;
mod repository;
mod secrets;
mod system;

pub use files::{ensure_writable, read_file, write_new, write_whole};
pub use limits::{allow_connections, allow_own_connections, stack_limit};
pub use machine::{Build, Machine, load_average, output_of};
pub use output::Output;
pub use plain::{escaped, last_lines, plain, without_colours};
pub use ports::{Port, free_port};
pub use printed::{all_printed, printed};
pub use processors::Processors;
pub use program::{Program, ProgramError, ProgramFailure};
pub use progress::Progress;
pub use secrets::{own_command, without_secrets};
pub use system::System;

/// Like `println!`, but does not panic if the reader is gone, as after `| head`. Whatever else fails is kept
/// for [`all_printed`].
#[macro_export]
macro_rules! out {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        $crate::printed(writeln!(std::io::stdout(), $($part)*));
    }};
}

/// Like `eprintln!`, but does not panic if the terminal is gone.
#[macro_export]
macro_rules! err {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($part)*);
    }};
}
