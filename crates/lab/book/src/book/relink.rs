//! The links of a Chinese page. A translator copies the English page with its links; here each gets to lead to
//! the Chinese page, if there is one, and otherwise to the English one, and says so.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

use lab_model::origin::relative;
use regex_lite::{Captures, Regex};

use super::{
    Page,
    marker::markers,
    page::{CHAPTERS, is_code},
    translation::{CHINESE, english},
};

/// What the words of a link to an English page end in.
const IN_ENGLISH: &str = "（英文）";

/// The end of a link's words, and its target.
static LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(（英文）)?\]\(([^)\s]+)\)").expect("a valid pattern"));

/// The page with links that lead where they should. Pages that are not Chinese stay as they are.
pub fn relinked(page: &Page, root: &Path) -> Page {
    let Some(english) = english(page) else { return page.clone() };
    let from = root.join(english);
    let dirs = [page.dir(), from.parent().unwrap_or(root)];
    let (markers, _) = markers(&page.text);
    let link = |found: &Captures| {
        let (at, whole) = (found.get(0).map_or(0, |it| it.start()), found[0].to_owned());
        let is_made = markers.iter().any(|marker| marker.content.contains(&at));
        let (file, anchor) = found[2].find('#').map_or((&found[2], ""), |it| found[2].split_at(it));
        if is_made || is_code(&page.text, at) || file.is_empty() || file.contains(':') {
            return whole;
        }
        let there = dirs.iter().find_map(|dir| dir.join(file).canonicalize().ok());
        let Some(path) = there.map(|path| chinese(root, &path).unwrap_or(path)) else {
            return whole;
        };
        let is_english = path.starts_with(root.join(CHAPTERS)) && file.ends_with(".md");
        let words = if is_english { IN_ENGLISH } else { "" };
        format!("{words}]({}{anchor})", relative(page.dir(), &path))
    };
    Page { text: LINK.replace_all(&page.text, link).into_owned(), ..page.clone() }
}

/// The Chinese page of an English one, if it is there.
fn chinese(root: &Path, path: &Path) -> Option<PathBuf> {
    let name = path.strip_prefix(root.join(CHAPTERS)).ok()?;
    let chinese = root.join(CHINESE).join("src").join(name);
    (path.extension()? == "md" && chinese.is_file()).then_some(chinese)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_link_leads_to_the_chinese_page_if_there_is_one_and_says_if_not() {
        let fixture = Fixture::new();
        let root = fixture.book().root;
        for name in ["docs/src/a.md", "docs/src/b.md", "docs/src/p.svg", "docs/zh-CN/src/a.md"] {
            fixture.write(name, "");
        }
        for (text, expected) in [
            ("[甲](a.md#x)", "[甲](a.md#x)"),
            ("[甲（英文）](../../src/a.md#x)", "[甲](a.md#x)"),
            ("[乙](b.md#x)", "[乙（英文）](../../src/b.md#x)"),
            ("[乙（英文）](../../src/b.md)", "[乙（英文）](../../src/b.md)"),
            ("![图](p.svg)", "![图](../../src/p.svg)"),
            ("[库](../../crates/toy/src/slow.rs)", "[库](../../../crates/toy/src/slow.rs)"),
            ("`[乙](b.md)` [丙](c.md) [丁](#x) [戊](https://example.org)", ""),
            ("<!-- lab: x -->\n[甲](../../src/a.md)\n<!-- /lab -->", ""),
        ] {
            fixture.write("docs/zh-CN/src/README.md", text);
            let page = Page::read(&root, "docs/zh-CN/src/README.md").unwrap();
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(relinked(&page, &root).text, expected);
        }
    }
}
