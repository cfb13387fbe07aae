//! A scale for several graphs: each is as wide as the largest of them, and what it lacks is a pale frame.

use anyhow::{Context as _, ensure};
use inferno::flamegraph::color::{Color, PaletteMap};

/// Lighter than any frame of a palette.
const PALE: Color = Color { r: 238, g: 240, b: 243 };

#[derive(Debug, clap::Args)]
pub struct CommonScale {
    /// Draw the graph as a part of this many, so that graphs with the same scale can be compared by eye
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["reverse", "flame_chart"])]
    scale: Option<u64>,
    /// What the pale frame is called that fills the scale
    #[arg(long, value_name = "STRING", default_value = "the rest", requires = "scale")]
    rest: String,
}

impl CommonScale {
    /// Whether graphs are to share one.
    pub fn is_given(&self) -> bool {
        self.scale.is_some()
    }

    /// The stacks in order, and behind them what they lack of the scale.
    pub fn filled(&self, stacks: &str) -> anyhow::Result<String> {
        let Some(scale) = self.scale else { return Ok(stacks.to_owned()) };
        let count = |line: &&str| line.rsplit_once(' ')?.1.parse::<u64>().ok();
        let mut lines: Vec<_> = stacks.lines().collect();
        let total = lines.iter().filter_map(count).try_fold(0, u64::checked_add);
        let total = total.context("the counts of the stacks add up to more than 64 bits hold")?;
        let rest = scale.checked_sub(total).with_context(|| {
            format!("the stacks count {total}, more than --scale {scale}: give the largest total")
        })?;
        ensure!(!self.rest.contains([';', '\n']), "--rest is the name of one frame, without `;`");
        lines.sort_unstable();
        let rest = format!("{} {rest}", self.rest);
        lines.push(&rest);
        Ok(lines.join("\n"))
    }

    /// The colours of the frames that no palette chooses.
    pub fn colours(&self) -> PaletteMap {
        let mut colours = PaletteMap::default();
        colours.insert(&self.rest, PALE);
        colours
    }
}
