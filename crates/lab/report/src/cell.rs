//! A cell of a table: its text, and what that means. A renderer decides how it shows the meaning.

use lab_stats::Verdict;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(from = "String")]
pub struct Cell {
    pub text: String,
    pub meaning: Meaning,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Meaning {
    #[default]
    Plain,
    /// The name of a case or a candidate, which a page shows in a section of its own.
    Case,
    /// The name of the metric that the verdict is about.
    Decides,
    /// The word for a verdict.
    Verdict(Verdict),
    /// A factor that shows this.
    Factor(Verdict),
}

impl Cell {
    pub fn new(text: impl Into<String>, meaning: Meaning) -> Self {
        Self { text: text.into(), meaning }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, Meaning::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl PartialEq<&str> for Cell {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}
