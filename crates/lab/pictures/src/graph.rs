//! One flame graph: as wide as what a request costs, or as what it costs the slower variant.

use lab_observation::{Folded, LANGUAGES, Node, Unit};

use super::{
    frames::{self, Drawing, Frame, Header},
    palette::{self, Colour, Palette},
};

/// What a flame graph shows.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    pub title: &'a str,
    /// Sentences below the title.
    pub notes: &'a [String],
    pub palette: Palette,
    /// What the widths count.
    pub unit: Unit,
    /// The weight of the whole width. Graphs with the same scale can be compared by eye.
    pub scale: u64,
}

impl Graph<'_> {
    pub fn draw(&self, folded: &Folded) -> Drawing {
        let root = Node::of(folded);
        let (unit, total, scale) = (self.unit, root.inclusive, self.scale);
        let header = Header {
            title: self.title.to_owned(),
            lines: self.notes.to_vec(),
            legend: self.legend(&root),
        };
        let label = match scale == total {
            true => format!("{} in all", unit.per_request(total)),
            false => format!("{}, of {}", unit.per_request(total), unit.short(scale)),
        };
        let whole = Frame { label, details: "100 %".to_owned(), colour: None };
        let filler = Frame {
            label: match unit {
                Unit::Nanoseconds => "time that the fix saves".to_owned(),
                Unit::Bytes => "bytes that the fix saves".to_owned(),
            },
            details: unit.per_request(scale.saturating_sub(total)),
            colour: None,
        };
        frames::draw(&header, &root, scale, whole, filler, |path, node| {
            let name = path.last().copied().unwrap_or_default();
            let share = node.inclusive as f64 / total as f64 * 100.0;
            Frame {
                label: name.to_owned(),
                details: format!("{}, {share:.1} %", unit.per_request(node.inclusive)),
                colour: Some(palette::of(self.palette, name)),
            }
        })
    }

    /// Explains only colours that are visible.
    fn legend(&self, root: &Node) -> Vec<(Colour, &'static str)> {
        let (mut allocator, mut machinery) = (false, false);
        root.walk(&mut |path, node| {
            let visible = node.inclusive * 100 > root.inclusive;
            let name = path.last().filter(|_| visible);
            allocator |= name.is_some_and(|name| LANGUAGES.is_allocator(name));
            machinery |= name.is_some_and(|name| LANGUAGES.is_machinery(name));
        });
        let mut legend = Vec::new();
        if allocator && self.palette == Palette::Cpu {
            legend.push((palette::ALLOCATIONS, "the memory allocator"));
        }
        if machinery {
            legend.push((palette::GREY, "kernel, and the server's machinery"));
        }
        legend
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::elements;

    use super::*;

    const STACKS: &str = "cpu;sum<&T>;malloc 30000000\ncpu;sum<&T> 10000000\nhttp;kernel 1000000\n";

    fn graph(scale: u64) -> String {
        let notes = ["perf, with kernel frames".to_owned()];
        let graph = Graph {
            title: "hot-clone, fixed",
            notes: &notes,
            palette: Palette::Cpu,
            unit: Unit::Nanoseconds,
            scale,
        };
        graph.draw(&STACKS.parse().unwrap()).svg
    }

    #[test]
    fn every_frame_has_its_name_its_cost_and_its_share() {
        let svg = graph(41_000_000);
        assert!(svg.contains("<title>malloc (30.0 ms per request, 73.2 %)</title>"));
        assert!(svg.contains("<title>sum&lt;&amp;T&gt; (40.0 ms per request, 97.6 %)</title>"));
        assert!(svg.contains("<title>41.0 ms per request in all (100 %)</title>"));
        assert!(svg.contains("aria-label=\"hot-clone, fixed – perf, with kernel frames\""));
        assert!(svg.contains("the memory allocator") && !svg.contains("time that the fix saves"));
    }

    #[test]
    fn a_frame_is_as_wide_as_its_share_of_the_scale_and_the_rest_is_filled() {
        let svg = graph(82_000_000);
        assert!(svg.contains("<title>time that the fix saves (41.0 ms per request)</title>"));
        assert!(svg.contains("<title>41.0 ms per request, of 82.0 ms (100 %)</title>"));
        let (picture, _) = svg.split_once("<script>").unwrap();
        let frames = elements(&format!("{picture}</svg>"));
        let of = |class: &'static str| frames.iter().filter(move |frame| frame.class() == class);
        let places: Vec<_> = of("frame").chain(of("filler bare")).collect();
        let place = |name: &str| places.iter().map(|it| it.attributes[name].as_str()).collect();
        let (x, width): (Vec<_>, Vec<_>) = (place("x"), place("width"));
        assert_eq!(x, ["0%", "0%", "0%", "48.7805%", "48.7805%", "50%"]);
        assert_eq!(width, ["48.7805%", "48.7805%", "36.5854%", "1.2195%", "1.2195%", "50%"]);
        let rows: Vec<_> = places.iter().map(|it| it.number("y")).collect();
        assert_eq!(rows, [34.0, 17.0, 0.0, 34.0, 17.0, 34.0]);
    }
}
