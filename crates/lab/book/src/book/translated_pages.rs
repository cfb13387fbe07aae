//! Translated pages: below `docs/zh-CN` under the names of the English ones. They have the same markers, and
//! one more, which says what they translate:
//!
//! ```markdown
//! <!-- lab: translates("docs/src/primer.md", "5d1c0f3a") -->
//! <!-- /lab -->
//! ```
//!
//! The number stands for the English text without what its markers hold, so a new record leaves it alone, and so does
//! a name for a figure, which counts as the expression that it stands for. Once the text has changed, `just docs` writes
//! a line here that links to the newer English page.
//!
//! The tools for translations by gettext (mdbook-i18n-helpers, po4a, mdpo) translate paragraph by paragraph, and
//! a figure is part of its paragraph: each new record would make a quarter of the paragraphs of a case stale.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use lab_report::origin::relative;
use lab_system::write_whole;

use super::{
    markdown::{replaced, targets},
    marker::{Marker, markers},
    names::FigureNames,
    page::{CHAPTERS, CHINESE, Page, Problem},
};

/// The line on a Chinese page whose English page has changed.
const NEWER: &str = "**英文版较新。** 这一页译自较早的英文版，最新内容见";
/// A list of terms, which is in Chinese only.
const TERMS: &str = "TERMS.md";
/// The table of contents: its titles are those of the pages, so it is old only if it lacks one.
const CONTENTS: &str = "/SUMMARY.md";

/// The notice on a page in `page_dir` whose English page has another fingerprint than `of`; empty if the fingerprints
/// are equal.
pub fn notice(root: &Path, page_dir: &Path, english: &str, of: &str) -> anyhow::Result<String> {
    let path = root.join(english);
    if fingerprint(&path)? == of {
        return Ok(String::new());
    }
    Ok(format!("> {NEWER} [English]({})。", relative(page_dir, &path)))
}

/// Whether links and quotations of a page in this directory are of the Chinese book.
pub fn is_chinese(root: &Path, page_dir: &Path) -> bool {
    page_dir.starts_with(root.join(CHINESE))
}

/// The chapter that a page in this directory quotes: in its own language, if there is one.
pub fn chapter(root: &Path, page_dir: &Path, name: &str) -> PathBuf {
    let chinese = root.join(CHINESE).join("src").join(name);
    let is_there = is_chinese(root, page_dir) && chinese.is_file();
    if is_there { chinese } else { root.join(CHAPTERS).join(name) }
}

/// A picture of the English book as a page in this directory shows it: with Chinese words, if its path is Chinese.
pub fn picture(root: &Path, page_dir: &Path, path: &Path) -> PathBuf {
    let name = path.strip_prefix(root.join(CHAPTERS)).ok();
    let name = name.filter(|_| is_chinese(root, page_dir));
    name.map_or(path.to_owned(), |name| root.join(CHINESE).join("src").join(name))
}

pub fn is_about_translation(marker: &Marker) -> bool {
    marker.expression.starts_with("translates(")
}

/// Nothing for a page that translates the English page as it is today. `Ok` has what its translator can do
/// about it, `Err` what is wrong with the page.
pub fn age(page: &Page, root: &Path) -> Option<Result<Problem, Problem>> {
    let english = english(page)?;
    let problem = |line, what| Problem { page: page.name.clone(), line, what };
    if english.ends_with(CONTENTS) {
        let text = std::fs::read_to_string(root.join(&english)).unwrap_or_default();
        let mut targets = targets(&text).into_iter().map(|place| &text[place]);
        let missing = targets.find(|target| !page.text.contains(&format!("{target})")))?;
        return Some(Ok(problem(1, format!("{english} lists {missing}, too"))));
    }
    // A page that only the Chinese book needs.
    if !root.join(&english).exists() {
        return None;
    }
    let (markers, _) = markers(&page.text);
    let how = format!("just docs --translated {}", page.name);
    let Some(marker) = markers.iter().find(|marker| is_about_translation(marker)) else {
        let what = format!("it does not say which text it translates: `{how}` does");
        return Some(Err(problem(1, what)));
    };
    let is_current = fingerprint(&root.join(&english))
        .is_ok_and(|now| marker.expression == expression(&english, &now));
    let what = format!("{english} has changed since: translate the change, then `{how}`");
    (!is_current).then(|| Ok(problem(marker.line, what)))
}

/// Writes into a page that it translates the English page as it is today.
///
/// # Errors
///
/// If the page is not one of the Chinese book, or cannot be read or written.
pub fn translated(root: &Path, name: &str) -> anyhow::Result<String> {
    let page = Page::read(root, name)?;
    let english = english(&page);
    let english = english.with_context(|| format!("name a page below {CHINESE}, not {name}"))?;
    let new = expression(&english, &fingerprint(&root.join(&english))?);
    let (markers, _) = markers(&page.text);
    let text = match markers.iter().find(|marker| is_about_translation(marker)) {
        Some(marker) => page.text.replacen(&marker.expression, &new, 1),
        None => format!("<!-- lab: {new} -->\n<!-- /lab -->\n\n{}", page.text),
    };
    write_whole(&page.path, &text)?;
    Ok(english)
}

