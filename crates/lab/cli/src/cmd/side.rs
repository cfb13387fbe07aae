//! One side of `lab compare`, as the user typed it.

use anyhow::Context as _;
use http::Uri;
use lab_system::without_secrets;

/// A server as it was given, and the paths that only it is asked for.
#[derive(Debug, PartialEq)]
pub struct Side {
    pub name: Option<String>,
    /// A command, a URL or a revision.
    pub given: String,
    pub gets: Vec<String>,
}

impl Side {
    /// From `NAME=COMMAND GET /path`. A name has no capital letter and no underscore, so that it is not taken for a
    /// variable of the environment.
    pub fn typed(text: &str) -> Self {
        let mut given = text.trim();
        let is_allowed = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || "-.".contains(character)
        };
        let is_name = |name: &str| !name.is_empty() && name.chars().all(is_allowed);
        let named = given.split_once('=').filter(|(name, _)| is_name(name));
        let name = named.map(|(name, _)| name.to_owned());
        given = named.map_or(given, |(_, given)| given.trim());
        let mut gets = Vec::new();
        while let Some((before, path)) = given.rsplit_once(" GET /")
            && !path.contains(char::is_whitespace)
        {
            gets.insert(0, format!("/{path}"));
            given = before.trim_end();
        }
        Self { name, given: given.to_owned(), gets }
    }

    pub fn is_running(&self) -> bool {
        self.given.starts_with("http://") || self.given.starts_with("https://")
    }

    pub fn url(&self) -> anyhow::Result<Uri> {
        let shown = without_secrets(&self.given);
        self.given
            .parse()
            .with_context(|| format!("`{shown}` is no URL, such as http://localhost:8080/"))
    }
}
