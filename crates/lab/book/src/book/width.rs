//! Long lines of prose: they are hard to edit, and to read on a code host.

use std::ops::Range;

use pulldown_cmark::{Event, Tag};

use super::{
    markdown::{parts, targets},
    marker::markers,
    page::{CHINESE, Page, Problem, line_of},
};

/// The most characters that a line of prose has.
const WIDTH: usize = 120;

/// The lines of an English page that should be broken in two. In a Chinese one, a paragraph is one line.
///
/// What a marker holds and where a link leads don't count: the one changes with every record, and the other can't
/// be broken. Neither do lines that have to be whole, such as a heading or the row of a table.
pub fn too_long(page: &Page) -> Vec<Problem> {
    // A text in a file of a drill is one line of it.
    if page.name.starts_with(CHINESE) || !page.name.ends_with(".md") {
        return Vec::new();
    }
    let text = &page.text;
    let (markers, _) = markers(text);
    let (blocks, lines): (Vec<_>, Vec<_>) =
        markers.into_iter().partition(|marker| marker.block.is_some());
    let whole: Vec<_> = whole(text).chain(blocks.into_iter().map(|it| it.content)).collect();
    let free: Vec<_> =
        targets(text).into_iter().chain(lines.into_iter().map(|it| it.content)).collect();
    let mut start = 0;
    let mut problems = Vec::new();
    for line in text.split_inclusive('\n') {
        let place = start..start + line.trim_end().len();
        start += line.len();
        let is_in = |other: &Range<usize>| place.start <= other.start && other.end <= place.end;
        let free = free.iter().filter(|other| is_in(other)).map(|other| length(text, other));
        let length = length(text, &place).saturating_sub(free.sum());
        let is_prose = !whole.iter().any(|it| it.start < place.end && place.start < it.end);
        if length > WIDTH && is_prose {
            let line = line_of(text, place.start);
            let what = format!("the line has {length} characters: break it before {WIDTH}");
            problems.push(Problem { page: page.name.clone(), line, what });
        }
    }
    problems
}

fn length(text: &str, place: &Range<usize>) -> usize {
    text[place.clone()].chars().count()
}

/// The places of the parts whose lines can't be broken, or that are no prose.
fn whole(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_whole = |part: &Event| {
        matches!(
            part,
            Event::Start(Tag::CodeBlock(_) | Tag::Heading { .. } | Tag::HtmlBlock | Tag::Table(_))
        )
    };
    parts(text).filter(move |(part, _)| is_whole(part)).map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_a_line_of_prose_that_can_be_broken_is_too_long() {
        let long = "word ".repeat(25);
        let url = "x".repeat(120);
        for (text, lines) in [
            (format!("Short.\n\n{long}"), vec![3]),
            (format!("- Short.\n- {long}\n  {long}\n\n> {long}"), vec![2, 3, 5]),
            (format!("# {long}\n\n```text\n{long}\n```\n\n    {long}"), vec![]),
            (format!("| a |\n|---|\n| {long} |\n\n<!-- {long} -->\n"), vec![]),
            (format!("See [this](https://example.org/{url}), and ![that]({url}.svg)."), vec![]),
            (format!("It has <!-- lab: toy.command -->{long}<!-- /lab --> users."), vec![]),
            (format!("<!-- lab: toy.load -->\n{long}\n<!-- /lab -->\n\n{long}"), vec![5]),
            ("文".repeat(120), vec![]),
            ("文".repeat(121), vec![1]),
        ] {
            let page = |name: &str| Page {
                path: PathBuf::new(),
                name: format!("{name}/README.md"),
                text: text.clone(),
            };
            let found = too_long(&page("docs/src"));
            assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), lines, "{text}");
            assert!(found.iter().all(|it| it.what.contains("break it before 120")), "{found:?}");
            assert_eq!(too_long(&page("docs/zh-CN/src")), []);
        }
    }
}