/// The name of the English page that a Chinese one translates.
pub(super) fn english(page: &Page) -> Option<String> {
    let name = page.name.strip_prefix(CHINESE)?.trim_start_matches('/');
    let english = match name.strip_prefix("src/") {
        Some(chapter) => format!("{CHAPTERS}/{chapter}"),
        None => name.to_owned(),
    };
    (name != TERMS).then_some(english)
}

fn expression(english: &str, fingerprint: &str) -> String {
    format!("translates(\"{english}\", \"{fingerprint}\")")
}

/// A checksum of the text that a person wrote: without what the markers hold, with the expression of each, and
/// however its lines are broken.
fn fingerprint(path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let (markers, faults) = markers(&text);
    ensure!(faults.is_empty(), "{} has a malformed marker", path.display());
    let (names, _) = FigureNames::of(&text);
    let mut new: Vec<_> = names.place.iter().map(|place| (place.clone(), String::new())).collect();
    for marker in markers {
        if let Some(expression) = names.of_marker(&marker) {
            let bar = if marker.is_in_table { "\\|" } else { "|" };
            new.push((marker.place, expression.replace('|', bar)));
        }
        new.push((marker.content, String::new()));
    }
    Ok(checksum(&replaced(&text, new)))
}

/// A checksum of a text, however its lines are broken.
pub(super) fn checksum(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{:08x}", crc32fast::hash(words.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{book::splice, fixture::Fixture};

    const ENGLISH: &str = "# T\n\nIt has <!-- lab: toy.users -->3000<!-- /lab --> users.\n";

    fn chinese(fixture: &Fixture) -> Page {
        Page::read(&fixture.book().root, "docs/zh-CN/src/README.md").unwrap()
    }

    #[test]
    fn a_page_is_older_once_the_english_words_change_and_not_its_figures_or_lines() {
        let fixture = Fixture::new();
        let root = fixture.book().root;
        fixture.write("docs/src/README.md", ENGLISH);
        fixture.write("docs/zh-CN/src/README.md", "# 题\n");
        let missing = age(&chinese(&fixture), &root).unwrap().unwrap_err();
        assert!(missing.what.contains("just docs --translated docs/zh-CN/src/README.md"));
        translated(&root, "docs/zh-CN/src/README.md").unwrap();

        let unchanged = ENGLISH.replace("3000", "40").replace(" users", "\nusers");
        let newer = ENGLISH.replace("users.", "visitors.");
        for (english, line) in [(&*unchanged, ""), (&newer, "[English](../../src/README.md)")] {
            fixture.write("docs/src/README.md", english);
            let page = chinese(&fixture);
            let spliced = splice(&page, &fixture.book());
            assert_eq!((spliced.faults, spliced.stale), (vec![], vec![]), "never an error");
            let expected = if line.is_empty() { 0 } else { 1 };
            assert_eq!(spliced.text.matches("英文版较新").count(), expected);
            assert!(spliced.text.contains(line), "{}", spliced.text);
            assert_eq!(age(&page, &root).is_some_and(|age| age.is_ok()), expected == 1);
        }

        translated(&root, "docs/zh-CN/src/README.md").unwrap();
        assert_eq!(age(&chinese(&fixture), &root), None);
        let text = chinese(&fixture).text;
        assert_eq!(text.matches("translates(").count(), 1, "{text}");
        fixture.write("docs/src/SUMMARY.md", "- [A](a.md)\n  - [B](cases/b.md)\n- [C]()\n");
        fixture
            .write("docs/zh-CN/src/SUMMARY.md", "- [B（英文）](../../src/cases/b.md)\n- [C]()\n");
        let contents = Page::read(&root, "docs/zh-CN/src/SUMMARY.md").unwrap();
        let lacking = age(&contents, &root).unwrap().unwrap();
        assert!(lacking.what.ends_with("lists a.md, too"), "{lacking}");
        let error = translated(&root, "docs/src/README.md").unwrap_err().to_string();
        assert_eq!(error, "name a page below docs/zh-CN, not docs/src/README.md");
    }

    #[test]
    fn a_name_for_a_figure_leaves_the_translation_as_new_as_it_was() {
        let fixture = Fixture::new();
        let of = |text: &str| {
            fixture.write("docs/src/README.md", text);
            fingerprint(&fixture.path().join("docs/src/README.md")).unwrap()
        };
        let text = |[line, cell, end]: [&str; 3]| {
            format!(
                "It has <!-- lab: {line} -->3,000<!-- /lab --> users.\n\n| a |\n|---|\n\
                     | <!-- lab: {cell} -->3,000<!-- /lab --> |\n{end}"
            )
        };
        let names = "\n<!-- figures\nusers = toy.users | thousands\n-->\n";
        let plain = of(&text(["toy.users | thousands", "toy.users \\| thousands", ""]));
        assert_eq!(of(&text(["users", "users", names])), plain);
        let other = names.replace("toy.users", "toy.pairs");
        assert_ne!(of(&text(["users", "users", &other])), plain, "other figures are another text");
    }
}
