//! The legend above a picture of bars.

use lab_display::picture::{FIGURE_WIDTH, figure_text_width, px};
use maud::{Markup, html};

/// The height of a line of text.
pub const LINE: f64 = 21.0;

/// Draws the entries, each a label and what draws its bar 18 units wide at a place; returns where they
/// end.
pub fn legend<'a, B: Fn(f64, f64) -> Markup>(
    entries: impl Iterator<Item = (&'a str, B)>,
) -> (Markup, f64) {
    let (mut x, mut y) = (0.0, 4.0);
    let mut drawn = Vec::new();
    for (label, bar) in entries {
        let width = 26.0 + figure_text_width(label);
        if x > 0.0 && x + width > FIGURE_WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        drawn.push(html! {
            (bar(x + 1.0, y))
            text x=(px(x + 26.0)) y=(px(y + 12.0)) { (label) }
        });
        x += width + 16.0;
    }
    (html! { @for entry in drawn { (entry) } }, y + LINE)
}
