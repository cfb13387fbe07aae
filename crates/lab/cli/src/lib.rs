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

mod bench;
pub mod bench_generator;
pub mod cmd;
mod count;
pub mod flame;
mod servers;
mod watch;

// The crates below by the names that they had as modules.
use lab_case as case;
use lab_case as workspace;
use lab_display as display;
use lab_display::{page, picture};
use lab_doctor as doctor;
use lab_load as load;
use lab_load::process;
use lab_record as files;
use lab_record as machine;
use lab_record as store;
use lab_record::criterion;
use lab_stats as stats;
use servers::{affinity, instrumented, launch, requests, revisions, server};
