//! Makes a picture of inferno's fit for a page: header, dark mode, narrow screens, spoken title.

use anyhow::Context as _;

use super::{
    Header,
    header::{STEP, texts},
    labels::labelled,
    markup::{between, escape, split},
};

/// The height that inferno leaves free above its frames, in pixels.
pub const ABOVE: usize = 36;

/// Follows inferno's own rules. Texts on frames stay dark, as frames are light on any page.
const STYLE: &str = "
svg { color-scheme: light dark; }
text { fill: #222; }
.title { font-size: 15px; font-weight: bold; }
.swatch { stroke: #888; }
#search, #unzoom { opacity: 1; text-decoration: underline; }
#frames text { fill: #111; pointer-events: none; }
.whole rect { fill: #f1f2f4; }
.filler rect { fill: #eef0f3; stroke: #9aa3ad; stroke-dasharray: 3 3; }
.filler text, #frames .filler text { fill: #444; }
rect[fill=\"url(#background)\"] { fill: #fff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e3e6ea; }
  rect[fill=\"url(#background)\"] { fill: #16191d; }
  .whole rect { fill: #363c44; }
  .whole text, #frames .whole text { fill: #e3e6ea; }
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
    let total = height + added + STEP / 2;

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

    let (prelude, rest) = split(rest, "<rect x=\"0\" y=\"0\"")?;
    let (_, frames) = split(rest, "<svg id=\"frames\"")?;
    styled(&format!(
        "{open}{prelude}\
         <rect x=\"0\" y=\"0\" width=\"100%\" height=\"{total}\" fill=\"url(#background)\"/>\
         {texts}<svg id=\"frames\" y=\"{added}\"{}",
        labelled(frames, header)
    ))
}

/// Gives a picture by inferno the colours of light and dark pages, and nothing else.
///
/// # Errors
///
/// If it has no style.
pub fn styled(svg: &str) -> anyhow::Result<String> {
    let (before, behind) = split(svg, "</style>")?;
    Ok(format!("{before}{STYLE}</style>{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_another_kind_is_refused() {
        let header = Header {
            title: "a".to_owned(),
            lines: Vec::new(),
            legend: Vec::new(),
            whole: "all".to_owned(),
            colour: None,
        };
        let error = dress("<svg height=\"50\"></svg>", &header).unwrap_err();
        assert!(error.to_string().contains("inferno's picture has no"), "{error}");
    }
}
