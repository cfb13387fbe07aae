//! Markers: the comments in a page between which `lab docs` writes.
//!
//! A marker and its end are HTML comments, so that a page reads well wherever Markdown is shown.

use std::ops::Range;

use super::{markdown, problem::line_of};

/// Both ends of a marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// The line of its begin, from 1.
    pub line: usize,
    /// The recipe with its words, as it is written.
    pub call: String,
    /// From the begin of its begin to the end of its end.
    pub whole: Range<usize>,
    /// What stands between.
    pub content: Range<usize>,
    /// How it stands in its line.
    pub place: Place,
}

/// How a marker stands in its line.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Its begin is alone on its line, after `prefix`: an indent, or the `>` of a quotation.
    Block {
        /// What every line of the block begins with.
        prefix: String,
    },
    /// Begin and end have one line for themselves, after `prefix`.
    OwnLine {
        /// What stands before it.
        prefix: String,
    },
    /// Begin and end are the first of a line that goes on.
    FirstInLine,
    /// In the middle of a line.
    InLine,
}

/// A marker that is none, in a line of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, and the remedy.
    pub what: String,
}

/// One of the comments that belong to `lab`.
enum Comment<'a> {
    Begin(&'a str),
    End,
    Neither(&'a str),
}

/// All markers of a page in their order, and what is wrong with those that are none.
pub fn markers(text: &str) -> (Vec<Marker>, Vec<Fault>) {
    let (mut markers, mut faults) = (Vec::new(), Vec::new());
    let mut fault = |at: usize, what: String| faults.push(Fault { line: line_of(text, at), what });
    let mut open: Option<(&str, Range<usize>)> = None;
    for (range, comment) in comments(text) {
        match (comment, open.take()) {
            (Comment::Begin(call), None) => open = Some((call, range)),
            (Comment::Begin(call), Some((other, begin))) => {
                fault(
                    begin.start,
                    format!(
                        "`lab: {other}` is not closed before `lab: {call}` of line {}: \
                         write `<!-- /lab -->` behind it; markers are never inside of each other",
                        line_of(text, range.start)
                    ),
                );
                open = Some((call, range));
            }
            (Comment::End, Some((call, begin))) => markers.push(Marker {
                line: line_of(text, begin.start),
                call: call.to_owned(),
                whole: begin.start..range.end,
                content: begin.end..range.start,
                place: place(text, &begin, &range),
            }),
            (Comment::End, None) => {
                fault(
                    range.start,
                    "`/lab` closes nothing: remove it, or write its begin".to_owned(),
                );
            }
            (Comment::Neither(what), still_open) => {
                open = still_open;
                fault(
                    range.start,
                    format!(
                        "`{what}` is no marker: write `<!-- lab: RECIPE -->` and `<!-- /lab -->`"
                    ),
                );
            }
        }
    }
    if let Some((call, begin)) = open {
        fault(begin.start, format!("`lab: {call}` is not closed: write `<!-- /lab -->` behind it"));
    }
    (markers, faults)
}

/// The comments that are for `lab`, with where they stand.
fn comments(text: &str) -> Vec<(Range<usize>, Comment<'_>)> {
    let code = markdown::code(text);
    let mut comments = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("<!--").map(|at| from + at) {
        if let Some(code) = code.iter().find(|code| code.contains(&start)) {
            from = code.end;
            continue;
        }
        let inner = &text[start + "<!--".len()..];
        let closed = inner.find("-->");
        let length = closed.unwrap_or(inner.len());
        let end = text.len().min(start + "<!--".len() + length + "-->".len());
        let inner = inner[..length].trim();
        // One that was not closed goes on to the end of the next.
        let is_whole = closed.is_some() && !inner.contains("<!--");
        let is_ours = |word: &str| {
            let rest = inner.strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
        };
        let comment = match inner.strip_prefix("lab:") {
            Some(call) if is_whole => Some(Comment::Begin(call.trim())),
            Some(_) => Some(Comment::Neither(inner.lines().next().unwrap_or(inner))),
            None if inner == "/lab" => Some(Comment::End),
            None if ["lab", "/lab", "/ lab", "end lab"].into_iter().any(is_ours) => {
                Some(Comment::Neither(inner))
            }
            None => None,
        };
        comments.extend(comment.map(|comment| (start..end, comment)));
        from = end;
    }
    comments
}

fn place(text: &str, begin: &Range<usize>, end: &Range<usize>) -> Place {
    let line_start = text[..begin.start].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line_start..begin.start];
    let is_prefix = before.chars().all(|c| c.is_whitespace() || c == '>');
    let line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at);
    let is_last = |from: usize| text[from..line_end(from)].trim().is_empty();
    let one_line = !text[begin.end..end.start].contains('\n');
    let prefix = before.to_owned();
    match is_prefix {
        true if is_last(begin.end) => Place::Block { prefix },
        true if one_line && is_last(end.end) => Place::OwnLine { prefix },
        true => Place::FirstInLine,
        // The item of a list is a page of its own to Markdown: what comes first in it is the first.
        false if is_item(before) => Place::FirstInLine,
        false => Place::InLine,
    }
}

