//! The plain flame graph of a recording, machinery and all: what `cargo flamegraph` shows.

use std::{ffi::OsStr, path::Path};

use anyhow::Context as _;
use clap::Parser;
use flamegraph::{Options, Workload, generate_flamegraph_for_workload};

/// The crate's options are private: they can only be parsed.
#[derive(Parser)]
struct Arguments {
    #[clap(flatten)]
    options: Options,
}

/// Lets the `flamegraph` crate draw what `perf record` wrote as `picture`. It runs `perf script`,
/// which takes seconds, and prints the picture's path to standard output.
///
/// # Errors
///
/// If there is no `perf`, or it cannot read the recording.
pub fn draw_plain_graph(perf_data: &Path, picture: &Path, title: &str) -> anyhow::Result<()> {
    // Looking up the names of inlined functions takes minutes.
    let flags = ["flamegraph", "--no-inline", "--deterministic", "--title", title, "--output"];
    let arguments = flags.into_iter().map(OsStr::new).chain([picture.as_os_str()]);
    let Arguments { options } = Arguments::try_parse_from(arguments)?;
    generate_flamegraph_for_workload(Workload::ReadPerf(perf_data.to_owned()), options)
        .with_context(|| format!("cannot draw the recording {}", perf_data.display()))
}
