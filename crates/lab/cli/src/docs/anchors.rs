//! Anchors: how the headings of a page are named in links.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::{self, attributes};

/// What `#` may be followed by: the headings as the book and the code host name them, and ids.
pub fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut heading: Option<(Option<String>, String)> = None;
    for (event, _) in markdown::events(text) {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                heading = Some((id.map(|id| id.to_string()), String::new()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, words)) = &mut heading {
                    words.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((id, words)) = heading.take() else { continue };
                let slug = slug(&words);
                let count = seen.entry(slug.clone()).or_default();
                let numbered = if *count == 0 { slug } else { format!("{slug}-{count}") };
                *count += 1;
                anchors.insert(id.unwrap_or(numbered));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let ids = ["id", "name"].into_iter().flat_map(|it| attributes(&html, it));
                anchors.extend(ids.map(str::to_owned));
            }
            _ => {}
        }
    }
    anchors
}

/// The name of a heading in a link: `How to measure` as `how-to-measure`.
fn slug(heading: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => {
            Some(c.to_lowercase().next().unwrap_or(c))
        }
        c if c.is_whitespace() => Some('-'),
        _ => None,
    };
    heading.trim().chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_named_as_the_book_and_the_code_host_name_them() {
        let page =
            "# How to measure\n\n## `lab`: what, why?\n\n## Why\n\n## Why\n\n## Über 3_x-y\n";
        let expected = ["how-to-measure", "lab-what-why", "why", "why-1", "über-3_x-y"];
        assert_eq!(anchors(page), expected.map(str::to_owned).into());
    }

    #[test]
    fn an_id_is_an_anchor_too() {
        let found = anchors("## Why {#reason}\n\nSee <a id=\"there\"></a>.\n");
        assert_eq!(found, ["reason", "there"].map(str::to_owned).into());
    }
}
