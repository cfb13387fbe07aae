//! The standard flame graph of a recording, machinery and all: what any tool would show.

use std::path::Path;

use anyhow::Context as _;
use inferno::flamegraph;

use super::Folded;

/// The raw graph of stacks as a profiler has told them, in samples.
///
/// # Errors
///
/// If there is nothing to draw.
pub fn draw(stacks: &Folded, title: &str) -> anyhow::Result<String> {
    let full = |symbol: &String| format!("{:#}", rustc_demangle::demangle(symbol));
    let stacks: Folded =
        stacks.iter().map(|(stack, spent)| (stack.iter().map(full).collect(), spent)).collect();
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.deterministic = true;
    let mut picture = Vec::new();
    flamegraph::from_lines(&mut options, stacks.to_string().lines(), &mut picture)
        .context("there is nothing to draw: no stack has any weight")?;
    Ok(String::from_utf8(picture)?)
}

/// Has the `flamegraph` crate draw what `perf` recorded in `recording` as the picture `picture`,
/// and as the standard tools do. It says so on the standard output, and calls `perf script`.
///
/// # Errors
///
/// If there is no such file, or no `perf` that can read it.
#[cfg(target_os = "linux")]
pub fn from_perf(recording: &Path, picture: &Path, title: &str) -> anyhow::Result<()> {
    use std::{ffi::OsStr, process::Command};

    use ::flamegraph::{Options, Workload, generate_flamegraph_for_workload};
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[clap(flatten)]
        options: Options,
    }

    recording
        .metadata()
        .with_context(|| format!("there is no recording {}", recording.display()))?;
    let perf = std::env::var("PERF").unwrap_or_else(|_| "perf".to_owned());
    Command::new(&perf)
        .arg("--version")
        .output()
        .with_context(|| format!("cannot run `{perf}`; install it to read a recording"))?;

    // Names of inlined functions take minutes to look up.
    let flags = ["flamegraph", "--no-inline", "--deterministic", "--title", title, "--output"];
    let arguments = flags.into_iter().map(OsStr::new).chain([picture.as_os_str()]);
    let Arguments { options } = Arguments::try_parse_from(arguments)?;
    generate_flamegraph_for_workload(Workload::ReadPerf(recording.to_owned()), options)
        .with_context(|| format!("cannot draw the recording {}", recording.display()))
}
