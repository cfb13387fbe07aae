//! Reads a picture back: its elements and their places. The tests of the crates that draw include this.

use std::collections::BTreeMap;

use lab_display::picture::{FIGURE_WIDTH, figure_text_width};

/// An element of a picture.
#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    /// The text that follows the start tag, up to the next tag.
    pub text: String,
}

impl Element {
    pub fn number(&self, attribute: &str) -> f64 {
        self.attributes.get(attribute).map_or(0.0, |value| value.parse().unwrap())
    }

    pub fn class(&self) -> &str {
        self.attributes.get("class").map_or("", String::as_str)
    }
}

/// All elements, in their order. Fails if a tag is not closed: a browser would show less of the
/// file, or nothing.
pub fn elements(svg: &str) -> Vec<Element> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags do not match");
            continue;
        }
        let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let values = rest.split("\" ").filter_map(|pair| pair.split_once("=\""));
        let value = |(key, value): (&str, &str)| (key.to_owned(), value.replace('"', ""));
        open.push(name.to_owned());
        found.push(Element {
            name: name.to_owned(),
            attributes: values.map(value).collect(),
            text: text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"),
        });
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    found
}

/// Checks that nothing reaches out of the picture, texts by an upper bound of their width.
pub fn assert_nothing_overflows_a_figure(svg: &str) {
    let elements = elements(svg);
    let view = elements[0].attributes["viewBox"].clone();
    let view: Vec<f64> = view.split(' ').map(|number| number.parse().unwrap()).collect();
    // A border is the same on all sides.
    assert_eq!(view[2] + 2.0 * view[0], FIGURE_WIDTH);
    let height = view[3] + 2.0 * view[1];
    for (index, element) in elements.iter().enumerate() {
        let (left, right) = match element.name.as_str() {
            "rect" => (element.number("x"), element.number("x") + element.number("width")),
            "line" => (element.number("x1"), element.number("x2")),
            "circle" => (element.number("cx"), element.number("cx")),
            "text" => {
                let spans = elements[index + 1..].iter().take_while(|next| next.name == "tspan");
                let text = spans.fold(element.text.clone(), |text, span| text + &span.text);
                let (x, width) = (element.number("x"), figure_text_width(&text));
                match element.attributes.get("text-anchor").map(String::as_str) {
                    Some("end") => (x - width, x),
                    Some("middle") => (x - width / 2.0, x + width / 2.0),
                    _ => (x, x + width),
                }
            }
            _ => continue,
        };
        let bottom =
            ["y", "y1", "y2", "cy"].map(|y| element.number(y)).into_iter().fold(0.0, f64::max)
                + element.number("height");
        assert!(left >= 0.0 && right <= FIGURE_WIDTH, "{left}–{right}: {element:?}");
        assert!(element.number("width") >= 0.0, "{element:?}");
        assert!(bottom <= height, "{bottom} of {height}: {element:?}");
    }
}
