//! Bars on a time axis: the marks of a picture with one row for each thread or request.

use crate::svg::{FIGURE_WIDTH, bar, figure_text_width, px};
use maud::{Markup, html};

/// The height of a line of text, and of the highest bar.
pub const LINE: f64 = 21.0;
pub const BAR: f64 = 14.0;

/// How bars of one meaning look: their height differs as well as their colour, for greyscale.
#[derive(Clone, Debug)]
pub struct BarMark {
    pub label: String,
    pub class: &'static str,
    pub height: f64,
}

impl BarMark {
    /// A bar in the middle of the row at `y`.
    pub fn bar(&self, from: f64, to: f64, y: f64) -> Markup {
        bar(self.class, from, to, y + (BAR - self.height) / 2.0, self.height)
    }
}

/// Draws what the marks mean; returns where that ends.
pub fn legend<'a>(marks: impl Iterator<Item = &'a BarMark>) -> (Markup, f64) {
    let (mut x, mut y) = (0.0, 4.0);
    let mut drawn = Vec::new();
    for mark in marks {
        let width = 26.0 + figure_text_width(&mark.label);
        if x > 0.0 && x + width > FIGURE_WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        drawn.push(html! {
            (mark.bar(x + 1.0, x + 19.0, y))
            text x=(px(x + 26.0)) y=(px(y + 12.0)) { (mark.label) }
        });
        x += width + 16.0;
    }
    (html! { @for entry in drawn { (entry) } }, y + LINE)
}
