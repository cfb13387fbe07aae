//! What our own pictures share: frames that stand alone as a file, scales and axes.
//!
//! A picture of much detail that is scaled to a telephone's width has text that nobody can read. So
//! it is laid out twice, on a [`Canvas`], and a page shows the one that fits. A chart has little
//! detail, and one layout of large text: a [`figure()`].

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

/// How wide a picture is laid out. Its units are pixels at that width.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Canvas {
    /// For a desk, and for the picture's own file.
    Wide,
    /// For a telephone.
    Narrow,
}

impl Canvas {
    /// Its width, in units of the picture.
    pub fn width(self) -> f64 {
        self.pick(960.0, 360.0)
    }

    /// The first for the wide one, the second for the narrow one.
    pub fn pick<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }

    /// An upper bound of how wide a text of the common size is, in units of the picture: fonts
    /// differ, and a bit too much room does no harm.
    pub fn text_width(self, text: &str) -> f64 {
        text.chars().count() as f64 * self.pick(7.2, 6.4)
    }
}

/// A picture of the given height: responsive, light and dark, and named for those who do not see it.
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

/// A rectangle from one x to another.
pub fn bar(class: &str, from: f64, to: f64, y: f64, height: f64) -> Markup {
    html! {
        rect class=(class) x=(px(from)) y=(px(y)) width=(px(to - from)) height=(px(height)) {}
    }
}

/// A coordinate, to a tenth of a unit: more would only make files larger.
pub fn px(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
