//! The page of a case: a question, the pictures that answer it, and the same as text.
//!
//! A page is one file beside its pictures and needs nothing else: no network, no framework, and no
//! script of its own. It knows no case; whoever fills the model does.

mod index;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use index::index;
pub use table::Table;

use super::picture::Canvas;

const STYLE: &str = include_str!("style.css");

/// All that the page of a case says.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The case's name, which is the name of its directory too.
    pub case: String,
    /// What it is about.
    pub title: String,
    /// What the page answers.
    pub question: String,
    /// What a reader has to know before the pictures, a sentence each.
    pub notices: Vec<String>,
    /// The pictures, the most telling ones first.
    pub sections: Vec<Section>,
    /// How it was measured: a name and what it was.
    pub facts: Vec<(String, String)>,
    /// The commands that make the page again.
    pub commands: Vec<String>,
}

/// Pictures that are looked at together, and their content as text.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// What is shown.
    pub heading: String,
    /// What to look at, in one or two sentences.
    pub lead: String,
    /// The pictures, from the top.
    pub pictures: Vec<Picture>,
    /// The same as text: a picture alone excludes those who do not see it.
    pub tables: Vec<Table>,
}

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

    fn html(&self) -> Markup {
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

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let body = html! {
            header {
                p class="case" { (self.case) }
                h1 { (self.title) }
                p class="question" { (self.question) }
            }
            @if !self.notices.is_empty() {
                ul class="notices" { @for notice in &self.notices { li { (notice) } } }
            }
            @for section in &self.sections { (section.html()) }
            section {
                h2 { "How it was made" }
                @if !self.facts.is_empty() {
                    dl { @for (name, value) in &self.facts { dt { (name) } dd { (value) } } }
                }
                @if !self.commands.is_empty() {
                    pre { code { (self.commands.join("\n")) } }
                }
            }
        };
        document(&format!("{}: {}", self.case, self.title), body)
    }
}

impl Section {
    fn html(&self) -> Markup {
        html! {
            section {
                h2 { (self.heading) }
                p { (self.lead) }
                @for picture in &self.pictures { (picture.html()) }
                @for table in &self.tables { (table.html()) }
            }
        }
    }
}

/// A whole document, with its style in it.
fn document(title: &str, body: Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    document.into_string()
}

#[cfg(test)]
mod tests;
