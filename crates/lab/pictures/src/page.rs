//! The page of a case: a question, the pictures that answer it, and the same as text.
//!
//! A page is one file next to its pictures. It needs no network and no script of its own.

use crate::{
    html::{document, header, made, note_list, with_code},
    report::in_html,
    sections::StandardGraph,
};
use lab_protocol::Note;
use lab_report::Table;
use maud::{Markup, PreEscaped, html};

#[derive(Clone, Debug, Default)]
pub struct PicturePage {
    /// The case, or your own server; also the name of the page's directory.
    pub case: String,
    pub title: String,
    /// What the page answers.
    pub question: String,
    /// What a reader has to know before the pictures.
    pub notes: Vec<Note>,
    pub sections: Vec<Section>,
    /// How it was measured: names and values.
    pub facts: Vec<(String, String)>,
    /// The commands that make the page again.
    pub commands: Vec<String>,
    /// Files next to the page that it does not show.
    pub files: Vec<String>,
}

/// Pictures that belong together, and their content as text.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub heading: String,
    /// What to look at, in one or two sentences.
    pub lead: String,
    /// What was found, where no picture shows it.
    pub findings: Vec<String>,
    pub pictures: Vec<Picture>,
    /// For readers who cannot see the pictures.
    pub tables: Vec<Table>,
    pub notes: Vec<Note>,
    /// Other files next to the page, and what is in them.
    pub files: Vec<(String, String)>,
}

/// A picture with its caption, and the name of its own file next to the page.
#[derive(Clone, Debug)]
pub struct Picture {
    pub name: String,
    pub caption: String,
    pub svg: String,
    /// In pixels, for a flame graph, which has a script. Other pictures are part of the page.
    pub height: Option<usize>,
    /// The standard flame graph of the same recording, which the page then shows instead.
    pub standard: Option<StandardGraph>,
}

impl Section {
    pub fn new(heading: &str, lead: String) -> Self {
        Self { heading: heading.to_owned(), lead, ..Self::default() }
    }

    pub fn has_standard_graphs(&self) -> bool {
        self.pictures.iter().any(|picture| picture.standard.is_some())
    }

    fn html(&self) -> Markup {
        html! {
            section {
                h2 { (self.heading) }
                @if !self.lead.is_empty() { p { (self.lead) } }
                @for finding in &self.findings { p { (with_code(finding)) } }
                @let (standard, ours): (Vec<_>, Vec<_>) =
                    self.pictures.iter().partition(|picture| picture.standard.is_some());
                @if !standard.is_empty() {
                    div class="pair" { @for picture in standard { (picture.html()) } }
                }
                @for picture in ours { (picture.html()) }
                @for table in &self.tables { (table.html()) }
                (note_list(&self.notes.iter().map(in_html).collect::<Vec<_>>()))
            }
        }
    }
}

impl PicturePage {
    pub fn html(&self) -> String {
        // A case by its alias has its question as its title.
        let question = Some(&self.question).filter(|question| **question != self.title);
        let body = html! {
            (header(&self.case, html! { (self.title) }, question.map(|it| html! { (it) })))
            (note_list(&self.notes.iter().map(in_html).collect::<Vec<_>>()))
            @for section in &self.sections { (section.html()) }
            section {
                (made(&self.facts, &self.commands))
                p { "Next to this page: "
                    @for (index, file) in self.files.iter().enumerate() {
                        @if index > 0 { ", " }
                        a href=(file) { (file) }
                    }
                }
            }
        };
        document(&format!("{}: {}", self.case, self.title), body)
    }
}

impl Picture {
    fn html(&self) -> Markup {
        let Self { name, caption, .. } = self;
        let (file, height) = match &self.standard {
            Some(StandardGraph { file, height }) => (file, Some(*height)),
            None => (name, self.height),
        };
        html! {
            figure {
                figcaption {
                    (caption) " " a class="alone" href=(file) { "Open it alone" }
                    @if self.standard.is_some() {
                        span class="alone" { ", or " a href=(name) { "with short names, without the runtime" } }
                    }
                }
                @match height {
                    Some(height) => {
                        object type="image/svg+xml" data=(file) aria-label=(caption)
                            style={ "height:" (height) "px" } { (caption) }
                    }
                    None => (PreEscaped(&self.svg))
                }
            }
        }
    }
}