/// Whether this is what an item of a list begins with.
fn is_item(before: &str) -> bool {
    let mark = before.trim_start_matches(|c: char| c.is_whitespace() || c == '>').trim_end();
    matches!(mark, "-" | "*" | "+")
        || mark.strip_suffix(['.', ')']).is_some_and(|number| {
            !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<Place> {
        let (markers, faults) = markers(text);
        assert_eq!(faults, []);
        markers.into_iter().map(|marker| marker.place).collect()
    }

    fn fault(text: &str) -> (usize, String) {
        let (_, mut faults) = markers(text);
        assert_eq!(faults.len(), 1, "{faults:?}");
        let Fault { line, what } = faults.remove(0);
        (line, what)
    }

    #[test]
    fn a_marker_has_its_recipe_its_content_and_its_line() {
        let text = "a\n\n<!-- lab: table summary -->\nb\n<!-- /lab -->\n";
        let (markers, faults) = markers(text);
        assert_eq!(faults, []);
        let [marker] = markers.as_slice() else { panic!("{markers:?}") };
        assert_eq!((marker.line, marker.call.as_str()), (3, "table summary"));
        assert_eq!(&text[marker.content.clone()], "\nb\n");
        assert!(text[marker.whole.clone()].ends_with("<!-- /lab -->"));
    }

    #[test]
    fn a_begin_alone_on_its_line_makes_a_block_and_any_other_stands_in_its_line() {
        let block = |prefix: &str| Place::Block { prefix: prefix.to_owned() };
        let own_line = |prefix: &str| Place::OwnLine { prefix: prefix.to_owned() };
        assert_eq!(places("<!-- lab: a --> \n<!-- /lab -->"), [block("")]);
        assert_eq!(places("- x\n\n  <!--lab: a-->\n  <!--/lab-->"), [block("  ")]);
        assert_eq!(places("> <!-- lab: a -->\n> <!-- /lab -->"), [block("> ")]);
        assert_eq!(places("  <!-- lab: a -->1<!-- /lab -->\n"), [own_line("  ")]);
        assert_eq!(places("It is <!-- lab: a -->1<!-- /lab -->."), [Place::InLine]);
        assert_eq!(places("| <!-- lab: a -->1<!-- /lab --> |"), [Place::InLine]);
    }

    #[test]
    fn a_marker_that_begins_a_line_of_prose_is_told_apart() {
        for before in ["", "  ", "> ", "- ", "12. "] {
            let text = format!("{before}<!-- lab: a -->1<!-- /lab --> is it");
            assert_eq!(places(&text), [Place::FirstInLine], "{text}");
        }
    }

    #[test]
    fn two_in_a_line_are_two() {
        let text = "from <!-- lab: a -->1<!-- /lab --> to <!-- lab: b -->2<!-- /lab -->";
        assert_eq!(places(text), [Place::InLine, Place::InLine]);
    }

    #[test]
    fn markers_in_code_and_comments_of_others_are_none_of_ours() {
        let text = "```\n<!-- lab: a -->\n```\n`<!-- /lab -->` <!-- labour --> <!-- x -->\n";
        assert_eq!(markers(text), (vec![], vec![]));
    }

    #[test]
    fn an_argument_may_have_dashes() {
        let (markers, _) = markers("at <!-- lab: arg toy --wait-ms ms --><!-- /lab -->");
        assert_eq!(markers[0].call, "arg toy --wait-ms ms");
    }

    #[test]
    fn an_unclosed_marker_is_told_with_its_line() {
        let (line, what) = fault("a\n<!-- lab: table summary -->\nb\n");
        assert_eq!(line, 2);
        assert!(what.contains("`lab: table summary` is not closed"), "{what}");
    }

    #[test]
    fn a_marker_inside_of_another_is_told_with_both_lines() {
        let (line, what) = fault("<!-- lab: a -->\n<!-- lab: b -->\n<!-- /lab -->\n");
        assert_eq!(line, 1);
        assert!(what.contains("before `lab: b` of line 2"), "{what}");
    }

    #[test]
    fn an_end_without_a_begin_and_a_misspelt_marker_are_told() {
        assert!(fault("a\n\n<!-- /lab -->\n").1.contains("closes nothing"));
        assert!(fault("<!-- lab table summary -->").1.contains("is no marker"));
        assert!(fault("<!-- /lab: table -->").1.contains("is no marker"));
        assert!(
            fault("<!-- lab: table summary\nand more").1.contains("`lab: table summary` is no")
        );
        let (_, faults) = markers("<!-- lab: table summary\n\n<!-- /lab -->\n");
        assert!(faults[0].what.contains("`lab: table summary` is no marker"), "{faults:?}");
    }
}
