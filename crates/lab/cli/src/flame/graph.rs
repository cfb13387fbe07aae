//! One flame graph: as wide as what one request costs, or as the costlier variant's request.

use anyhow::ensure;
use inferno::flamegraph::color::Color;

use super::{
    Folded,
    colour::{self, Kind},
    svg::{self, Filler, Frame, Header},
    tree::Node,
    unit::Unit,
};

/// What to write on a flame graph, and how wide to draw it.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// What the picture shows: `hot-clone, slow: CPU time per request`.
    pub title: &'a str,
    /// Sentences below the title: who measured, and what a reader has to know.
    pub notes: &'a [String],
    /// What the colours tell.
    pub kind: Kind,
    /// What the widths tell.
    pub unit: Unit,
    /// What the whole width stands for; the total of the stacks if there is none. Two graphs with
    /// the same scale can be compared by eye.
    pub scale: Option<u64>,
    /// The name of the pale frame that fills the graph up to its scale: `time that the fix saves`.
    pub filler: &'a str,
}

impl Graph<'_> {
    /// The graph of the stacks as an interactive picture that needs nothing but itself.
    ///
    /// # Errors
    ///
    /// If there is nothing to draw, or more than the scale has room for.
    pub fn draw(&self, folded: &Folded) -> anyhow::Result<String> {
        let root = Node::of(folded);
        let total = root.inclusive;
        let scale = self.scale.unwrap_or(total);
        ensure!(total <= scale, "`{}` has more ({total}) than its scale ({scale})", self.title);
        let header = Header {
            title: self.title.to_owned(),
            lines: self.notes.to_vec(),
            legend: self.legend(&root),
            whole: match scale {
                _ if scale == total => format!("{} in all", self.unit.tell(total)),
                _ => format!("{}, of {}", self.unit.tell(total), self.unit.short(scale)),
            },
            colour: None,
        };
        let filler = Filler {
            width: scale - total,
            frame: Frame {
                label: self.filler.to_owned(),
                details: self.unit.tell(scale - total),
                colour: colour::SAME,
            },
        };
        let filler = Some(&filler).filter(|filler| filler.width > 0);
        svg::draw(&root, &header, filler, false, |path, node| {
            let name = path.last().map_or("", |name| name.as_str());
            let share = node.inclusive as f64 / total as f64 * 100.0;
            Frame {
                label: name.to_owned(),
                details: format!("{}, {share:.1} %", self.unit.tell(node.inclusive)),
                colour: colour::of(self.kind, name),
            }
        })
    }

    /// Only of what is there to be seen.
    fn legend(&self, root: &Node) -> Vec<(Color, String)> {
        let (mut allocator, mut machinery) = (false, false);
        root.walk(&mut |path, node| {
            let visible = node.inclusive * 100 > root.inclusive;
            let is = |what: fn(&str) -> bool| visible && path.last().is_some_and(|name| what(name));
            allocator |= is(colour::is_allocator);
            machinery |= is(colour::is_machinery);
        });
        let allocator = (allocator && self.kind == Kind::Cpu)
            .then(|| (colour::ALLOCATIONS, "the memory allocator".to_owned()));
        let machinery =
            machinery.then(|| (colour::GREY, "kernel, and the server's machinery".to_owned()));
        allocator.into_iter().chain(machinery).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACKS: &str = "cpu;sum<&T>;malloc 30000000\ncpu;sum<&T> 10000000\nhttp;kernel 1000000\n";

    fn graph(scale: Option<u64>) -> anyhow::Result<String> {
        let notes = ["perf, with kernel frames".to_owned()];
        let graph = Graph {
            title: "hot-clone, fixed",
            notes: &notes,
            kind: Kind::Cpu,
            unit: Unit::Nanoseconds,
            scale,
            filler: "time that the fix saves",
        };
        graph.draw(&STACKS.parse()?)
    }

    #[test]
    fn every_frame_tells_its_name_its_cost_and_its_share() {
        let svg = graph(None).unwrap();
        assert!(svg.contains("<title>malloc (30.0 ms per request, 73.2 %)</title>"));
        assert!(svg.contains("<title>sum&lt;&amp;T&gt; (40.0 ms per request, 97.6 %)</title>"));
        assert!(svg.contains("<title>41.0 ms per request in all (100 %)</title>"));
        assert!(svg.contains("aria-label=\"hot-clone, fixed – perf, with kernel frames\""));
        assert!(!svg.contains("time that the fix saves"));
        assert!(!svg.contains(">f0<") && !svg.contains(">f1<"), "inferno's names are shown");
    }

    #[test]
    fn the_scale_is_filled_up() {
        let svg = graph(Some(82_000_000)).unwrap();
        assert!(svg.contains("total_samples=\"82000000\""));
        assert!(svg.contains("<title>time that the fix saves (41.0 ms per request)</title>"));
        assert!(svg.contains("class=\"filler\""));
        assert!(svg.contains("<title>41.0 ms per request, of 82.0 ms (100 %)</title>"));
        let malloc = svg.split("<title>malloc").nth(1).unwrap();
        assert!(malloc.contains("width=\"36.5854%\""), "{malloc:.200}");
    }

    #[test]
    fn the_same_stacks_give_the_same_picture() {
        assert!(graph(None).unwrap() == graph(None).unwrap());
    }

    #[test]
    fn a_scale_that_is_too_small_and_stacks_without_weight_are_refused() {
        assert!(graph(Some(1)).unwrap_err().to_string().contains("than its scale (1)"));
        let graph = Graph {
            title: "empty",
            notes: &[],
            kind: Kind::Wait,
            unit: Unit::Samples,
            scale: None,
            filler: "",
        };
        let error = graph.draw(&Folded::default()).unwrap_err();
        assert!(error.to_string().contains("nothing to draw"), "{error}");
    }
}
