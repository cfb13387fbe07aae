//! A page with all its markers filled anew.

use super::{
    Page,
    blocks::Picture,
    evaluate::Book,
    marker::{Marker, markers},
    page::Problem,
};

#[derive(Debug)]
pub struct Spliced {
    /// The page anew. What could not be made is left as it was.
    pub text: String,
    /// Pictures next to the pages, and the line of their marker.
    pub pictures: Vec<(usize, Picture)>,
    /// Markers whose content is not what it should be.
    pub stale: Vec<Problem>,
    /// Malformed markers, and expressions that failed.
    pub faults: Vec<Problem>,
    pub markers: usize,
}

pub fn splice(page: &Page, book: &Book) -> Spliced {
    let (found, malformed) = markers(&page.text);
    let problem = |line, what| Problem { page: page.name.clone(), line, what };
    let mut spliced = Spliced {
        text: String::with_capacity(page.text.len()),
        pictures: Vec::new(),
        stale: Vec::new(),
        faults: malformed.into_iter().map(|(line, what)| problem(line, what)).collect(),
        markers: found.len(),
    };
    let mut copied = 0;
    for marker in found {
        let old = &page.text[marker.content.clone()];
        spliced.text.push_str(&page.text[copied..marker.content.start]);
        copied = marker.content.end;
        match make(&marker, page, book) {
            Ok((content, pictures)) => {
                if content != old {
                    let what = stale(&marker.expression, old, &content);
                    spliced.stale.push(problem(marker.line, what));
                }
                spliced.text.push_str(&content);
                spliced.pictures.extend(pictures.into_iter().map(|it| (marker.line, it)));
            }
            Err(error) => {
                // Paths are shown from the workspace on.
                let root = format!("{}/", book.root.display());
                let error = format!("{error:#}").replace(&root, "");
                let what = format!("`{}`: {error}", marker.expression);
                spliced.faults.push(problem(marker.line, what));
                spliced.text.push_str(old);
            }
        }
    }
    spliced.text.push_str(&page.text[copied..]);
    spliced
}

/// What belongs between the ends of a marker.
fn make(marker: &Marker, page: &Page, book: &Book) -> anyhow::Result<(String, Vec<Picture>)> {
    let (markdown, pictures) = book.eval(&marker.expression, page.dir())?;
    let content = match &marker.block {
        Some(prefix) => {
            let line = |line: &str| format!("{}\n", format!("{prefix}{line}").trim_end());
            format!("\n{}{prefix}", markdown.lines().map(line).collect::<String>())
        }
        None => {
            let is_block = markdown.contains('\n') || !pictures.is_empty();
            anyhow::ensure!(!is_block, "it makes a block: give its marker a line of its own");
            markdown
        }
    };
    Ok((content, pictures))
}

fn stale(expression: &str, old: &str, new: &str) -> String {
    if old.trim().is_empty() {
        return format!("`{expression}` is empty: `just docs` fills it");
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
    format!("`{expression}` is stale: it says {old} and should say {new}; `just docs` fixes it")
}

/// How many characters of a stale line are shown.
const SHOWN: usize = 80;
