//! Both variants in one graph: the slow one's widths, coloured by what the fix changed.
//!
//! The colour is the change of a frame with everything it called. Graphs that colour a frame by its
//! own share leave it white when the fix removed what it called.

use super::{
    frames::{self, Drawing, Frame, Header},
    palette,
};
use crate::stacks::{Folded, Node, Unit};

/// How many frames that only the fix has are named.
const NEW: usize = 3;

/// Draws `slow`, in nanoseconds per request, coloured by the change to `fixed`.
pub fn draw(title: String, notes: Vec<String>, slow: &Folded, fixed: &Folded) -> Drawing {
    let (slow, fixed) = (Node::of(slow), Node::of(fixed));
    let mut lines = notes;
    lines.push("Width: with the fault. Colour: a function with everything it called.".to_owned());
    lines.extend(only_fixed(&slow, &fixed));
    let legend = vec![
        (palette::LESS, "blue: the fix removed it"),
        (palette::SAME, "white: it costs the same"),
        (palette::MORE, "red: the fix added to it"),
    ];
    let (all_slow, all_fixed) = (slow.inclusive, fixed.inclusive);
    let whole = Frame {
        label: format!("{} in all: {}", change(all_slow, all_fixed), both(all_slow, all_fixed)),
        details: "100 %".to_owned(),
        colour: Some(palette::of_change(all_slow, all_fixed)),
    };
    let header = Header { title, lines, legend };
    frames::draw(&header, &slow, all_slow, whole.clone(), whole, |path, node| {
        let fixed = fixed.at(path).map_or(0, |node| node.inclusive);
        let name = path.last().copied().unwrap_or_default();
        Frame {
            label: format!("{name} {}", change(node.inclusive, fixed)),
            details: both(node.inclusive, fixed),
            colour: Some(palette::of_change(node.inclusive, fixed)),
        }
    })
}

fn both(slow: u64, fixed: u64) -> String {
    let unit = Unit::Nanoseconds;
    format!("{}, with the fix {}", unit.per_request(slow), unit.short(fixed))
}

/// Names frames of the fix alone, because the widths are those of the slow variant.
fn only_fixed(slow: &Node, fixed: &Node) -> Option<String> {
    let mut new = Vec::new();
    fixed.walk(&mut |path, node| {
        let caller = path.len() - 1;
        // Everything that a new function calls is new as well.
        let is_new = slow.at(path).is_none() && slow.at(&path[..caller]).is_some();
        if is_new && node.inclusive * 100 >= fixed.inclusive {
            new.push((node.inclusive, path[caller]));
        }
    });
    new.sort_by(|a, b| b.cmp(a));
    // A line must not break between a number and its unit.
    let short = |weight| Unit::Nanoseconds.short(weight).replace(' ', "\u{a0}");
    let named = new.iter().take(NEW).map(|(weight, name)| format!("{name} {}", short(*weight)));
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("Only with the fix: {}.", named.join(", ")))
}

/// `−88 %`, or a factor from 2 on.
fn change(slow: u64, fixed: u64) -> String {
    match fixed as f64 / slow.max(1) as f64 {
        times if times >= 2.0 => format!("×{times:.1}"),
        times => match ((times - 1.0) * 100.0).round() {
            0.0 => "±0 %".to_owned(),
            less if less < 0.0 => format!("−{:.0} %", -less),
            more => format!("+{more:.0} %"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(slow: &str, fixed: &str) -> String {
        let title = "double-parse".to_owned();
        draw(title, Vec::new(), &slow.parse().unwrap(), &fixed.parse().unwrap()).svg
    }

    #[test]
    fn a_frame_is_coloured_by_everything_it_called() {
        let svg = drawn("parse;body;clone 9000000\nparse 1000000\n", "parse 1200000\n");
        let title = "<title>parse −88 % (10.0 ms per request, with the fix 1.20 ms)</title>";
        let parse = svg.split(title).nth(1).expect("parse is drawn");
        let fill = palette::of_change(10_000_000, 1_200_000).to_string();
        assert!(parse.split("</rect>").next().unwrap().contains(&fill), "{parse:.200}");
        let clone = "<title>clone −100 % (9.00 ms per request, with the fix 0 ns)</title>";
        assert!(svg.contains(clone));
    }

    #[test]
    fn functions_of_the_fix_alone_are_named_once() {
        let svg = drawn("parse;clone 90\n", "parse;visit;read 20\nparse 1\n");
        assert!(svg.contains("Only with the fix: visit 20\u{a0}ns."));
    }

    #[test]
    fn changes_are_percentages_or_factors() {
        assert_eq!(change(100, 12), "−88 %");
        assert_eq!(change(100, 100), "±0 %");
        assert_eq!(change(100, 130), "+30 %");
        assert_eq!(change(100, 250), "×2.5");
    }
}
