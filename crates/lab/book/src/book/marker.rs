//! Markers: the comments in a page between which `just docs` writes.

use std::ops::Range;

use super::{markdown::code, page::line_of};

/// Both ends of a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// The line of its begin, from 1.
    pub line: usize,
    /// The expression, or the name that `names` has for one.
    pub expression: String,
    /// Where that is written.
    pub place: Range<usize>,
    /// The range of the text between the ends of the marker.
    pub content: Range<usize>,
    /// Whether it is in a table, where an expression has `\|` for `|`.
    pub is_in_table: bool,
    /// The prefix of every line of a block: an indent, or the `>` of a quotation. `None` for a marker in a
    /// line of text.
    pub block: Option<String>,
}

/// The line of a broken marker, counted from 1, and what is wrong with the marker.
pub type MarkerFault = (usize, String);

/// All markers of a page in their order, and what is wrong with the malformed ones. In code, a comment
/// is text.
pub fn markers(text: &str) -> (Vec<Marker>, Vec<MarkerFault>) {
    let (mut markers, mut faults) = (Vec::new(), Vec::new());
    let malformed = |start: usize, what: &str| {
        let fix = "write `<!-- lab: EXPRESSION -->` and `<!-- /lab -->`";
        (line_of(text, start), format!("`{what}` is not a marker, or not closed: {fix}"))
    };
    let mut open: Option<(Range<usize>, &str)> = None;
    for (comment, inner) in comments(text) {
        let start = comment.start;
        match (inner.strip_prefix(" lab: "), inner, open.take()) {
            (Some(expression), _, before) => {
                faults.extend(before.map(|(begin, what)| malformed(begin.start, what)));
                open = Some((comment, expression.trim()));
            }
            (None, " /lab ", Some((begin, expression))) => {
                let is_in_table = before(text, begin.start).trim_start().starts_with('|');
                if is_in_table && expression.replace("\\|", "").contains('|') {
                    // Markdown ends a cell there, even within a comment.
                    let what = format!("`lab: {expression}` is in a table: write `\\|` for `|`");
                    faults.push((line_of(text, begin.start), what));
                }
                let block = block(text, &begin, comment.end);
                if block.is_none() && is_margin(before(text, begin.start)) {
                    // There, Markdown reads a comment as HTML that ends with its line.
                    let what = format!("`lab: {expression}` breaks its paragraph in two");
                    faults.push((line_of(text, begin.start), what + ": put a word before it"));
                }
                // The last one in the comment, which ends with it.
                let at = begin.start + text[begin.clone()].rfind(expression).unwrap_or_default();
                markers.push(Marker {
                    line: line_of(text, begin.start),
                    expression: expression.replace("\\|", "|"),
                    place: at..at + expression.len(),
                    content: begin.end..start,
                    is_in_table,
                    block,
                });
            }
            (None, other, before) => {
                open = before;
                if other.trim_start().trim_start_matches('/').starts_with("lab") {
                    faults.push(malformed(start, other.trim()));
                }
            }
        }
    }
    faults.extend(open.map(|(begin, what)| malformed(begin.start, what)));
    (markers, faults)
}

/// The comments of a text with what is in them. In code, a comment is text. Markdown has comments only where they are
/// closed; here, one that isn't reaches to the end.
pub(super) fn comments(text: &str) -> Vec<(Range<usize>, &str)> {
    let code = code(text);
    let is_code = |at: usize| code.iter().any(|place| place.contains(&at));
    let comment = |(start, begin): (usize, &str)| {
        let rest = &text[start + begin.len()..];
        let closed = rest.split_once("-->");
        let end = closed.map_or(text.len(), |(inner, _)| start + inner.len() + "<!---->".len());
        (start..end, closed.map_or(rest, |(inner, _)| inner))
    };
    text.match_indices("<!--").filter(|(start, _)| !is_code(*start)).map(comment).collect()
}

fn before(text: &str, at: usize) -> &str {
    &text[text[..at].rfind('\n').map_or(0, |line| line + 1)..at]
}

/// Whether a line has begun with nothing but an indent or the mark of a quotation.
fn is_margin(prefix: &str) -> bool {
    prefix.chars().all(|c| c.is_whitespace() || c == '>')
}

/// The prefix of a block's lines. `None` unless the begin of the marker, or the whole marker, has its own line.
fn block(text: &str, begin: &Range<usize>, end: usize) -> Option<String> {
    let prefix = before(text, begin.start);
    let is_last = |from: usize| text[from..].lines().next().unwrap_or("").trim().is_empty();
    let one_line = !text[begin.end..end].contains('\n');
    let is_block = is_margin(prefix) && (is_last(begin.end) || one_line && is_last(end));
    is_block.then(|| prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_alone_on_its_line_is_a_block_and_any_other_is_part_of_its_line() {
        for (text, expected) in [
            ("a\n\n<!-- lab: a --> \nb\n<!-- /lab -->", Some("")),
            ("- x\n\n  <!-- lab: a -->\n  <!-- /lab -->", Some("  ")),
            ("> <!-- lab: a -->\n> <!-- /lab -->", Some("> ")),
            (
                "```\n<!-- lab: b -->\n```\n`<!-- /lab -->` <!-- x --> <!-- lab: a -->1<!-- /lab -->.",
                None,
            ),
            ("| a | <!-- lab: a -->1<!-- /lab --> |", None),
        ] {
            let (markers, faults) = markers(text);
            assert_eq!((markers.len(), faults), (1, vec![]), "{text}");
            assert_eq!((&*markers[0].expression, markers[0].block.as_deref()), ("a", expected));
        }
    }

    #[test]
    fn malformed_markers_are_faults() {
        for (text, line, what) in [
            ("a <!-- lab: a", 1, "`a` is not a marker, or not closed"),
            ("a\n<!-- lab: a -->\nb\n", 2, "`a` is not a marker, or not closed"),
            ("<!-- lab: a -->\n<!-- lab: b -->\n<!-- /lab -->\n", 1, "`a` is not a marker"),
            ("a\n\n<!-- /lab -->\n", 3, "`/lab` is not a marker"),
            ("<!--lab: table-->", 1, "`lab: table` is not a marker"),
            ("| a | <!-- lab: a | us -->1<!-- /lab --> |", 1, "write `\\|` for `|`"),
            ("a\n<!-- lab: a -->1<!-- /lab --> b", 2, "breaks its paragraph in two: put a word"),
        ] {
            let (_, faults) = markers(text);
            assert_eq!(faults[0].0, line, "{text}");
            assert!(faults[0].1.contains(what), "{text}: {faults:?}");
        }
    }
}
