//! The names on the frames, for whoever shows the picture without running its script.

use super::{
    Header,
    markup::{between, escape, unescape},
};

/// Writes each frame's label where inferno wrote its own name of it: as much as fits into the width
/// without the script, which does the same again for the width of the window.
pub fn labelled(frames: &str, header: &Header) -> String {
    let mut out = String::with_capacity(frames.len() * 2);
    let mut rest = frames;
    // Without a colour of its own it has the page's.
    let class = if header.colour.is_some() { "frame" } else { "whole" };
    let whole = escape(&format!("{} (100 %)", header.whole));
    while let Some((before, group)) = rest.split_once("<title>")
        && let Some((title, group)) = group.split_once("</title>")
        && let Some((shape, group)) = group.split_once("<text")
        && let Some((place, group)) = group.split_once('>')
        && let Some((_, group)) = group.split_once("</text>")
    {
        // All frames have a class but the one for everything, which inferno adds.
        let (before, title) = match before.strip_suffix("<g>") {
            Some(before) => (format!("{before}<g class=\"{class}\">"), whole.as_str()),
            None => (before.to_owned(), title),
        };
        let percent: f64 =
            between(shape, " width=\"", "%").and_then(|width| width.parse().ok()).unwrap_or(0.0);
        let room = (percent * 11.8 / 7.2) as usize;
        let label = fitting(&unescape(title), room);
        out +=
            &format!("{before}<title>{title}</title>{shape}<text{place}>{}</text>", escape(&label));
        rest = group;
    }
    out + rest
}

fn fitting(title: &str, room: usize) -> String {
    let label = title.rsplit_once(" (").map_or(title, |(label, _)| label);
    match label.chars().count() {
        long if long < room => label.to_owned(),
        _ if room < 4 => String::new(),
        _ => label.chars().take(room - 3).chain("..".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn labels_are_cut_to_their_frame() {
        assert_eq!(fitting("parse (41 ms)", 10), "parse");
        assert_eq!(fitting("Document::clone (41 ms)", 9), "Docume..");
        assert_eq!(fitting("parse (41 ms)", 3), "");
    }
}
