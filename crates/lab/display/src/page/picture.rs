//! A picture of a page: a file with its own script, or SVG within the page.

use maud::{Markup, html};

use crate::picture::Canvas;

/// A picture with its caption.
#[derive(Clone, Debug)]
pub enum Picture {
    /// A file next to the page with its own script, such as a flame graph.
    File {
        name: String,
        caption: String,
        /// In pixels.
        height: u32,
    },
    /// SVG within the page.
    Inline {
        /// A file with this picture alone.
        name: Option<String>,
        caption: String,
        wide: Markup,
        narrow: Markup,
    },
}

impl Picture {
    pub fn inline(name: &str, caption: &str, draw: impl Fn(Canvas) -> Markup) -> Self {
        Self::Inline {
            name: Some(name.to_owned()),
            caption: caption.to_owned(),
            wide: draw(Canvas::Wide),
            narrow: draw(Canvas::Narrow),
        }
    }

    /// The name and the content of the picture's own file; `None` for a file that exists already.
    pub fn own_file(&self) -> Option<(&str, &str)> {
        match self {
            Self::File { .. } => None,
            Self::Inline { name, wide, .. } => Some((name.as_deref()?, wide.0.as_str())),
        }
    }

    pub fn html(&self) -> Markup {
        let (file, caption) = match self {
            Self::File { name, caption, .. } => (Some(name), caption),
            Self::Inline { name, caption, .. } => (name.as_ref(), caption),
        };
        html! {
            figure {
                figcaption {
                    (caption)
                    @if let Some(file) = file { " " a class="alone" href=(file) { "Open it alone" } }
                }
                @match self {
                    Self::File { name, caption, height } => {
                        object type="image/svg+xml" data=(name) aria-label=(caption)
                            style={ "height:" (height) "px" } { (caption) }
                    }
                    Self::Inline { wide, narrow, .. } => {
                        div class="wide-only" { (wide) }
                        div class="narrow-only" { (narrow) }
                    }
                }
            }
        }
    }
}
