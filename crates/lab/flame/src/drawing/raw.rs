//! The plain flame graph of a recording, machinery and all: what `cargo flamegraph` shows.

use anyhow::Context as _;
use inferno::flamegraph;
use rustc_demangle::demangle;

use crate::stacks::Folded;

/// Lets `inferno`, which `cargo flamegraph` uses too, draw stacks as they were recorded.
///
/// # Errors
///
/// If there are no stacks.
pub fn draw_plain_graph(stacks: &Folded, title: &str) -> anyhow::Result<String> {
    let name = |frame: &String| demangle(frame).to_string();
    let named = stacks.iter().map(|(stack, weight)| (stack.iter().map(name).collect(), weight));
    let named = named.collect::<Folded>().to_string();
    let mut options = flamegraph::Options::default();
    options.title = title.to_owned();
    options.deterministic = true;
    let mut svg = Vec::new();
    flamegraph::from_reader(&mut options, named.as_bytes(), &mut svg).context("cannot draw")?;
    Ok(String::from_utf8(svg)?)
}
