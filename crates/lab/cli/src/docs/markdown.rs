//! Markdown as the book and the code host read it: events, code, and what a reader sees of a page.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What stands in [`visible`] for code and markers: nothing that a sentence could go on with.
const NO_TEXT: u8 = 0;

/// The events of a page, with where they stand in it.
pub fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options).into_offset_iter()
}

/// Where code stands in which a comment is none: fences, and code in a line.
///
/// An indented block is not among them. Whoever indents a marker by accident, as a part of a list,
/// would otherwise have a block that nobody ever fills.
pub fn code(text: &str) -> Vec<Range<usize>> {
    let is_code = |event: &Event| {
        matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))))
    };
    events(text).filter(|(event, _)| is_code(event)).map(|(_, range)| range).collect()
}

/// The page with blanks for all that a reader does not see, byte by byte in the same place: without
/// code, link targets, comments and tags, and without what stands in `hidden`.
pub fn visible(text: &str, hidden: &[Range<usize>]) -> String {
    let newline = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    let mut seen: Vec<u8> = text.as_bytes().iter().map(newline).collect();
    let mut code = false;
    let mut url = false;
    for (event, range) in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {
                url = true;
            }
            Event::End(TagEnd::Link) => url = false,
            Event::Text(_) if !code && !url => {
                seen[range.clone()].copy_from_slice(&text.as_bytes()[range]);
            }
            Event::Code(_) => blank(&mut seen[range]),
            // A block as a whole: its lines come one by one, and a comment may span several.
            Event::Start(Tag::HtmlBlock) => {
                seen[range.clone()].copy_from_slice(without_tags(&text[range]).as_bytes());
            }
            _ => {}
        }
    }
    hidden.iter().for_each(|range| blank(&mut seen[range.clone()]));
    // Only whole characters were copied.
    String::from_utf8_lossy(&seen).into_owned()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = NO_TEXT);
}

/// HTML with blanks for its comments and tags, of the same length.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start..];
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        let length = tag.find(end).map_or(tag.len(), |at| at + end.len());
        text.push_str(&rest[..start]);
        text.extend(tag[..length].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = &tag[length..];
    }
    text + rest
}

/// The values of an attribute in a piece of HTML.
pub fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    html.split(begin.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        visible(text, &[])
            .split([' ', '\n', '\0'])
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn what_a_reader_does_not_see_is_blank() {
        let page = "A *b* `1 ms` [c](2-ms.md) <!-- 3 ms --> <https://e/4-ms>\n\n```\n5 ms\n```\n\n    6 ms\n\n\
                    <details>\n<summary>d</summary>\n<!-- 7\nms -->\n</details>\n";
        assert_eq!(words(page), ["A", "b", "c", "d"]);
        assert_eq!(visible(page, &[]).len(), page.len());
    }

    #[test]
    fn headings_tables_and_lists_are_seen() {
        assert_eq!(words("# a\n\n| b |\n|---|\n| c `x` |\n\n1. d\n"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn only_code_that_is_marked_as_such_hides_a_comment() {
        let page = "```\n<!-- a -->\n```\n\n    <!-- b -->\n\n`<!-- c -->`\n";
        let code: Vec<_> = code(page).into_iter().map(|range| &page[range]).collect();
        assert_eq!(code, ["```\n<!-- a -->\n```", "`<!-- c -->`"]);
    }
}
