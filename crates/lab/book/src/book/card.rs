//! Cards: what a case's page says about it in four rows, quoted by another page.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lab_report::origin::relative;
use pulldown_cmark::Event;

use super::markdown::{parts, replaced, targets};

/// The ends of a card in its page.
const CARD: [&str; 2] = ["<!-- card -->", "<!-- /card -->"];

/// The card in the text of a page, for a page in the directory `to`: without comments, and with links
/// that start there.
pub fn card(text: &str, from: &Path, to: &Path) -> anyhow::Result<String> {
    let inner = text.split_once(CARD[0]).and_then(|(_, rest)| rest.split_once(CARD[1]));
    let (inner, _) = inner.with_context(|| format!("it has no `{}` … `{}`", CARD[0], CARD[1]))?;
    let mut new = Vec::new();
    for place in targets(inner) {
        new.push((place.clone(), link(&inner[place], from, to)?));
    }
    // What is between two markers stays.
    let comments = parts(inner).filter(|(part, _)| {
        matches!(part, Event::Html(html) | Event::InlineHtml(html) if html.starts_with("<!--"))
    });
    new.extend(comments.map(|(_, place)| (place, String::new())));
    Ok(replaced(inner, new).trim().to_owned())
}

/// A link that starts in `from`, as a link that starts in `to`.
fn link(target: &str, from: &Path, to: &Path) -> anyhow::Result<String> {
    if target.contains(':') {
        return Ok(target.to_owned());
    }
    let (file, anchor) = target.split_at(target.find('#').unwrap_or(target.len()));
    let path = from.join(file).canonicalize();
    let path = path.map_err(|_| anyhow!("the link `{target}` in the card leads to no file"))?;
    Ok(relative(to, &path) + anchor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_card_can_be_part_of_another_page() {
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
