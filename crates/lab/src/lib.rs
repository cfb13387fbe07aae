//! The laboratory: it starts the servers of a case, puts load on them and says what is faster.
//!
//! The laboratory knows nothing of a case's insides. It meets a server at a process boundary: the
//! case file, the line `listening on http://127.0.0.1:PORT`, and HTTP. A case that it measures
//! could be anybody's service.

/// Prints a line to standard output, like `println!`. A reader that has gone away, such as `head`,
/// is no reason to fail.
macro_rules! out {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($part)*);
    }};
}

pub mod affinity;
pub mod bench;
pub mod bench_generator;
pub mod binaries;
pub mod case;
pub mod chart;
pub mod cmd;
pub mod count;
pub mod criterion;
pub mod display;
pub mod docs;
pub mod doctor;
pub mod files;
pub mod flame;
pub mod launch;
pub mod load;
pub mod machine;
pub mod page;
pub mod picture;
pub mod process;
pub mod publish;
pub mod report;
pub mod requests;
pub mod revisions;
pub mod server;
pub mod stats;
pub mod store;
pub mod workspace;
