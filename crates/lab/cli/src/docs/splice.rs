//! A page with all its markers filled anew.

use std::path::Path;

use super::{
    Page, Sources,
    marker::{Marker, Place, markers},
    problem::Problem,
    recipe::{Call, Form, Made, Recipe},
};

/// A page after splicing.
#[derive(Clone, Debug)]
pub struct Spliced {
    /// The page anew. What could not be made is left as it was.
    pub text: String,
    /// Files beside the pages: the path below the chapters, what is in it, and the line of its marker.
    pub files: Vec<(String, String, usize)>,
    /// Markers whose content was not what it should be.
    pub stale: Vec<Problem>,
    /// Markers that are none, and recipes that failed.
    pub faults: Vec<Problem>,
    /// How many markers the page has.
    pub markers: usize,
}

/// Fills the markers of a page.
pub fn splice(page: &Page, sources: &Sources) -> Spliced {
    let (found, broken) = markers(&page.text);
    let problem = |line, what| Problem { page: page.name.clone(), line, what };
    let faults = broken.into_iter().map(|fault| problem(fault.line, fault.what)).collect();
    let mut spliced = Spliced {
        text: String::with_capacity(page.text.len()),
        files: Vec::new(),
        stale: Vec::new(),
        faults,
        markers: found.len(),
    };
    let mut copied = 0;
    for marker in &found {
        let old = &page.text[marker.content.clone()];
        spliced.text.push_str(&page.text[copied..marker.whole.start]);
        let begin = &page.text[marker.whole.start..marker.content.start];
        let tidied = without_dashes(marker);
        if tidied.is_some() {
            spliced.stale.push(problem(marker.line, dashes(&marker.call)));
        }
        spliced.text.push_str(tidied.as_deref().unwrap_or(begin));
        copied = marker.content.end;
        match make(marker, sources, page.dir()) {
            Ok((content, made)) => {
                if content != old {
                    spliced.stale.push(problem(marker.line, stale(marker, old, &content)));
                }
                spliced.text.push_str(&content);
                spliced.files.extend(made.file.map(|(path, text)| (path, text, marker.line)));
            }
            Err(error) => {
                // Nobody needs to know where on this machine the workspace is.
                let root = format!("{}/", sources.root.display());
                let error = format!("{error:#}").replace(&root, "");
                spliced.faults.push(problem(marker.line, format!("`{}`: {error}", marker.call)));
                spliced.text.push_str(old);
            }
        }
    }
    spliced.text.push_str(&page.text[copied..]);
    spliced
}

/// What belongs between the ends of a marker.
fn make(marker: &Marker, sources: &Sources, page_dir: &Path) -> anyhow::Result<(String, Made)> {
    let (recipe, rest) = Recipe::find(&marker.call)?;
    let is_block = recipe.form == Form::Block;
    anyhow::ensure!(
        !is_block || matches!(marker.place, Place::Block { .. } | Place::OwnLine { .. }),
        "it makes a block: give its marker a line of its own"
    );
    let call = Call { sources, page_dir, usage: recipe.usage, rest };
    let made = (recipe.make)(&call)?;
    let content = match &marker.place {
        Place::Block { prefix } => block(&made.markdown, prefix),
        Place::OwnLine { prefix } if is_block => block(&made.markdown, prefix),
        _ => made.markdown.clone(),
    };
    Ok((content, made))
}

/// The lines between the ends of a block, each with what the line of the marker begins with.
fn block(markdown: &str, prefix: &str) -> String {
    let mut block = "\n".to_owned();
    for line in markdown.lines() {
        block.push_str(format!("{prefix}{line}").trim_end());
        block.push('\n');
    }
    block + prefix
}

/// The begin of a marker for an argument without the dashes of that, if it has them in a line.
///
/// GitHub's Markdown takes a comment in a line for text if two dashes are in it.
fn without_dashes(marker: &Marker) -> Option<String> {
    let is_inline = !matches!(marker.place, Place::Block { .. });
    let has_dashes = marker.call.starts_with("arg ") && marker.call.contains(" --");
    let call = marker.call.replace(" --", " ");
    (is_inline && has_dashes).then(|| format!("<!-- lab: {call} -->"))
}

fn dashes(call: &str) -> String {
    format!("`{call}` shows on GitHub, as no comment in a line may have `--`: `just docs` mends it")
}

