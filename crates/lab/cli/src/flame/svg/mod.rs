//! The picture itself: inferno draws the frames, and this dresses them for a page of the course.
//!
//! Inferno knows a frame by its name, and so can give a name one colour and one text. Here the same
//! name has many, one a path. So every path gets a name of its own for inferno, and the names that
//! are shown come with it as an attribute. What inferno cannot do is done to its output: a header
//! of several lines, colours for a dark page, and words for those who cannot see the picture.

mod dress;
mod header;
mod labels;
mod markup;

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::Context as _;
use inferno::flamegraph::{
    self, FuncFrameAttrsMap, Options, TextTruncateDirection,
    color::{Color, PaletteMap},
};

use super::tree::Node;

pub use dress::styled;

/// What is written above the frames.
#[derive(Clone, Debug)]
pub struct Header {
    /// The picture's name.
    pub title: String,
    /// Sentences below it.
    pub lines: Vec<String>,
    /// What the colours mean.
    pub legend: Vec<(Color, String)>,
    /// The text of the widest frame, below all others.
    pub whole: String,
    /// The colour of that frame, if it has to tell anything.
    pub colour: Option<Color>,
}

/// How a frame is shown.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What is written in it as far as it has room.
    pub label: String,
    /// What a pointer on it shows besides.
    pub details: String,
    /// Its colour.
    pub colour: Color,
}

/// A frame that fills the picture up to its scale, at the right.
#[derive(Clone, Debug)]
pub struct Filler {
    /// How wide it is.
    pub width: u64,
    /// How it is shown; its colour is that of the page's mode.
    pub frame: Frame,
}

/// Draws all frames below `root`, each the way that `show` says.
pub fn draw(
    root: &Node,
    header: &Header,
    filler: Option<&Filler>,
    cut_right: bool,
    mut show: impl FnMut(&[&String], &Node) -> Frame,
) -> anyhow::Result<String> {
    let mut frames: BTreeMap<Vec<&String>, String> = BTreeMap::new();
    let (mut palette, mut attributes) = (PaletteMap::default(), String::new());
    palette.insert("", header.colour.unwrap_or(super::colour::SAME));
    let mut add = |id: &str, frame: &Frame, class: &str| {
        palette.insert(id, frame.colour);
        let Frame { label, details, .. } = frame;
        // The script in the picture takes the last bracket off to get the label back.
        let title = format!("{label} ({})", details.replace(['(', ')'], "")).replace('\t', " ");
        writeln!(attributes, "{id}\ttitle={title}\tclass={class}")
    };
    let mut result = Ok(());
    root.walk(&mut |path, node| {
        let id = format!("f{}", frames.len());
        result = result.and(add(&id, &show(path, node), "frame"));
        frames.insert(path.to_vec(), id);
    });
    if let Some(filler) = filler {
        result = result.and(add("filler", &filler.frame, "filler"));
    }
    result.context("cannot describe the frames")?;

    let mut lines = Vec::new();
    stacks(root, &mut Vec::new(), &frames, &mut lines);
    lines.extend(filler.map(|filler| format!("filler {}", filler.width)));
    // A chart keeps the order that it is given, but for turning it round.
    lines.reverse();

    let mut options = Options::default();
    options.flame_chart = true;
    options.palette_map = Some(&mut palette);
    options.func_frameattrs = FuncFrameAttrsMap::from_reader(attributes.as_bytes())?;
    options.name_type = String::new();
    // Light enough for the dark text on it.
    options.search_color = "#ff8cff".parse().map_err(anyhow::Error::msg)?;
    options.frame_height = 17;
    options.min_width = 0.02;
    options.text_truncate_direction =
        if cut_right { TextTruncateDirection::Right } else { TextTruncateDirection::Left };
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .context("there is nothing to draw: no stack has any weight")?;
    dress::dress(&String::from_utf8(svg)?, header)
}

/// A line for every node with a share of its own, after what it calls: so that towers stand at the
/// left edge of their caller, where they can be compared between two pictures.
fn stacks<'a>(
    node: &'a Node,
    path: &mut Vec<&'a String>,
    ids: &BTreeMap<Vec<&String>, String>,
    lines: &mut Vec<String>,
) {
    let mut calls: Vec<_> = node.calls.iter().collect();
    // Machinery stands behind what a case is about.
    calls.sort_by_key(|(name, _)| super::colour::is_machinery(name));
    for (name, call) in calls {
        path.push(name);
        stacks(call, path, ids, lines);
        path.pop();
    }
    if node.own() > 0 && !path.is_empty() {
        let ids: Vec<&str> = (1..=path.len())
            .filter_map(|depth| ids.get(&path[..depth]))
            .map(String::as_str)
            .collect();
        lines.push(format!("{} {}", ids.join(";"), node.own()));
    }
}
