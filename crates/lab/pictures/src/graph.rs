//! One flame graph: as wide as what a request costs, or as what it costs the slower variant.

use lab_observation::{Folded, LANGUAGES, Node, Unit};

use super::frames::{self, Colour, Drawing, Frame, Header};

/// What a flame graph shows of a request, which decides its colours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GraphKind {
    /// CPU time: warm.
    Cpu,
    /// The time that it takes, with its waits: cold.
    Waits,
    /// Allocated bytes: green.
    Allocations,
}

/// The allocator's frames among warm ones.
const ALLOCATOR: Colour = Colour(125, 200, 115);
const MACHINERY: Colour = Colour(190, 195, 200);

impl GraphKind {
    /// What follows the server's name in the title.
    fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU time per request",
            Self::Waits => "the time of a request",
            Self::Allocations => "bytes per request",
        }
    }

    /// What the widths count.
    fn unit(self) -> Unit {
        if self == Self::Allocations { Unit::Bytes } else { Unit::Nanoseconds }
    }

    /// The colour of a function, the same in every graph.
    fn colour(self, name: &str) -> Colour {
        if LANGUAGES.is_machinery(name) {
            return MACHINERY;
        }
        let shade = |range: u8| u8::try_from(hash(name) % u64::from(range)).unwrap_or(0);
        match self {
            Self::Cpu if LANGUAGES.is_allocator(name) => ALLOCATOR,
            Self::Cpu => Colour(255, 150 + shade(75), 60 + shade(50)),
            Self::Waits => Colour(150 + shade(60), 165 + shade(45), 245),
            Self::Allocations => Colour(120 + shade(90), 205 + shade(30), 110 + shade(50)),
        }
    }
}

/// FNV-1a, because it is the same on every machine and with every Rust.
fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, add)
}

/// Draws the stacks of a server. Graphs with the same `scale`, the weight of the whole width, can be
/// compared by eye. The `notes` are sentences below the title.
pub fn draw(
    kind: GraphKind,
    server: &str,
    notes: Vec<String>,
    folded: &Folded,
    scale: u64,
) -> Drawing {
    let root = Node::of(folded);
    let (unit, total) = (kind.unit(), root.inclusive);
    let title = format!("{server}: {}", kind.title());
    let header = Header { title, lines: notes, legend: legend(kind, &root) };
    let saved = scale.saturating_sub(total);
    let filler = (saved > 0).then(|| {
        let what = if unit == Unit::Bytes { "bytes" } else { "time" };
        let label = format!("{what} that the fix saves");
        (saved, Frame { label, details: lab_report::per_request(unit, saved), colour: None })
    });
    let of = match filler {
        None => " in all".to_owned(),
        Some(_) => format!(", of {}", lab_report::weight(unit, scale)),
    };
    let label = lab_report::per_request(unit, total) + &of;
    let whole = Frame { label, details: "100 %".to_owned(), colour: None };
    frames::draw(&header, &root, whole, filler, |path, node| {
        let name = path.last().copied().unwrap_or_default();
        let share = node.inclusive as f64 / total as f64 * 100.0;
        Frame {
            label: name.to_owned(),
            details: format!("{}, {share:.1} %", lab_report::per_request(unit, node.inclusive)),
            colour: Some(kind.colour(name)),
        }
    })
}

/// Explains only colours that are visible.
fn legend(kind: GraphKind, root: &Node) -> Vec<(Colour, &'static str)> {
    let (mut allocator, mut machinery) = (false, false);
    root.walk(&mut |path, node| {
        if let Some(name) = path.last().filter(|_| node.inclusive * 100 > root.inclusive) {
            allocator |= kind == GraphKind::Cpu && LANGUAGES.is_allocator(name);
            machinery |= LANGUAGES.is_machinery(name);
        }
    });
    let allocator = allocator.then_some((ALLOCATOR, "the memory allocator"));
    let machinery = machinery.then_some((MACHINERY, "kernel, and the server's machinery"));
    allocator.into_iter().chain(machinery).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACKS: &str = "cpu;sum<&T>;malloc 30000000\ncpu;sum<&T> 10000000\nhttp;kernel 1000000\n";

    fn graph(scale: u64) -> String {
        let notes = vec!["perf, with kernel frames".to_owned()];
        draw(GraphKind::Cpu, "fixed", notes, &STACKS.parse().unwrap(), scale).svg
    }

    #[test]
    fn every_frame_has_its_name_its_cost_and_its_share() {
        let svg = graph(41_000_000);
        assert!(svg.contains("<title>malloc (30.0 ms per request, 73.2 %)</title>"));
        assert!(svg.contains("<title>sum&lt;&amp;T&gt; (40.0 ms per request, 97.6 %)</title>"));
        assert!(svg.contains("<title>41.0 ms per request in all (100 %)</title>"));
        let label = "fixed: CPU time per request – perf, with kernel frames";
        assert!(svg.contains(&format!("aria-label=\"{label}\"")));
        assert!(svg.contains("the memory allocator") && !svg.contains("time that the fix saves"));
    }

    #[test]
    fn a_frame_is_as_wide_as_its_share_of_the_scale_and_the_rest_is_filled() {
        let svg = graph(82_000_000);
        assert!(svg.contains("<title>41.0 ms per request, of 82.0 ms (100 %)</title>"));
        let place = |place: &str, title: &str| {
            let frame = format!("{place} height=\"16\"><title>{title}");
            assert!(svg.contains(&frame), "{frame} is not in {svg}");
        };
        place("x=\"0%\" width=\"36.5854%\" y=\"0\"", "malloc");
        place("x=\"48.7805%\" width=\"1.2195%\" y=\"17\"", "kernel");
        place("x=\"50%\" width=\"50%\" y=\"34\"", "time that the fix saves (41.0 ms per request)");
    }
}