/// What is stale about a marker, in words.
fn stale(marker: &Marker, old: &str, new: &str) -> String {
    let call = &marker.call;
    if old.trim().is_empty() {
        return format!("`{call}` is empty: `just docs` fills it");
    }
    let lines = |text: &str| text.trim().lines().map(|it| it.trim().to_owned()).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let at = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let line = |lines: &[String]| match lines.get(at) {
        Some(line) if line.chars().count() > SHOWN => {
            format!("`{}…`", line.chars().take(SHOWN).collect::<String>())
        }
        Some(line) => format!("`{line}`"),
        None => "nothing".to_owned(),
    };
    let (old, new) = (line(&old), line(&new));
    format!("`{call}` is stale: it says {old} and should say {new}; `just docs` mends it")
}

/// How many characters of a line are shown.
const SHOWN: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::fixture::Fixture;

    fn splice(text: &str) -> Spliced {
        Fixture::new().splice(text)
    }

    #[test]
    fn a_block_is_filled_and_filling_it_again_changes_nothing() {
        let fixture = Fixture::new();
        let text = "# T\n\n<!-- lab: table counts toy -->\nold\n<!-- /lab -->\n\nIt is <!-- lab: users toy --><!-- /lab -->.\n";
        let first = fixture.splice(text);
        assert_eq!(first.faults, []);
        assert_eq!((first.markers, first.stale.len()), (2, 2));
        assert!(first.text.contains("| one page"), "{}", first.text);
        assert!(first.text.ends_with("It is <!-- lab: users toy -->3,000<!-- /lab -->.\n"));
        let second = fixture.splice(&first.text);
        assert_eq!((second.text, second.stale), (first.text, vec![]));
    }

    #[test]
    fn a_block_recipe_with_its_end_on_the_same_line_gets_lines_of_its_own() {
        let found = splice("<!-- lab: table counts toy --><!-- /lab -->\n");
        assert!(found.text.starts_with("<!-- lab: table counts toy -->\n| one page"));
        assert!(found.text.ends_with("*\n<!-- /lab -->\n"), "{}", found.text);
    }

    #[test]
    fn the_lines_of_a_block_keep_the_indent_or_the_quotation_of_their_marker() {
        let found = splice("> <!-- lab: table counts toy -->\n> <!-- /lab -->\n").text;
        assert!(found.lines().all(|line| line.starts_with('>')), "{found}");
        assert!(found.contains("\n>\n") && found.contains("\n> | one page"), "{found}");
        let found = splice("- a\n\n  <!-- lab: table counts toy -->\n  <!-- /lab -->\n").text;
        assert!(found.contains("\n  | one page") && found.contains("\n\n  *Counted"), "{found}");
    }

    #[test]
    fn a_block_recipe_inside_of_a_sentence_is_an_error_and_the_page_stays() {
        let text = "It is <!-- lab: table summary -->x<!-- /lab -->.\n";
        let found = splice(text);
        assert_eq!(found.text, text);
        assert!(found.faults[0].what.contains("give its marker a line of its own"));
    }

    #[test]
    fn what_fails_is_told_with_page_and_line_and_the_rest_is_filled() {
        let text =
            "a\n\nb <!-- lab: users tow -->9<!-- /lab --> c <!-- lab: users toy --><!-- /lab -->\n";
        let found = splice(text);
        let told = found.faults[0].to_string();
        assert!(told.starts_with("docs/src/README.md:3: `users tow`: no case is named `tow`"));
        assert!(told.contains("did you mean `toy`?"), "{told}");
        assert!(found.text.contains("-->9<!--") && found.text.contains("-->3,000<!--"));
    }

    #[test]
    fn an_argument_loses_the_dashes_that_would_show() {
        let fixture = Fixture::new();
        let found = fixture.splice("At <!-- lab: arg toy --downstream-ms ms --><!-- /lab -->.\n");
        assert_eq!(found.text, "At <!-- lab: arg toy downstream-ms ms -->50 ms<!-- /lab -->.\n");
        assert!(found.stale[0].what.contains("shows on GitHub"), "{:?}", found.stale);
        assert_eq!(fixture.splice(&found.text).stale, []);
    }

    #[test]
    fn what_is_stale_is_told_with_what_it_should_be() {
        let found = splice("It has <!-- lab: users toy -->40<!-- /lab --> users.\n");
        assert_eq!(
            found.stale[0].what,
            "`users toy` is stale: it says `40` and should say `3,000`; `just docs` mends it"
        );
    }
}
