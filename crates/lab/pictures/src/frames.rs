//! Frames on top of each other: the SVG of a flame graph.
//!
//! Every frame is an SVG of its own inside the picture, placed in per cent: it clips its label, and
//! the picture fits any width. A short script in the picture zooms and searches, without a network.
//! Shown as a plain image, the picture is 1,200 pixels wide and scales.

use std::fmt;

use lab_observation::{LANGUAGES, Node};
use maud::{Markup, PreEscaped, html};

use super::svg::cut;

const STYLE: &str = include_str!("frames.css");
const SCRIPT: &str = include_str!("frames.js");

/// The width of the plain image, and its margin left and right, in pixels. The script has
/// the same margin.
const WIDTH: usize = 1200;
const MARGIN: usize = 10;
/// The height of a frame, without and with its gap.
const FRAME: usize = 16;
const ROW: usize = 17;
/// The width of a character on a frame, and the height of a line of text.
const CHARACTER: f64 = 7.3;
const LINE: usize = 16;
/// The characters of a line, and of the larger title, that fit into 390 pixels.
const LINE_LENGTH: usize = 47;
const TITLE_LENGTH: usize = 38;
/// Frames below this share of the width are left out.
const LEAST: f64 = 0.0002;

/// A flame graph and its height in pixels, which is the same at any width.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub svg: String,
    pub height: usize,
}

/// The text above the frames.
#[derive(Clone, Debug)]
pub struct Header {
    pub title: String,
    /// Sentences below the title.
    pub lines: Vec<String>,
    pub legend: Vec<(Colour, &'static str)>,
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub label: String,
    /// What the tooltip shows after the label, in brackets. It has none itself: the script cuts them off.
    pub details: String,
    /// Absent for `whole` and `filler`, which have the colours of the page.
    pub colour: Option<Colour>,
}

/// Red, green and blue, light enough for dark text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// As CSS: `#ff9632`.
impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Draws `whole` and all frames of `root` on it as `show` says. `root` is not empty. With a `filler`, the
/// picture is wider by its weight, so that two pictures can have one scale.
pub fn draw(
    header: &Header,
    root: &Node,
    whole: Frame,
    filler: Option<(u64, Frame)>,
    show: impl Fn(&[&str], &Node) -> Frame,
) -> Drawing {
    let total = root.inclusive;
    let scale = total + filler.as_ref().map_or(0, |(weight, _)| *weight);
    let mut placed = vec![Placed { start: 0, width: scale, depth: 0, frame: whole }];
    place(root, &mut Vec::new(), 0, scale, &show, &mut placed);
    placed.extend(filler.map(|(width, frame)| Placed { start: total, width, depth: 1, frame }));
    let rows = 1 + placed.iter().map(|placed| placed.depth).max().unwrap_or(0);
    let (above, top) = text_above(header);
    let bottom = top + rows * ROW;
    // The lines for the frame under the pointer and for the search.
    let height = bottom + 2 * LINE + 6;
    let desc = header.lines.join(" ");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
            aria-label={ (header.title) " – " (desc) } {
            title { (header.title) }
            desc { (desc) }
            style { (PreEscaped(STYLE)) }
            rect class="paper" width="100%" height="100%" {}
            (above)
            svg id="frames" x=(MARGIN) y=(top) width=(WIDTH - 2 * MARGIN) height=(rows * ROW) {
                @for placed in &placed { (placed.svg(scale, rows)) }
            }
            text id="details" x=(MARGIN) y=(bottom + LINE) {}
            text id="matched" x=(MARGIN) y=(bottom + 2 * LINE) {}
            script { (PreEscaped("<![CDATA[")) (PreEscaped(SCRIPT)) (PreEscaped("]]>")) }
        }
    };
    Drawing { svg: svg.into_string(), height }
}

/// A frame with its place, in units of the weights.
struct Placed {
    start: u64,
    width: u64,
    depth: usize,
    frame: Frame,
}

impl Placed {
    fn svg(&self, scale: u64, rows: usize) -> Markup {
        let share = |weight: u64| weight as f64 / scale as f64;
        let percent = |weight: u64| format!("{}%", (share(weight) * 1e6).round() / 1e4);
        let Frame { label, details, colour } = &self.frame;
        let pixels = share(self.width) * (WIDTH - 2 * MARGIN) as f64;
        let y = (rows - 1 - self.depth) * ROW;
        let class = match colour {
            Some(_) => "frame",
            None if self.depth == 0 => "whole",
            None => "filler",
        };
        html! {
            svg class=(class) x=(percent(self.start)) width=(percent(self.width)) y=(y) height=(FRAME) {
                title { (label) " (" (details) ")" }
                rect width="100%" height="100%" fill=[colour] {}
                text x="3" y="12" { (fitting(label, pixels)) }
            }
        }
    }
}

/// Places what `node` called above it, from left to right.
fn place<'a>(
    node: &'a Node,
    path: &mut Vec<&'a str>,
    mut start: u64,
    scale: u64,
    show: &impl Fn(&[&str], &Node) -> Frame,
    placed: &mut Vec<Placed>,
) {
    let mut calls: Vec<_> = node.calls.iter().collect();
    // Machinery comes last: the frames that a case is about can be compared at the left edge.
    calls.sort_by_key(|(name, _)| LANGUAGES.is_machinery(name));
    for (name, call) in calls {
        if call.inclusive as f64 >= scale as f64 * LEAST {
            path.push(name);
            let (depth, frame) = (path.len(), show(path, call));
            placed.push(Placed { start, width: call.inclusive, depth, frame });
            place(call, path, start, scale, show, placed);
            path.pop();
        }
        start += call.inclusive;
    }
}

/// As much of a label as fits into a width. The script does the same for the width of the window.
fn fitting(label: &str, pixels: f64) -> String {
    let room = ((pixels - 6.0) / CHARACTER) as usize;
    if room < 3 { String::new() } else { cut(label, room) }
}

/// Title, lines, legend and buttons, and the height that they take.
fn text_above(header: &Header) -> (Markup, usize) {
    let mut bottom = 8;
    let mut below = |height| {
        bottom += height;
        bottom
    };
    let text = html! {
        @for line in textwrap::wrap(&header.title, TITLE_LENGTH) {
            text class="title" x=(MARGIN) y=(below(LINE + 1)) { (line) }
        }
        @for line in header.lines.iter().flat_map(|line| textwrap::wrap(line, LINE_LENGTH)) {
            text x=(MARGIN) y=(below(LINE)) { (line) }
        }
        @for (colour, meaning) in &header.legend {
            @let y = below(LINE);
            rect class="swatch" x=(MARGIN) y=(y - 10) width="12" height="11" fill=(colour) {}
            text x=(MARGIN + 18) y=(y) { (meaning) }
        }
        @let buttons = below(LINE + 4);
        text id="unzoom" x=(MARGIN) y=(buttons) {}
        text id="search" x="100%" dx={ "-" (MARGIN) } y=(buttons) text-anchor="end" {}
    };
    (text, bottom + 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_to_their_frame() {
        assert_eq!(fitting("parse", 60.0), "parse");
        assert_eq!(fitting("Document::clone", 60.0), "Docume…");
        assert_eq!(fitting("parse", 20.0), "");
    }
}
