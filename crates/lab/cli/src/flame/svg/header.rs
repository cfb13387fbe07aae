//! What is written above and below the frames, in lines that fit into a narrow page.

use super::{Header, dress::ABOVE, markup::escape};

/// Characters of a line that fit into a page of 390 pixels with its margins.
const LINE: usize = 47;
/// Characters of the larger title that fit there.
const TITLE: usize = 38;
/// The height of a line, in pixels.
pub const STEP: usize = 16;
/// The header's elements, with the buttons and the places for details that the script fills; and
/// the header's height.
pub fn texts(header: &Header, height: usize) -> (String, usize) {
    let mut out = String::new();
    let mut y = 8;
    let mut text = |attributes: &str, x: usize, y: usize, text: &str| {
        let text = escape(text);
        out += &format!("<text{attributes} x=\"{x}\" y=\"{y}\">{text}</text>");
    };
    for words in textwrap::wrap(&header.title, TITLE) {
        y += STEP + 1;
        text(" class=\"title\"", 10, y, &words);
    }
    for words in header.lines.iter().flat_map(|line| textwrap::wrap(line, LINE)) {
        y += STEP;
        text("", 10, y, &words);
    }
    let mut swatches = String::new();
    for (colour, meaning) in &header.legend {
        y += STEP;
        let top = y - 10;
        text("", 28, y, meaning);
        swatches += &format!(
            "<rect class=\"swatch\" x=\"10\" y=\"{top}\" width=\"12\" height=\"11\" fill=\"rgb({},{},{})\"/>",
            colour.r, colour.g, colour.b
        );
    }
    y += STEP + 4;
    text(" id=\"unzoom\" class=\"hide\"", 10, y, "Reset zoom");
    text(" id=\"search\"", 1190, y, "Search");
    let below = y + 8;
    let bottom = height + below - ABOVE;
    text(" id=\"details\"", 10, bottom - 18, " ");
    text(" id=\"matched\"", 1190, bottom - 2, " ");
    (out + &swatches, below)
}
