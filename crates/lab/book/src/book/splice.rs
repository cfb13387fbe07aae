//! A page with all its markers filled anew.

use super::{
    evaluate::Book,
    marker::{Marker, markers},
    names::{FigureNames, names},
    page::{Page, Problem},
    translated_pages::{is_about_translation, is_chinese},
};

#[derive(Debug)]
pub struct Spliced {
    /// The page anew. What could not be made is left as it was.
    pub text: String,
    /// Markers that are not what they should be.
    pub stale: Vec<Problem>,
    /// Malformed markers, names of figures that don't help, and expressions that failed.
    pub faults: Vec<Problem>,
    /// English words that a Chinese page has no words for.
    pub untranslated: Vec<String>,
    pub markers: usize,
}

pub fn splice(page: &Page, book: &Book) -> Spliced {
    let (found, malformed) = markers(&page.text);
    let (names, misnamed) = names(page, &found, book);
    let problem = |line, what| Problem { page: page.name.clone(), line, what };
    let mut spliced = Spliced {
        text: String::with_capacity(page.text.len()),
        stale: Vec::new(),
        faults: malformed
            .into_iter()
            .chain(misnamed)
            .map(|(line, what)| problem(line, what))
            .collect(),
        untranslated: Vec::new(),
        markers: found.len(),
    };
    let mut copied = 0;
    for marker in found {
        let old = &page.text[marker.content.clone()];
        spliced.text.push_str(&page.text[copied..marker.content.start]);
        copied = marker.content.end;
        match make(&marker, &names, page, book) {
            Ok((content, untranslated)) => {
                spliced.untranslated.extend(untranslated);
                if content != old && !is_about_translation(&marker) {
                    let state = if old.trim().is_empty() { "empty" } else { "stale" };
                    let what = format!("`{}` is {state}: `just docs` fills it", marker.expression);
                    spliced.stale.push(problem(marker.line, what));
                }
                spliced.text.push_str(&content);
            }
            Err(error) => {
                // Paths are shown from the workspace on.
                let root = format!("{}/", book.root.display());
                let error = format!("{error:#}").replace(&root, "");
                let which = names.of_marker(&marker);
                let which = which.map_or_else(String::new, |it| format!(", which is `{it}`"));
                let what = format!("`{}`{which}: {error}", marker.expression);
                spliced.faults.push(problem(marker.line, what));
                spliced.text.push_str(old);
            }
        }
    }
    spliced.text.push_str(&page.text[copied..]);
    spliced
}

/// The new text of a marker, and the English words in it if the page is not English.
fn make(
    marker: &Marker,
    names: &FigureNames,
    page: &Page,
    book: &Book,
) -> anyhow::Result<(String, Vec<String>)> {
    let markdown = book.eval(names.expression(marker, book)?, page.dir())?;
    let (markdown, untranslated) = if is_chinese(&book.root, page.dir()) {
        book.words.apply(&markdown)
    } else {
        (markdown, Vec::new())
    };
    let Some(prefix) = &marker.block else {
        anyhow::ensure!(
            !markdown.contains('\n'),
            "it makes a block: give its marker a line of its own"
        );
        return Ok((markdown, untranslated));
    };
    let line = |line: &str| format!("{}\n", format!("{prefix}{line}").trim_end());
    Ok((format!("\n{}{prefix}", markdown.lines().map(line).collect::<String>()), untranslated))
}
