//! The parts that pictures share: frames, scales and axes.
//!
//! Text in a detailed picture is too small to read on a telephone. So such a picture has two layouts,
//! one for each [`Canvas`], and a page shows the one that fits. A chart has little detail and large
//! text, so one layout is enough: a [`figure()`].

mod figure;
mod log_scale;
#[cfg(feature = "testing")]
pub mod probe;
mod scale;

use maud::{Markup, PreEscaped, html};

pub use figure::{FIGURE_WIDTH, figure, figure_text_width, fit};
pub use log_scale::LogScale;
pub use scale::{Scale, round, time_axis};

const STYLE: &str = include_str!("style.css");

/// The width of a layout. Its units are pixels at that width.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Canvas {
    /// For a desktop, and for the picture's own file.
    Wide,
    /// For a telephone.
    Narrow,
}

impl Canvas {
    pub fn width(self) -> f64 {
        self.pick(960.0, 360.0)
    }

    pub fn pick<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }

    /// An upper bound of the width of a text, because fonts differ.
    pub fn text_width(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.pick(7.2, 6.4)
    }
}

/// The SVG element of a picture: responsive, for light and dark pages, with a name for screen readers.
pub fn frame(canvas: Canvas, height: f64, title: &str, desc: &str, body: Markup) -> Markup {
    let class = canvas.pick("lab-picture wide", "lab-picture narrow");
    let view = format!("0 0 {} {}", px(canvas.width()), px(height));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(class) viewBox=(view) role="img" aria-label=(title) {
            title { (title) }
            desc { (desc) }
            style { (PreEscaped(STYLE)) }
            (body)
        }
    }
}

pub fn bar(class: &str, from: f64, to: f64, y: f64, height: f64) -> Markup {
    html! {
        rect class=(class) x=(px(from)) y=(px(y)) width=(px(to - from)) height=(px(height)) {}
    }
}

/// Rounds a coordinate to a tenth of a unit, to keep files small.
pub fn px(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
