//! The links of a Chinese page. A translator copies the English page with its links; here each gets to lead to
//! the Chinese page, if there is one, and otherwise to the English one, and says so.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use lab_report::origin::relative;

use super::{
    markdown::{replaced, targets},
    marker::markers,
    page::{CHAPTERS, CHINESE, Page},
    translated_pages::english,
};

/// The end of the words of a link to an English page.
const IN_ENGLISH: &str = "（英文）";

/// The page with links that lead where they should. Pages that are not Chinese stay as they are.
pub fn relinked(page: &Page, root: &Path) -> Page {
    let Some(english) = english(page) else { return page.clone() };
    let from = root.join(english);
    let dirs = [page.dir(), from.parent().unwrap_or(root)];
    let (markers, _) = markers(&page.text);
    let link = |place: Range<usize>| {
        let target = &page.text[place.clone()];
        let is_made = markers.iter().any(|marker| marker.content.contains(&place.start));
        let (file, anchor) = target.split_at(target.find('#').unwrap_or(target.len()));
        if is_made || file.is_empty() || file.contains(':') {
            return None;
        }
        let path = dirs.iter().find_map(|dir| dir.join(file).canonicalize().ok())?;
        let path = chinese(root, &path).unwrap_or(path);
        let is_english = path.starts_with(root.join(CHAPTERS)) && file.ends_with(".md");
        let end = if is_english { IN_ENGLISH } else { "" };
        let words = page.text[..place.start].strip_suffix("](")?;
        let words = words.strip_suffix(IN_ENGLISH).unwrap_or(words);
        let new = format!("{end}]({}{anchor}", relative(page.dir(), &path));
        Some((words.len()..place.end, new))
    };
    let new = targets(&page.text).into_iter().filter_map(link).collect();
    Page { text: replaced(&page.text, new), ..page.clone() }
}

/// The Chinese page of an English one, if it is there, or the Chinese form of a picture, which `just docs` makes.
fn chinese(root: &Path, path: &Path) -> Option<PathBuf> {
    let name = path.strip_prefix(root.join(CHAPTERS)).ok()?;
    let chinese = root.join(CHINESE).join("src").join(name);
    (path.extension()? == "svg" || path.extension()? == "md" && chinese.is_file())
        .then_some(chinese)
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
            ("![图](../../src/p.svg)", "![图](p.svg)"),
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
