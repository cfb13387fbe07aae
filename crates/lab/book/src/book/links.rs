//! Links: whether each leads to a file that exists, and to a heading in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Component, Path, PathBuf},
};

use lab_model::unknown;
use pulldown_cmark::{Event, Tag, TagEnd};

use super::{
    Page,
    markdown::{self, attributes},
    page::{Problem, line_of},
};

/// The broken links of a page. Links to other sites are not followed.
pub fn broken(page: &Page, root: &Path) -> Vec<Problem> {
    let problem = |(range, target): (Range<usize>, String)| {
        let what = fault(page, root, &target)?;
        let (page, line) = (page.name.clone(), line_of(&page.text, range.start));
        Some(Problem { page, line, what: format!("the link `{target}` is broken: {what}") })
    };
    targets(&page.text).into_iter().filter_map(problem).collect()
}

fn fault(page: &Page, root: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    if file.contains(':') || file.starts_with("//") {
        return None;
    }
    if file.starts_with('/') || target.is_empty() {
        return Some("write the path from this page on".to_owned());
    }
    let path = if file.is_empty() { page.path.clone() } else { resolve(page.dir(), file) };
    let Ok(below) = path.strip_prefix(root) else {
        return Some("it leads out of the workspace".to_owned());
    };
    if !path.exists() {
        return Some(format!("there is no {}", below.display()));
    }
    if anchor.is_empty() || path.extension().is_none_or(|extension| extension != "md") {
        return None;
    }
    let anchors = match path == page.path {
        true => anchors(&page.text),
        false => anchors(&std::fs::read_to_string(&path).ok()?),
    };
    let kind = format!("heading of {}", below.display());
    (!anchors.contains(anchor))
        .then(|| unknown(&kind, anchor, anchors.iter().map(String::as_str)).to_string())
}

/// Where a relative target leads.
fn resolve(dir: &Path, file: &str) -> PathBuf {
    let mut path = dir.to_owned();
    for part in Path::new(&file.replace("%20", " ")).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The targets of all links and images, with their places in the page.
fn targets(text: &str) -> Vec<(Range<usize>, String)> {
    let mut targets = Vec::new();
    for (event, range) in markdown::events(text) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                targets.push((range, dest_url.into_string()));
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let found =
                    ["href", "src", "data"].into_iter().flat_map(|it| attributes(&html, it));
                targets.extend(found.map(|target| (range.clone(), target.to_owned())));
            }
            _ => {}
        }
    }
    targets
}

/// What `#` may be followed by: the headings as the book and the code host name them, and ids.
fn anchors(text: &str) -> BTreeSet<String> {
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
        c if c.is_whitespace() => Some('-'),
        c => (c.is_alphanumeric() || c == '_' || c == '-').then_some(c),
    };
    heading.trim().to_lowercase().chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a page in a workspace that has one more, `docs/src/cases/a.md`.
    fn problems(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let cases = dir.path().join("docs/src/cases");
        std::fs::create_dir_all(&cases).unwrap();
        let other = "# A `b`, c: d\n\n## Why?\n\n## Why?\n\n<a id=\"x\"></a>\n\n## Über {#y}\n";
        std::fs::write(cases.join("a.md"), other).unwrap();
        let name = "docs/src/README.md".to_owned();
        let page = Page { path: dir.path().join(&name), name, text: text.to_owned() };
        std::fs::write(&page.path, text).unwrap();
        broken(&page, dir.path()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_headings_and_other_sites_can_be_linked() {
        let text = "# Here\n\n[a](cases/a.md) [b](cases/a.md#a-b-c-d) [c](cases/a.md#why-1) [d](#here) \
                    [e](https://example.org/x) [f](mailto:a@b.c) [g](../src/cases) [h](cases/a.md#x)\n\n\
                    <a href=\"cases/a.md#why\">i</a>\n\n[j]\n\n[j]: cases/a.md#y\n\n\
                    `[a](b.md)`\n\n```\n[a](b.md)\n```\n";
        assert_eq!(problems(text), Vec::<String>::new());
    }

    #[test]
    fn broken_links_are_reported_with_their_line() {
        for (text, what) in [
            (
                "x\n\n[a](cases/b.md)",
                "docs/src/README.md:3: the link `cases/b.md` is broken: \
              there is no docs/src/cases/b.md",
            ),
            ("<img src=\"b.svg\">", "there is no docs/src/b.svg"),
            (
                "[a](cases/a.md#whi)",
                "no heading of docs/src/cases/a.md is named `whi`; did you mean `why`?",
            ),
            ("[a](/cases/a.md)", "write the path from this page on"),
            ("[a]()", "write the path from this page on"),
            ("[a](../../../elsewhere.md)", "leads out of the workspace"),
        ] {
            let found = problems(text);
            assert!(found.len() == 1 && found[0].contains(what), "{text}: {found:?}");
        }
    }
}
