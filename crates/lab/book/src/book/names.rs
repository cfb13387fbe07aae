//! Short names for figures whose expressions are long. A page defines them in one comment at its end, and its
//! markers carry them:
//!
//! ```markdown
//! A round takes <!-- lab: round_ns -->88.9<!-- /lab --> ns.
//!
//! <!-- figures
//! round_ns = (2000 / hot_clone.slow.throughput_rps) | figure
//! -->
//! ```
//!
//! A Chinese page has the names of the English page that it translates, so that a figure is defined once.

use std::{fs, ops::Range};

use anyhow::Context as _;
use lab_cases::unknown;

use super::{
    evaluate::Book,
    marker::{Marker, MarkerFault, comments},
    page::{Page, line_of},
    translated_pages::english,
};

/// The first line of the comment, after `<!--`.
const HEAD: &str = "figures";

/// The names that the markers of a page can carry.
#[derive(Debug, Default)]
pub struct FigureNames {
    definitions: Vec<FigureDefinition>,
    /// The range of the comment that defines them.
    pub place: Option<Range<usize>>,
    /// The path of the page that defines them, below the workspace.
    page: String,
}

#[derive(Debug)]
struct FigureDefinition {
    line: usize,
    name: String,
    expression: String,
}

impl FigureNames {
    /// The names that a text defines, and what is wrong with the definitions.
    pub fn of(text: &str) -> (Self, Vec<MarkerFault>) {
        let (mut names, mut faults) = (Self::default(), Vec::new());
        for (place, inner) in comments(text) {
            let Some((head, lines)) = inner.split_once('\n') else { continue };
            if head.trim() != HEAD {
                continue;
            }
            let line = line_of(text, place.start);
            let is_closed = text[place.clone()].ends_with("-->");
            if !is_closed || !text[place.end..].trim().is_empty() {
                let form = format!("`<!-- {HEAD}`, lines of `NAME = EXPRESSION`, and `-->`");
                let what = format!("put all names into one comment at the end of the page: {form}");
                faults.push((line, what));
            }
            for (number, definition) in (line + 1..).zip(lines.lines()) {
                let added = names.add(number, definition.trim());
                faults.extend(added.err().map(|what| (number, what)));
            }
            names.place = Some(place);
        }
        (names, faults)
    }

    fn add(&mut self, line: usize, definition: &str) -> Result<(), String> {
        if definition.is_empty() {
            return Ok(());
        }
        let parts = definition.split_once('=').map(|(name, rest)| (name.trim(), rest.trim()));
        let parts = parts.filter(|(name, expression)| is_name(name) && !expression.is_empty());
        let (name, expression) = parts.ok_or_else(|| {
            format!(
                "`{definition}` is no definition: write `NAME = EXPRESSION`, such as `round_ns = …`"
            )
        })?;
        if let Some(first) = self.definitions.iter().find(|other| other.name == name) {
            return Err(format!(
                "`{name}` is defined twice, on line {}, too: remove one",
                first.line
            ));
        }
        let [name, expression] = [name, expression].map(str::to_owned);
        self.definitions.push(FigureDefinition { line, name, expression });
        Ok(())
    }

    /// The expression that a marker's name stands for.
    pub fn of_marker(&self, marker: &Marker) -> Option<&str> {
        let mut definitions = self.definitions.iter();
        let definition = definitions.find(|definition| definition.name == marker.expression)?;
        Some(&definition.expression)
    }

    /// What to evaluate for a marker.
    ///
    /// # Errors
    ///
    /// If the marker carries a name that nobody defined.
    pub fn expression<'a>(&'a self, marker: &'a Marker, book: &Book) -> anyhow::Result<&'a str> {
        let written = marker.expression.as_str();
        let named = self.of_marker(marker);
        if named.is_none() && is_name(written) && !book.has(written) {
            let known = self.definitions.iter().map(|definition| definition.name.as_str());
            let unknown = Err(unknown("figure", written, known));
            return unknown.with_context(|| {
                format!("define it at the end of {}, below `<!-- {HEAD}`", self.page)
            });
        }
        Ok(named.unwrap_or(written))
    }

    /// The names that no marker carries, and those that already mean something in every expression.
    fn misnamed(&self, markers: &[Marker], book: &Book) -> Vec<MarkerFault> {
        let fault = |FigureDefinition { line, name, .. }: &FigureDefinition| {
            let is_used = markers.iter().any(|marker| marker.expression == *name);
            let what = match (book.has(name), is_used) {
                (true, _) => "hides a case, a function or a record of this name: rename it",
                (false, false) => "is a name that no marker of this page carries: remove it",
                (false, true) => return None,
            };
            Some((*line, format!("`{name}` {what}")))
        };
        self.definitions.iter().filter_map(fault).collect()
    }
}

