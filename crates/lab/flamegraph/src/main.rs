//! Draws the standard flame graph: folded stacks on standard input, an SVG on standard output.
//!
//! `lab flame` runs this program. Its options and its defaults are those of `cargo flamegraph`, and one is added: a scale,
//! which several graphs can share.

mod scale;

use std::{
    io::{self, Read as _, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use clap::{Arg, Parser};
use flamegraph::FlamegraphOptions;
use scale::CommonScale;

/// Draws the standard flame graph: folded stacks on standard input, an SVG on standard output.
#[derive(Debug, Parser)]
#[command(
    version,
    mut_args(only_for_drawing),
    after_help = "\
Example:
  lab-flamegraph --title hot-clone --deterministic < slow.folded > slow.svg
  lab-flamegraph --scale 5000 < fixed.folded > fixed.svg     # with 5,000 samples in slow.folded"
)]
struct Options {
    /// What the stacks count
    #[arg(long, value_name = "STRING", default_value = "samples")]
    count_name: String,
    #[command(flatten)]
    scale: CommonScale,
    #[command(flatten)]
    flamegraph: FlamegraphOptions,
}

/// `--skip-after` acts on what `perf` recorded, so folded stacks cannot obey it.
fn only_for_drawing(arg: Arg) -> Arg {
    if arg.get_id() != "skip_after" {
        return arg;
    }
    let refuse = |_: &str| Err::<String, _>("the stacks are folded already; cut them first");
    arg.hide(true).value_parser(refuse)
}

fn main() -> ExitCode {
    match draw(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Unlike `eprintln!`, this does not panic if the terminal is gone.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn draw(options: Options) -> anyhow::Result<()> {
    let mut stacks = String::new();
    io::stdin().read_to_string(&mut stacks).context("cannot read standard input")?;
    check(&stacks)?;
    let mut drawing = options.flamegraph.into_inferno();
    drawing.count_name = options.count_name;
    let stacks = options.scale.filled(&stacks)?;
    let mut stacks = with_one_count(&stacks);
    let mut colours = options.scale.colours();
    if options.scale.is_given() {
        drawing.palette_map = Some(&mut colours);
        // With this option, inferno takes the lines in their order, from the last to the first.
        drawing.flame_chart = true;
        stacks.reverse();
    }
    // Drawn as a whole first: on an error, inferno still writes a picture, which says no cause.
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut drawing, stacks.iter().map(String::as_str), &mut svg)
        .context("cannot draw these stacks")?;
    io::stdout().write_all(&svg).context("cannot write to standard output")
}

/// Refuses what inferno would leave out of the picture without a word.
fn check(stacks: &str) -> anyhow::Result<()> {
    ensure!(
        !stacks.trim().is_empty(),
        "no stacks on standard input: give folded stacks, one `main;handler;parse 42` a line"
    );
    for (index, line) in stacks.lines().enumerate() {
        let count = line.rsplit_once(' ').and_then(|(_, count)| count.parse::<u64>().ok());
        ensure!(
            count.is_some(),
            "line {} is not a folded stack such as `main;handler;parse 42`: `{line}`",
            index + 1
        );
    }
    Ok(())
}

/// Keeps inferno from taking the number at the end of a name, such as `main;work 3`, for a first count: it
/// would cut the name and draw a differential graph. Only if all lines have two counts, this is what they are.
fn with_one_count(stacks: &str) -> Vec<String> {
    let compared = stacks.lines().all(|line| two_counts(line).is_some());
    let joined = |line: &str| match two_counts(line).filter(|_| !compared) {
        Some([names, number, count]) => format!("{names}\u{a0}{number} {count}"),
        None => line.to_owned(),
    };
    stacks.lines().map(joined).collect()
}

/// The names of a stack, and the two numbers after them, if there are two.
fn two_counts(line: &str) -> Option<[&str; 3]> {
    let (stack, count) = line.rsplit_once(' ')?;
    let (names, number) = stack.trim_end().rsplit_once(' ')?;
    let is_number = number.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    is_number.then_some([names, number, count])
}
