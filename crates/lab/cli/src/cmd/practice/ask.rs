//! A question on the terminal.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;

/// Asks until an answer can be used.
pub fn ask<T>(question: &str, flag: &str, usable: impl Fn(&str) -> Option<T>) -> anyhow::Result<T> {
    let mut lines = std::io::stdin().lock().lines();
    loop {
        eprint!("{question} ");
        std::io::stderr().flush()?;
        let none = || format!("\nno answer, so nothing was changed: give it as {flag}");
        let line = lines.next().with_context(none)??;
        if let Some(answer) = usable(line.trim()) {
            return Ok(answer);
        }
    }
}
