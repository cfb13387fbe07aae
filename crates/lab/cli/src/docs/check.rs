//! What a person has to mend in a page: figures without a source, links to nowhere, lost markers.

use std::path::Path;

use super::{
    Page,
    figure::figures,
    links, markdown,
    marker::{Place, markers},
    page::linked,
    problem::{Problem, line_of},
    recipe::{Form, Recipe},
};

/// Checks the prose and the links of the pages, and the links of those that have no figures.
pub fn check(pages: &[Page], root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for page in pages {
        problems.extend(misplaced(page));
        problems.extend(unsourced(page));
    }
    for page in pages.iter().chain(&linked(root)?) {
        problems.extend(links::broken(page, root));
    }
    Ok(problems)
}

/// Figures in the prose. A page whose markers are broken has none to be told: its markers come first.
fn unsourced(page: &Page) -> Vec<Problem> {
    let (markers, faults) = markers(&page.text);
    if !faults.is_empty() {
        return Vec::new();
    }
    let hidden: Vec<_> = markers.into_iter().map(|marker| marker.whole).collect();
    let problem = |range: std::ops::Range<usize>| {
        let words: Vec<_> = page.text[range.clone()].split_whitespace().collect();
        let figure = words.join(" ");
        let what = format!(
            "the figure `{figure}` has no source: splice it (`lab docs --recipes`), write \
             arithmetic as code, or `<!-- lab: quote {figure} --><!-- /lab -->` if it is not ours"
        );
        Problem { page: page.name.clone(), line: line_of(&page.text, range.start), what }
    };
    figures(&markdown::visible(&page.text, &hidden)).into_iter().map(problem).collect()
}

/// Inline markers that begin a line, which Markdown takes for HTML up to its end.
fn misplaced(page: &Page) -> Vec<Problem> {
    let (markers, _) = markers(&page.text);
    let is_misplaced = |place: &Place, call: &str| match place {
        Place::FirstInLine => true,
        Place::OwnLine { .. } => {
            Recipe::find(call).is_ok_and(|(recipe, _)| recipe.form == Form::Inline)
        }
        Place::Block { .. } | Place::InLine => false,
    };
    let markers = markers.into_iter().filter(|it| is_misplaced(&it.place, &it.call));
    let problem = |line, call| Problem {
        page: page.name.clone(),
        line,
        what: format!(
            "`lab: {call}` begins its line, which Markdown then takes for HTML and for the end of \
             the paragraph: put a word before it"
        ),
    };
    markers.map(|marker| problem(marker.line, marker.call)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let name = "docs/src/README.md".to_owned();
        let page = Page { path: name.clone().into(), name, text: text.to_owned() };
        let problems = misplaced(&page).into_iter().chain(unsourced(&page));
        problems.map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn a_figure_outside_of_a_marker_is_told_with_its_line_and_its_remedies() {
        let told = told("# T\n\nIt is 40×\nor 7\ntimes as fast.\n");
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("docs/src/README.md:3: the figure `40×` has no source"));
        assert!(told[0].contains("`<!-- lab: quote 40× --><!-- /lab -->`"), "{told:?}");
        assert!(told[1].starts_with("docs/src/README.md:4: the figure `7 times`"), "{told:?}");
    }

    #[test]
    fn a_figure_in_a_marker_has_a_source() {
        let text = "It is <!-- lab: quote 40× -->40×<!-- /lab --> or `40×`.\n\n\
                    <!-- lab: table summary -->\n| 50 ms |\n<!-- /lab -->\n";
        assert_eq!(told(text), Vec::<String>::new());
    }

    #[test]
    fn an_inline_marker_that_begins_a_line_is_told() {
        let told = told("It is\n<!-- lab: quote 40× -->40×<!-- /lab --> as much.\n");
        assert!(told[0].contains(":2: `lab: quote 40×` begins its line"), "{told:?}");
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn a_block_on_a_line_of_its_own_is_in_its_place() {
        assert_eq!(told("<!-- lab: table summary --><!-- /lab -->\n"), Vec::<String>::new());
    }
}
