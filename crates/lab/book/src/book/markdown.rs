//! Markdown as the book and the code host read it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The events of a page, with their places in it.
pub fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options).into_offset_iter()
}

/// The code in which a comment is text: fences, and code in a line.
///
/// Not indented blocks: a marker that was indented by accident, as part of a list, would never be
/// filled.
pub fn code(text: &str) -> Vec<Range<usize>> {
    let is_code = |event: &Event| {
        matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))))
    };
    events(text).filter(|(event, _)| is_code(event)).map(|(_, range)| range).collect()
}

/// The values of an attribute in a piece of HTML.
pub fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    html.split(begin.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}
