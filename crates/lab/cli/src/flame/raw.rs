//! The standard flame graph of a recording, machinery and all: what any tool would show.

#[cfg(target_os = "linux")]
use std::path::Path;

use anyhow::Context as _;
use inferno::flamegraph;

use super::{Folded, svg};

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
    svg::styled(&String::from_utf8(picture)?)
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
        .with_context(|| format!("cannot draw the recording {}", recording.display()))?;
    let plain = std::fs::read_to_string(picture)?;
    Ok(std::fs::write(picture, svg::styled(&plain)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled_and_nothing_is_left_out() {
        let stacks = "clone3;_ZN9hot_clone4slow13sum_in_rounds17h0123456789abcdefE 7\n";
        let svg = draw(&stacks.parse().unwrap(), "raw").unwrap();
        assert!(svg.contains("<title>clone3 (7 samples, 100.00%)</title>"));
        assert!(svg.contains("<title>hot_clone::slow::sum_in_rounds (7 samples, 100.00%)</title>"));
        assert!(draw(&Folded::default(), "raw").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_recording_that_is_not_there_is_an_error_and_ends_nothing() {
        let picture = Path::new("never-written.svg");
        let error = from_perf(Path::new("no-such.data"), picture, "raw").unwrap_err();
        assert!(error.to_string().contains("there is no recording no-such.data"), "{error}");
    }
}
