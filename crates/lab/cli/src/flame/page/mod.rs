//! The page of a case: a question, the pictures that answer it, and the same as text.
//!
//! A page is one file beside its pictures and needs nothing else: no network, no framework, and no
//! script of its own. It knows no case; whoever fills the model does.

mod index;

use maud::{Markup, html};

pub use index::index;

use crate::page::document;
pub use crate::page::{Picture, Table};

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
    /// Files beside the page that it does not show: what was recorded, for other tools.
    pub files: Vec<String>,
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
                @if !self.files.is_empty() {
                    p { "Beside this page: "
                        @for (index, file) in self.files.iter().enumerate() {
                            @if index > 0 { ", " }
                            a href=(file) { (file) }
                        }
                    }
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

#[cfg(test)]
mod tests;
