//! Makes a picture of inferno's fit for a page: header, dark mode, narrow screens, spoken title.

use anyhow::Context as _;

use super::Header;

/// Characters of a line that fit into a page of 390 pixels with its margins.
const LINE: usize = 47;
/// Characters of the larger title that fit there.
const TITLE: usize = 38;
/// The height of a line, in pixels.
const STEP: usize = 16;
/// The height that inferno leaves free above its frames, in pixels.
const ABOVE: usize = 36;

/// Follows inferno's own rules. Texts on frames stay dark, as frames are light on any page.
const STYLE: &str = "
svg { color-scheme: light dark; }
text { fill: #222; }
#title { text-anchor: start; font-size: 15px; font-weight: bold; }
.swatch { stroke: #888; }
#search, #unzoom { opacity: 1; text-decoration: underline; }
#frames text { fill: #111; pointer-events: none; }
.filler rect { fill: #eef0f3; stroke: #9aa3ad; stroke-dasharray: 3 3; }
.filler text, #frames .filler text { fill: #444; }
rect[fill=\"url(#background)\"] { fill: #fff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e3e6ea; }
  rect[fill=\"url(#background)\"] { fill: #16191d; }
  .filler rect { fill: #2a2f36; stroke: #7d8792; }
  .filler text, #frames .filler text { fill: #d0d5db; }
  #frames > *:hover { stroke: #fff; }
}
";

/// Gives a picture by inferno its header and its colours.
///
/// # Errors
///
/// If the picture does not look as inferno's do.
pub fn dress(svg: &str, header: &Header) -> anyhow::Result<String> {
    let height: usize = between(svg, " height=\"", "\"")
        .and_then(|height| height.parse().ok())
        .context("inferno's picture has no height")?;
    let (texts, header_height) = texts(header, height);
    // The row for what a search matched comes on top.
    let added = header_height - ABOVE;
    let total = height + added + STEP;

    let (before, rest) = split(svg, "<svg version=\"1.1\"")?;
    let (open, rest) = split(rest, ">")?;
    let open = open
        .replace(&format!("height=\"{height}\""), &format!("height=\"{total}\""))
        .replace(&format!(" {height}\" xmlns"), &format!(" {total}\" xmlns"));
    let spoken = escape(&[&header.title, " – ", &header.lines.join(" ")].concat());
    let open = format!(
        "{before}<svg version=\"1.1\" role=\"img\" aria-label=\"{spoken}\"{open}>\
         <title>{}</title><desc>{spoken}</desc>",
        escape(&header.title)
    );

    let (prelude, rest) = split(rest, "</style>")?;
    let (script, rest) = split(rest, "<rect x=\"0\" y=\"0\"")?;
    let (_, frames) = split(rest, "<svg id=\"frames\"")?;
    Ok(format!(
        "{open}{prelude}{STYLE}</style>{script}\
         <rect x=\"0\" y=\"0\" width=\"100%\" height=\"{total}\" fill=\"url(#background)\"/>\
         {texts}<svg id=\"frames\" y=\"{added}\"{}",
        labelled(frames, &header.whole)
    ))
}

/// The header's elements, with the buttons and the places for details that the script fills; and
/// the header's height.
fn texts(header: &Header, height: usize) -> (String, usize) {
    let mut out = String::new();
    let mut y = 8;
    let mut text = |attributes: &str, x: usize, y: usize, text: &str| {
        let text = escape(text);
        out += &format!("<text {attributes} x=\"{x}\" y=\"{y}\">{text}</text>");
    };
    for (line, words) in textwrap::wrap(&header.title, TITLE).into_iter().enumerate() {
        y += STEP + 1;
        text(if line == 0 { "id=\"title\"" } else { "id=\"title\" class=\"more\"" }, 10, y, &words);
    }
    for words in header.lines.iter().flat_map(|line| textwrap::wrap(line, LINE)) {
        y += STEP;
        text("class=\"line\"", 10, y, &words);
    }
    let mut swatches = String::new();
    for (colour, meaning) in &header.legend {
        y += STEP;
        let top = y - 10;
        text("class=\"line\"", 28, y, meaning);
        swatches += &format!(
            "<rect class=\"swatch\" x=\"10\" y=\"{top}\" width=\"12\" height=\"11\" fill=\"rgb({},{},{})\"/>",
            colour.r, colour.g, colour.b
        );
    }
    y += STEP + 4;
    text("id=\"unzoom\" class=\"hide\"", 10, y, "Reset zoom");
    text("id=\"search\"", 1190, y, "Search");
    let below = y + 8;
    let bottom = height + below - ABOVE;
    text("id=\"details\"", 10, bottom - 14, " ");
    text("id=\"matched\"", 1190, bottom + 2, " ");
    (out + &swatches, below)
}

/// Writes each frame's label where inferno wrote its own name of it: as much as fits into the width
/// without the script, which does the same again for the width of the window.
fn labelled(frames: &str, whole: &str) -> String {
    let mut out = String::with_capacity(frames.len() * 2);
    let mut rest = frames;
    let whole = escape(&format!("{whole} (100 %)"));
    while let Some((before, group)) = rest.split_once("<title>")
        && let Some((title, group)) = group.split_once("</title>")
        && let Some((shape, group)) = group.split_once("<text")
        && let Some((place, group)) = group.split_once('>')
        && let Some((_, group)) = group.split_once("</text>")
    {
        // All frames have a class but the one for everything, which inferno adds.
        let title = if before.ends_with("<g>") { &whole } else { title };
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

fn split<'a>(text: &'a str, at: &str) -> anyhow::Result<(&'a str, &'a str)> {
    text.split_once(at).with_context(|| format!("inferno's picture has no `{at}`"))
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_to_their_frame() {
        assert_eq!(fitting("parse (41 ms)", 10), "parse");
        assert_eq!(fitting("Document::clone (41 ms)", 9), "Docume..");
        assert_eq!(fitting("parse (41 ms)", 3), "");
    }

    #[test]
    fn a_picture_of_another_kind_is_refused() {
        let header = Header {
            title: "a".to_owned(),
            lines: Vec::new(),
            legend: Vec::new(),
            whole: "all".to_owned(),
            colour: crate::flame::colour::SAME,
        };
        let error = dress("<svg height=\"50\"></svg>", &header).unwrap_err();
        assert!(error.to_string().contains("inferno's picture has no"), "{error}");
    }
}
