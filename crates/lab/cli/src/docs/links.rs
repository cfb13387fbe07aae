//! Links: whether each leads to a file that exists, and to a heading that it has.

use std::{
    ops::Range,
    path::{Component, Path, PathBuf},
};

use pulldown_cmark::{Event, Tag};

use super::{
    Page,
    anchors::anchors,
    markdown::{self, attributes},
    problem::{Problem, line_of},
};

/// The links of a page that lead nowhere. Those to other sites are not followed.
pub fn broken(page: &Page, root: &Path) -> Vec<Problem> {
    let fault = |(range, target): (Range<usize>, String)| {
        let what = fault(page, root, &target)?;
        let line = line_of(&page.text, range.start);
        Some(Problem { page: page.name.clone(), line, what: format!("the link `{target}` {what}") })
    };
    targets(&page.text).into_iter().filter_map(fault).collect()
}

fn fault(page: &Page, root: &Path, target: &str) -> Option<String> {
    if is_elsewhere(target) {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    if file.starts_with('/') {
        return Some(
            "starts at the root of whatever site it is shown on: write it from here on".into(),
        );
    }
    if target.is_empty() {
        return Some("is empty: name a file or a heading".into());
    }
    let path = if file.is_empty() { page.path.clone() } else { resolve(page.dir(), file) };
    if !path.starts_with(root) {
        return Some("leads out of the workspace: nobody else has what is there".into());
    }
    if !path.exists() {
        return Some(format!("leads nowhere: there is no {}", below(root, &path)));
    }
    if anchor.is_empty() || path.extension().is_none_or(|extension| extension != "md") {
        return None;
    }
    let anchors = match path == page.path {
        true => anchors(&page.text),
        false => anchors(&std::fs::read_to_string(&path).ok()?),
    };
    if anchors.contains(anchor) {
        return None;
    }
    let similarity = |other: &&String| strsim::jaro_winkler(other, anchor);
    let nearest = anchors.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let guess = nearest.map_or(String::new(), |nearest| format!("; the nearest is `#{nearest}`"));
    Some(format!("leads to a heading that {} has not{guess}", below(root, &path)))
}

fn below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Whether a target is another site's.
fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split(':').next().filter(|scheme| scheme.len() < target.len());
    target.starts_with("//")
        || scheme.is_some_and(|it| it.chars().all(|c| c.is_ascii_alphanumeric() || c == '+'))
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

/// The targets of all links and images, with where these are in the page.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of the links of a page in a workspace that has one more, `docs/src/cases/a.md`.
    fn told(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let cases = dir.path().join("docs/src/cases");
        std::fs::create_dir_all(&cases).unwrap();
        std::fs::write(
            cases.join("a.md"),
            "# A `b`, c: d\n\n## Why?\n\n## Why?\n\n<a id=\"x\"></a>\n",
        )
        .unwrap();
        let name = "docs/src/README.md".to_owned();
        let page = Page { path: dir.path().join(&name), name, text: text.to_owned() };
        std::fs::write(&page.path, text).unwrap();
        broken(&page, dir.path()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_headings_and_other_sites_can_be_linked() {
        let text = "# Here\n\n[a](cases/a.md) [b](cases/a.md#a-b-c-d) [c](cases/a.md#why-1) [d](#here) \
                    [e](https://example.org/x) [f](mailto:a@b.c) [g](../src/cases) [h](cases/a.md#x)\n\n\
                    <a href=\"cases/a.md#why\">i</a>\n\n[j]\n\n[j]: cases/a.md\n";
        assert_eq!(told(text), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_not_there_is_told_with_its_line() {
        assert_eq!(
            told("x\n\n[a](cases/b.md)\n"),
            [
                "docs/src/README.md:3: the link `cases/b.md` leads nowhere: there is no docs/src/cases/b.md"
            ]
        );
        assert_eq!(told("![a](a.svg) <img src=\"b.svg\">").len(), 2);
    }

    #[test]
    fn a_heading_that_is_not_there_is_answered_with_the_nearest() {
        let told = told("[a](cases/a.md#whi)");
        assert!(
            told[0].ends_with("docs/src/cases/a.md has not; the nearest is `#why`"),
            "{told:?}"
        );
    }

    #[test]
    fn what_others_do_not_have_is_no_target() {
        assert!(told("[a](/cases/a.md)")[0].contains("write it from here on"));
        assert!(told("[a](../../../elsewhere.md)")[0].contains("leads out of the workspace"));
        assert!(told("[a]()")[0].contains("is empty"));
    }

    #[test]
    fn links_in_code_are_none() {
        assert_eq!(told("`[a](b.md)`\n\n```\n[a](b.md)\n```\n"), Vec::<String>::new());
    }
}
