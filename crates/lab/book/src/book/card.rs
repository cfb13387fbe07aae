//! Cards: what a case's page says about it in four rows, quoted by another page.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lab_model::origin::relative;

/// The ends of a card in its page.
const CARD: [&str; 2] = ["<!-- card -->", "<!-- /card -->"];

/// The card in the text of a page, for a page in the directory `to`: without comments, and with links
/// that start there.
pub fn card(text: &str, from: &Path, to: &Path) -> anyhow::Result<String> {
    let inner = text.split_once(CARD[0]).and_then(|(_, rest)| rest.split_once(CARD[1]));
    let (inner, _) = inner.with_context(|| format!("it has no `{}` … `{}`", CARD[0], CARD[1]))?;
    let mut parts = without_comments(inner).split("](").map(str::to_owned).collect::<Vec<_>>();
    for part in parts.iter_mut().skip(1) {
        let (target, rest) = part.split_once(')').context("a link in the card has no end")?;
        *part = format!("{})", link(target, from, to)?) + rest;
    }
    Ok(parts.join("](").trim().to_owned())
}

/// The text without its markers; what is between them stays.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("-->").map_or("", |(_, rest)| rest))
}

/// A link that starts in `from`, as a link that starts in `to`.
fn link(target: &str, from: &Path, to: &Path) -> anyhow::Result<String> {
    if target.contains(':') {
        return Ok(target.to_owned());
    }
    let (file, anchor) = target.find('#').map_or((target, ""), |at| target.split_at(at));
    let path = from.join(file).canonicalize();
    let path = path.map_err(|_| anyhow!("the link `{target}` in the card leads to no file"))?;
    Ok(relative(to, &path) + anchor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_card_comes_without_comments_and_with_links_that_start_in_the_other_page() {
        let fixture = Fixture::new();
        fixture.write("docs/src/cases/toy.md", "");
        let root = fixture.path().canonicalize().unwrap();
        let (from, to) = (root.join("docs/src/cases"), root.join("docs/src"));
        let text = "# Toy\n\n<!-- card -->\n| | |\n|---|---|\n| Model | <!-- lab: toy.users \\| thousands -->3,000<!-- /lab --> \
                    [a](../README.md#t), [b](toy.md), [c](https://example.org/) |\n<!-- /card -->\n\nNext.\n";
        let made = card(text, &from, &to).unwrap();
        let row =
            "| Model | 3,000 [a](README.md#t), [b](cases/toy.md), [c](https://example.org/) |";
        assert_eq!(made, format!("| | |\n|---|---|\n{row}"));
        for (text, why) in [
            ("no card", "it has no `<!-- card -->`"),
            ("<!-- card -->[a](gone.md)<!-- /card -->", "`gone.md` in the card leads to no file"),
        ] {
            let error = card(text, &from, &to).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