/// The names that the markers of a page can carry, and what is wrong with those that the page defines.
pub fn names(page: &Page, markers: &[Marker], book: &Book) -> (FigureNames, Vec<MarkerFault>) {
    let (own, mut faults) = FigureNames::of(&page.text);
    // A page that only the Chinese book has is like an English one.
    let of_english = english(page)
        .and_then(|english| Some((fs::read_to_string(book.root.join(&english)).ok()?, english)));
    let Some((text, english)) = of_english else {
        faults.extend(own.misnamed(markers, book));
        return (FigureNames { page: page.name.clone(), ..own }, faults);
    };
    let (names, _) = FigureNames::of(&text);
    let what = || format!("the names of {english} hold here, too: remove this comment");
    let defines = own.place.map(|place| (line_of(&page.text, place.start), what()));
    (FigureNames { page: english, ..names }, defines.into_iter().collect())
}

/// Whether a text is a name alone, and no other expression.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{book::splice, fixture::Fixture};

    const TEXT: &str = "It has <!-- lab: users -->3,000<!-- /lab --> users.\n";
    const NAMES: &str = "\n<!-- figures\nusers = toy.users | thousands\n-->\n";

    fn problems(page: &Page, fixture: &Fixture) -> Vec<String> {
        let spliced = splice(page, &fixture.book());
        spliced.faults.iter().chain(&spliced.stale).map(ToString::to_string).collect()
    }

    #[test]
    fn a_marker_with_a_name_gets_the_value_of_its_definition() {
        let fixture = Fixture::new();
        let text = format!("{TEXT}\n| a |\n|---|\n| <!-- lab: users -->40<!-- /lab --> |\n{NAMES}");
        let filled = fixture.splice(&text);
        assert_eq!(filled.faults, []);
        assert_eq!(filled.text, text.replace("40", "3,000"));
        let stale: Vec<_> = filled.stale.iter().map(ToString::to_string).collect();
        assert_eq!(stale, ["docs/src/README.md:5: `users` is stale: `just docs` fills it"]);
        let code =
            fixture.splice("```\n<!-- figures\nx\n-->\n```\n`<!-- figures` is how it begins.\n");
        assert_eq!(code.faults, [], "in code, a comment is text");
    }

    #[test]
    fn names_that_do_not_help_are_faults() {
        let fixture = Fixture::new();
        for (names, line, what) in [
            ("users = toy.users\npairs = toy.pairs", 5, "`pairs` is a name that no marker"),
            ("users = toy.users\nusers = toy.pairs", 5, "twice, on line 4, too: remove one"),
            ("users = toy.users\ntoy = toy.pairs", 5, "`toy` hides a case, a function or a record"),
            ("users = toy.users\nshare = toy.pairs", 5, "`share` hides a case, a function"),
            ("users = toy.users\n\ntoy.pairs", 6, "`toy.pairs` is no definition: write `NAME = "),
            ("users = toy.users\nA = 1", 5, "`A = 1` is no definition"),
            ("users = ", 4, "`users =` is no definition"),
            ("user = toy.users", 1, "named `users`; did you mean `user`?"),
            ("user = toy.users", 1, "define it at the end of docs/src/README.md"),
            ("users = toy.usrs", 1, "`users`, which is `toy.usrs`: the record has no such figure"),
            ("users = toy.users\n-->\n\n<!-- figures", 3, "one comment at the end of the page"),
            ("users = toy.users\n-->\n\nMore.\n\n<!-- a", 3, "one comment at the end of the page"),
        ] {
            let found = fixture.splice(&format!("{TEXT}\n<!-- figures\n{names}\n-->\n"));
            let is_it = |it: &&crate::book::Problem| it.line == line && it.what.contains(what);
            assert!(found.faults.iter().any(|it| is_it(&it)), "{names}: {:?}", found.faults);
        }
        let open = fixture.splice(&format!("{TEXT}\n<!-- figures\nusers = toy.users\n"));
        assert!(open.faults[0].what.contains("and `-->`"), "{:?}", open.faults);
        let none = fixture.splice(TEXT);
        assert!(none.faults[0].what.contains("no figure is named `users`"), "{:?}", none.faults);
    }

    #[test]
    fn a_chinese_page_has_the_names_of_the_english_one_and_none_of_its_own() {
        let fixture = Fixture::new();
        fixture.write("docs/src/README.md", &format!("{TEXT}{NAMES}"));
        let page = |name: &str, text: &str| {
            fixture.write(name, text);
            Page::read(&fixture.book().root, name).unwrap()
        };
        let readme = "docs/zh-CN/src/README.md";
        assert_eq!(problems(&page(readme, TEXT), &fixture), [""; 0]);
        let own = problems(&page(readme, &format!("{TEXT}{NAMES}")), &fixture);
        let what = "the names of docs/src/README.md hold here, too: remove this comment";
        assert_eq!(own, [format!("{readme}:3: {what}")]);
        let other = problems(&page(readme, &TEXT.replace("users -->", "pairs -->")), &fixture);
        assert!(other[0].contains("define it at the end of docs/src/README.md"), "{other:?}");
        let alone = page("docs/zh-CN/src/words.md", &format!("{TEXT}{NAMES}"));
        assert_eq!(problems(&alone, &fixture), [""; 0], "it translates no page");
    }
}
