//! Both variants in one graph: the slow one's widths, in the colours of what the fix changed.
//!
//! The change is that of a frame with all that it calls. Graphs that colour a frame's own share
//! alone leave it white when the fix has taken away what it called.

use super::{
    Folded, colour,
    svg::{self, Frame, Header},
    tree::Node,
    unit::Unit,
};

/// How many frames that only the fix has are named.
const NEW: usize = 3;

/// What to write on a graph of both variants.
#[derive(Clone, Debug)]
pub struct Differential<'a> {
    /// What the picture shows.
    pub title: &'a str,
    /// Sentences below the title.
    pub notes: &'a [String],
    /// What the widths tell; both variants' weights are in it.
    pub unit: Unit,
}

impl Differential<'_> {
    /// The graph of `slow`, in the colours of the change to `fixed`.
    ///
    /// # Errors
    ///
    /// If there is nothing to draw.
    pub fn draw(&self, slow: &Folded, fixed: &Folded) -> anyhow::Result<String> {
        let (slow, fixed) = (Node::of(slow), Node::of(fixed));
        let mut lines = self.notes.to_vec();
        lines.push("Width: with the fault. Colour: a function and all that it calls.".to_owned());
        lines.extend(self.only_fixed(&slow, &fixed));
        let header = Header {
            title: self.title.to_owned(),
            lines,
            legend: vec![
                (colour::LESS, "blue: the fix removed it".to_owned()),
                (colour::SAME, "white: it costs the same".to_owned()),
                (colour::MORE, "red: the fix added to it".to_owned()),
            ],
            whole: format!(
                "{} in all: {}",
                change(slow.inclusive, fixed.inclusive),
                self.both(slow.inclusive, fixed.inclusive)
            ),
            colour: Some(colour::of_change(slow.inclusive, fixed.inclusive)),
        };
        svg::draw(&slow, &header, None, true, |path, node| {
            let fixed = fixed.at(path.iter().copied()).map_or(0, |node| node.inclusive);
            let name = path.last().map_or("", |name| name.as_str());
            Frame {
                label: format!("{name} {}", change(node.inclusive, fixed)),
                details: self.both(node.inclusive, fixed),
                colour: colour::of_change(node.inclusive, fixed),
            }
        })
    }

    fn both(&self, slow: u64, fixed: u64) -> String {
        format!("{}, with the fix {}", self.unit.tell(slow), self.unit.short(fixed))
    }

    /// Widths are those of the slow variant, so what only the fixed one has would have none.
    fn only_fixed(&self, slow: &Node, fixed: &Node) -> Option<String> {
        let mut new = Vec::new();
        fixed.walk(&mut |path, node| {
            let has = |depth: usize| slow.at(path[..depth].iter().copied()).is_some();
            let (name, caller) = (path[path.len() - 1], path.len() - 1);
            // What a new function calls is new as well; naming that one is enough.
            if !has(path.len()) && has(caller) && node.inclusive * 100 >= fixed.inclusive {
                new.push((node.inclusive, name));
            }
        });
        new.sort_by(|a, b| b.cmp(a));
        // A line must not end between a number and its unit.
        let short = |spent| self.unit.short(spent).replace(' ', "\u{a0}");
        let told = |(spent, name): &(u64, &String)| format!("{name} {}", short(*spent));
        let named: Vec<String> = new.iter().take(NEW).map(told).collect();
        (!named.is_empty()).then(|| format!("Only with the fix: {}.", named.join(", ")))
    }
}

/// `−88 %`, or how many times as much.
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

    fn draw(slow: &str, fixed: &str) -> String {
        let differential =
            Differential { title: "double-parse", notes: &[], unit: Unit::Nanoseconds };
        differential.draw(&slow.parse().unwrap(), &fixed.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_frame_is_coloured_by_all_that_it_calls() {
        let svg = draw("parse;body;clone 9000000\nparse 1000000\n", "parse 1200000\n");
        let title = "<title>parse −88 % (10.0 ms per request, with the fix 1.20 ms)</title>";
        let parse = svg.split(title).nth(1).expect("parse is told");
        let fill = colour::of_change(10_000_000, 1_200_000).to_string();
        assert!(parse.split("/>").next().unwrap().contains(&fill), "{parse:.200}");
        assert!(
            svg.contains("<title>clone −100 % (9.00 ms per request, with the fix 0 ns)</title>")
        );
    }

    #[test]
    fn the_direction_is_written_on_it() {
        let svg = draw("parse 10\n", "parse 10\n");
        for words in
            ["blue: the fix removed it", "red: the fix added to it", "Width: with the fault."]
        {
            assert!(svg.contains(words), "{words}");
        }
    }

    #[test]
    fn what_only_the_fix_has_is_named_once() {
        let svg = draw("parse;clone 90\n", "parse;visit;read 20\nparse 1\n");
        assert!(svg.contains("Only with the fix: visit 20\u{a0}ns."));
    }

    #[test]
    fn changes_are_told_in_percent_or_in_times() {
        assert_eq!(change(100, 12), "−88 %");
        assert_eq!(change(100, 100), "±0 %");
        assert_eq!(change(100, 130), "+30 %");
        assert_eq!(change(100, 250), "×2.5");
    }
}
