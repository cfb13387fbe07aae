//! Markers: the comments in a page between which `just docs` writes.

use std::ops::Range;

use super::{markdown, page::line_of};

/// Both ends of a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// The line of its begin, from 1.
    pub line: usize,
    pub expression: String,
    /// What is between its ends.
    pub content: Range<usize>,
    /// What every line of a block begins with: an indent, or the `>` of a quotation. Nothing for a
    /// marker in a line of text.
    pub block: Option<String>,
}

/// What is wrong with a marker, and its line from 1.
pub type Fault = (usize, String);

/// All markers of a page in their order, and what is wrong with the malformed ones. In code, a comment
/// is text.
pub fn markers(text: &str) -> (Vec<Marker>, Vec<Fault>) {
    let (mut markers, mut faults) = (Vec::new(), Vec::new());
    let mut open: Option<(&str, Range<usize>)> = None;
    let unclosed = |(expression, begin): (&str, Range<usize>)| {
        let what = format!("`lab: {expression}` is not closed: write `<!-- /lab -->` after it");
        (line_of(text, begin.start), what)
    };
    let code = markdown::code(text);
    for (start, _) in text.match_indices("<!--") {
        if code.iter().any(|code| code.contains(&start)) {
            continue;
        }
        let end = text[start..].find("-->").map_or(text.len(), |at| start + at);
        let inner = text[start + "<!--".len()..end].trim();
        let range = start..text.len().min(end + "-->".len());
        let line = line_of(text, start);
        match (inner.strip_prefix("lab:"), inner, open.take()) {
            // A comment that is not closed would reach to the end of the next one.
            (Some(expression), _, before)
                if range.len() > end - start && !inner.contains("<!--") =>
            {
                faults.extend(before.map(unclosed));
                open = Some((expression.trim(), range));
            }
            (None, "/lab", Some((expression, begin))) => {
                let content = begin.end..start;
                let (marker, fault) = marker(text, expression, begin, content, range.end);
                faults.extend(fault.map(|what| (marker.line, what)));
                markers.push(marker);
            }
            (None, "/lab", None) => {
                faults.push((line, "`/lab` closes nothing: remove it".to_owned()));
            }
            (_, _, before) => {
                open = before;
                let first = inner.split(|c: char| !c.is_alphanumeric() && c != '/').next();
                if let Some("lab" | "/lab") = first {
                    let what = inner.lines().next().unwrap_or(inner);
                    let fix = "write `<!-- lab: EXPRESSION -->` and `<!-- /lab -->`";
                    faults.push((line, format!("`{what}` is not a marker: {fix}")));
                }
            }
        }
    }
    faults.extend(open.map(unclosed));
    (markers, faults)
}

/// A closed marker, and what Markdown would make of it that its author did not mean.
fn marker(
    text: &str,
    expression: &str,
    begin: Range<usize>,
    content: Range<usize>,
    end: usize,
) -> (Marker, Option<String>) {
    let block = block(text, &begin, end);
    let is_cell = before(text, begin.start).trim_start().starts_with('|');
    let fault = if block.is_none() && begins_line(text, begin.start) {
        // Markdown takes such a line for raw HTML, which ends the paragraph.
        Some("begins its line: put a word before it")
    } else if is_cell && expression.replace("\\|", "").contains('|') {
        // Markdown ends a cell there, even within a comment.
        Some("is in a table: write `\\|` for `|`")
    } else {
        None
    };
    let fault = fault.map(|what| format!("`lab: {expression}` {what}"));
    let line = line_of(text, begin.start);
    (Marker { line, expression: expression.replace("\\|", "|"), content, block }, fault)
}

fn before(text: &str, at: usize) -> &str {
    &text[text[..at].rfind('\n').map_or(0, |line| line + 1)..at]
}

/// What a block's lines begin with, if the marker's begin, or all of it, has a line for itself.
fn block(text: &str, begin: &Range<usize>, end: usize) -> Option<String> {
    let prefix = before(text, begin.start);
    let is_last = |from: usize| text[from..].lines().next().unwrap_or("").trim().is_empty();
    let one_line = !text[begin.end..end].contains('\n');
    let is_block = prefix.chars().all(|c| c.is_whitespace() || c == '>')
        && (is_last(begin.end) || one_line && is_last(end));
    is_block.then(|| prefix.to_owned())
}

/// Whether the marker is the first of its line, or of an item of a list.
fn begins_line(text: &str, begin: usize) -> bool {
    let before = before(text, begin).trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    let mark = before.trim_end();
    let number = mark.strip_suffix(['.', ')']).unwrap_or("x");
    matches!(mark, "" | "-" | "*" | "+") || number.chars().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<Option<String>> {
        let (markers, faults) = markers(text);
        assert_eq!(faults, []);
        markers.into_iter().map(|marker| marker.block).collect()
    }

    #[test]
    fn a_pipe_in_a_table_has_to_be_escaped() {
        let (_, faults) = markers("| a | <!-- lab: a | us -->1<!-- /lab --> |");
        assert_eq!(faults[0].1, "`lab: a | us` is in a table: write `\\|` for `|`");
        let (markers, faults) = markers("| a | <!-- lab: a \\| us -->1<!-- /lab --> |");
        assert_eq!((markers[0].expression.as_str(), faults), ("a | us", vec![]));
    }

    #[test]
    fn a_marker_alone_on_its_line_is_a_block_and_any_other_is_part_of_its_line() {
        let block = |prefix: &str| [Some(prefix.to_owned())];
        assert_eq!(blocks("a\n\n<!-- lab: a --> \nb\n<!-- /lab -->"), block(""));
        assert_eq!(blocks("- x\n\n  <!--lab: a-->\n  <!--/lab-->"), block("  "));
        assert_eq!(blocks("> <!-- lab: a -->\n> <!-- /lab -->"), block("> "));
        assert_eq!(blocks("  <!-- lab: a -->1<!-- /lab -->\n"), block("  "));
        assert_eq!(blocks("It is <!-- lab: a -->1<!-- /lab -->."), [None]);
        let two = "| <!-- lab: a -->1<!-- /lab --> | <!-- lab: b -->2<!-- /lab --> |";
        assert_eq!(blocks(two), [None, None]);
    }

    #[test]
    fn markers_in_code_and_other_comments_are_left_alone() {
        let text = "```\n<!-- lab: a -->\n```\n`<!-- /lab -->` <!-- labour --> <!-- x -->\n";
        assert_eq!(markers(text), (vec![], vec![]));
    }

    #[test]
    fn malformed_markers_are_faults() {
        for (text, line, what) in [
            ("a\n<!-- lab: a -->\nb\n", 2, "`lab: a` is not closed"),
            ("<!-- lab: a -->\n<!-- lab: b -->\n<!-- /lab -->\n", 1, "`lab: a` is not closed"),
            ("a\n\n<!-- /lab -->\n", 3, "closes nothing"),
            ("<!-- lab table -->", 1, "`lab table` is not a marker"),
            ("<!-- /lab: table -->", 1, "is not a marker"),
            ("<!-- lab: table\nand more", 1, "`lab: table` is not a marker"),
            ("It is\n<!-- lab: a -->1<!-- /lab --> big", 2, "put a word before it"),
            ("12. <!-- lab: a -->1<!-- /lab --> big", 1, "put a word before it"),
        ] {
            let (_, faults) = markers(text);
            assert_eq!(faults[0].0, line, "{text}");
            assert!(faults[0].1.contains(what), "{text}: {faults:?}");
        }
    }
}
