//! A picture of a page: a file with a script of its own, or one of ours within the page.

use maud::{Markup, html};

use crate::picture::Canvas;

/// A picture with its caption.
#[derive(Clone, Debug)]
pub enum Picture {
    /// A file beside the page that has its own script, such as a flame graph.
    File {
        /// The file's name.
        name: String,
        /// What it shows; it stands above the picture.
        caption: String,
        /// How high it is, in pixels.
        height: u32,
    },
    /// One of ours, that is part of the page.
    Inline {
        /// The file that has it alone, if there is one.
        name: Option<String>,
        /// What it shows; it stands above the picture.
        caption: String,
        /// As laid out for a desk.
        wide: Markup,
        /// As laid out for a telephone.
        narrow: Markup,
    },
}

impl Picture {
    /// One of our pictures, from the function that draws it.
    pub fn inline(name: &str, caption: &str, draw: impl Fn(Canvas) -> Markup) -> Self {
        Self::Inline {
            name: Some(name.to_owned()),
            caption: caption.to_owned(),
            wide: draw(Canvas::Wide),
            narrow: draw(Canvas::Narrow),
        }
    }

    /// What has to be written beside the page: the file's name and its content. Files of others
    /// are there already.
    pub fn own_file(&self) -> Option<(&str, &str)> {
        match self {
            Self::File { .. } => None,
            Self::Inline { name, wide, .. } => Some((name.as_deref()?, wide.0.as_str())),
        }
    }

    /// The picture as a figure.
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
