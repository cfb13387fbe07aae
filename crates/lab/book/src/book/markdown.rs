//! The parts of a page, with their places in it.

use std::{ops::Range, sync::LazyLock};

use pulldown_cmark::{Event, LinkType, OffsetIter, Options, Parser, Tag};
use regex_lite::Regex;

/// The target of a link in HTML.
static ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\b(?:data|href|src)="([^"]*)"#).expect("a valid pattern"));

/// The parts of a page with their places in it.
pub fn parts(text: &str) -> OffsetIter<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter()
}

/// Where code is. There, a comment or a link is text.
pub fn code(text: &str) -> Vec<Range<usize>> {
    let is_code = |part: &Event| matches!(part, Event::Code(_) | Event::Start(Tag::CodeBlock(_)));
    parts(text).filter(|(part, _)| is_code(part)).map(|(_, place)| place).collect()
}

/// Where the targets of links and pictures are, in Markdown and in HTML.
pub fn targets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (part, place) in parts(text) {
        let (source, start) = (&text[place.clone()], place.start);
        match part {
            Event::Start(
                Tag::Link { link_type: LinkType::Inline, dest_url, .. }
                | Tag::Image { link_type: LinkType::Inline, dest_url, .. },
            ) => {
                let at = source.rfind(&*dest_url).map(|at| start + at);
                found.extend(at.map(|at| at..at + dest_url.len()));
            }
            Event::Html(_) | Event::InlineHtml(_) => {
                let values = ATTRIBUTE.captures_iter(source).filter_map(|found| found.get(1));
                found.extend(values.map(|value| start + value.start()..start + value.end()));
            }
            _ => {}
        }
    }
    found
}

/// The text with something else in these places.
pub fn replaced(text: &str, mut places: Vec<(Range<usize>, String)>) -> String {
    places.sort_by_key(|(place, _)| place.start);
    let mut text = text.to_owned();
    for (place, new) in places.iter().rev() {
        text.replace_range(place.clone(), new);
    }
    text
}
