//! A chart's frame: one layout for every width, because Markdown shows one file to all readers.
//!
//! It is narrow and its text is large: on a desk it stands at its own size, which is that of the
//! text around it, and on a telephone, at two thirds of that, it can still be read.

use maud::{Markup, PreEscaped, html};

use super::{STYLE, px};

const FIGURE_STYLE: &str = include_str!("figure.css");

/// How wide a chart is drawn, in its own units.
pub const FIGURE_WIDTH: f64 = 520.0;

/// The empty border around it: as a file it lies on pages of any colour, like a card.
const MARGIN: f64 = 10.0;

/// A chart of the given height: light and dark, and named for those who do not see it.
pub fn figure(height: f64, title: &str, desc: &str, body: Markup) -> Markup {
    let (width, height) = (FIGURE_WIDTH + 2.0 * MARGIN, px(height + 2.0 * MARGIN));
    let view = format!("-{MARGIN} -{MARGIN} {width} {height}");
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class="lab-picture figure" viewBox=(view)
            width=(width) height=(height) role="img" aria-label=(title) {
            title { (title) }
            desc { (desc) }
            style { (PreEscaped(STYLE)) (PreEscaped(FIGURE_STYLE)) }
            (body)
        }
    }
}

/// An upper bound of how wide a text is in a chart; see [`super::Canvas::text_width`].
pub fn figure_text_width(text: &str) -> f64 {
    text.chars().count() as f64 * 8.9
}

/// A name that fits a width; a longer one loses its end.
pub fn fit(name: &str, width: f64) -> String {
    if figure_text_width(name) <= width {
        return name.to_owned();
    }
    let room = (width / figure_text_width("x")) as usize;
    let kept: String = name.chars().take(room.saturating_sub(1)).collect();
    format!("{kept}…")
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
