//! Links: whether each leads to a file that exists, and to a heading in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::Path,
};

use pulldown_cmark::{Event, Tag};

use super::{
    markdown::{parts, targets},
    page::{Page, Problem, line_of},
};

/// The broken links of a page. Links to other sites are not followed.
pub fn broken(page: &Page, root: &Path) -> Vec<Problem> {
    let text = &page.text;
    let problem = |place: Range<usize>| {
        let (line, target) = (line_of(text, place.start), &text[place]);
        let what = format!("the link `{target}` is broken: {}", fault(page, root, target)?);
        Some(Problem { page: page.name.clone(), line, what })
    };
    targets(text).into_iter().filter_map(problem).collect()
}

fn fault(page: &Page, root: &Path, target: &str) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    // In the table of contents, an entry without a page folds those below it.
    if file.contains(':') || target.is_empty() && page.name.ends_with("/SUMMARY.md") {
        return None;
    }
    if file.starts_with('/') || target.is_empty() {
        return Some("write the path from this page on");
    }
    let path = if file.is_empty() { page.path.clone() } else { page.dir().join(file) };
    let (Ok(path), Ok(root)) = (path.canonicalize(), root.canonicalize()) else {
        return Some("there is no such file");
    };
    if !path.starts_with(root) {
        return Some("it leads out of the workspace");
    }
    let is_chapter = path.extension().is_some_and(|extension| extension == "md");
    let has_anchor =
        || std::fs::read_to_string(path).is_ok_and(|text| anchors(&text).contains(anchor));
    (is_chapter && !anchor.is_empty() && !has_anchor()).then_some("no heading has this name")
}

/// The fragments that a link can have after `#`: headings as the book and the code host name them, and ids.
fn anchors(text: &str) -> BTreeSet<String> {
    let ids = text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mut anchors: BTreeSet<_> = ids.map(str::to_owned).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (part, place) in parts(text) {
        if matches!(part, Event::Start(Tag::Heading { .. })) {
            let slug = slug(text[place].trim_start_matches('#'));
            let count = seen.entry(slug.clone()).or_default();
            anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
            *count += 1;
        }
    }
    anchors
}

/// The name of a heading in a link: `How to measure` as `how-to-measure`.
fn slug(heading: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_whitespace() => Some('-'),
        c => (c.is_alphanumeric() || c == '_' || c == '-').then_some(c),
    };
    heading.trim().to_lowercase().chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn broken_links_are_reported_and_others_are_not() {
        let fixture = Fixture::new();
        fixture.write("docs/src/a.md", "# A `b`, c: d\n\n## Why?\n\n## Why?\n\n<a id=\"x\"></a>\n");
        for (text, what) in [
            (
                "[a](a.md#a-b-c-d) [b](a.md#why-1) [c](#here) [d](../src)\n\n<a href=\"a.md#x\">e</a>",
                "",
            ),
            ("[a](https://example.org/x) [b](mailto:a@b.c) `[c](b.md)`\n\n```\n[a](b.md)\n```", ""),
            ("`` ` [a](b.md)\n[a](b.md) ``\n\n~~~\n[a](b.md)\n~~~\n\n[a](a.md \"A\")", ""),
            ("[a](b.md)", ":3: the link `b.md` is broken: there is no such file"),
            ("<img src=\"b.svg\">", "there is no such file"),
            ("[a](a.md#whi)", "no heading has this name"),
            ("[a](/a.md)", "write the path from this page on"),
            ("[a](../../..)", "leads out of the workspace"),
        ] {
            let text = format!("# Here\n\n{text}");
            fixture.write("docs/src/README.md", &text);
            let name = "docs/src/README.md".to_owned();
            let page = Page { path: fixture.path().join(&name), name, text };
            let found: Vec<_> =
                broken(&page, fixture.path()).iter().map(Problem::to_string).collect();
            assert_eq!(found.len(), usize::from(!what.is_empty()), "{found:?}");
            assert!(found.iter().all(|found| found.contains(what)), "{found:?}");
        }
    }
}
