//! What our pictures share: a frame that works as a file of its own, scales and axes.
//!
//! There is one layout for every width, because Markdown shows one file to all readers. A picture is
//! narrow and its text is large: on a desk as large as the text around it, and on a phone, at two
//! thirds of that, still readable.

mod log_scale;
mod scale;

use maud::{Markup, PreEscaped, html};

pub use log_scale::LogScale;
pub use scale::{Scale, round, time_axis};

const STYLE: &str = include_str!("style.css");

/// The width of a picture, in its own units.
pub const FIGURE_WIDTH: f64 = 520.0;

/// The empty border around it: as a file it sits on pages of any colour, like a card.
const MARGIN: f64 = 10.0;

/// A picture of the given height, with a light and a dark mode, and with words for readers who
/// cannot see it.
pub fn figure(height: f64, title: &str, desc: &str, body: Markup) -> Markup {
    let (width, height) = (FIGURE_WIDTH + 2.0 * MARGIN, px(height + 2.0 * MARGIN));
    let view = format!("-{MARGIN} -{MARGIN} {width} {height}");
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="lab-picture" viewBox=(view)
            width=(width) height=(height) role="img" aria-label=(title) {
            title { (title) }
            desc { (desc) }
            style { (PreEscaped(STYLE)) }
            (body)
        }
    }
}

/// An upper bound of the width of a text: fonts differ, and some spare room does no harm.
pub fn figure_text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 8.9
}

/// A name cut at its end to fit a width.
pub fn fit(name: &str, width: f64) -> String {
    cut(name, (width / figure_text_width("x")) as usize)
}

/// A name cut at its end to a number of characters.
pub fn cut(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

pub fn bar(class: &str, from: f64, to: f64, y: f64, height: f64) -> Markup {
    html! {
        rect class=(class) x=(px(from)) y=(px(y)) width=(px(to - from)) height=(px(height)) {}
    }
}

/// A coordinate, to a tenth of a unit: more digits only make files larger.
pub fn px(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_that_does_not_fit_is_cut() {
        assert_eq!(fit("no-clone", 100.0), "no-clone");
        assert_eq!(fit("shared-connector", 89.0), "shared-co…");
        assert!(figure_text_width(&fit("shared-connector", 50.0)) <= 50.0);
    }
}
