//! Bytes that a page allocates, and where: slow and fixed on one scale.

use super::{
    super::{
        Folded, Graph, Kind, Scene, Seen, Unit,
        output::Output,
        page::{Section, Table},
        top_inclusive,
    },
    file, section,
    words::share,
};
use crate::display::thousands;

/// How many functions a table names.
const NAMED: usize = 8;

/// The flame graphs of allocated bytes.
pub fn section_of(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let stacks: Vec<_> = seen.heaps.iter().map(|heap| scene.view.of(&heap.stacks)).collect();
    let names = scene.names.iter();
    let sides: Vec<_> = names.zip(&stacks).collect();
    let [(slow, slow_stacks), (fixed, fixed_stacks)] = sides.as_slice() else { return Ok(None) };
    let bytes = |stacks: &Folded| Unit::Bytes.short(stacks.total());
    let lead = format!(
        "A request makes {slow} allocate {}, and {fixed} {}. Sampled in a build of its own, which \
         is never timed.",
        bytes(slow_stacks),
        bytes(fixed_stacks)
    );
    let mut section = section("Bytes allocated per request", lead);
    let scale = stacks.iter().map(Folded::total).max();
    for ((name, stacks), heap) in sides.iter().zip(&seen.heaps) {
        if stacks.is_empty() {
            continue;
        }
        let graph = Graph {
            title: &format!("{name}: bytes per request"),
            notes: &[format!("estimated from {} samples", thousands(heap.samples as f64))],
            kind: Kind::Memory,
            unit: Unit::Bytes,
            scale,
            filler: "bytes that the fix saves",
        };
        let stem = format!("{name}.allocations");
        output.write(&format!("{stem}.folded"), &stacks.to_string())?;
        let caption = format!("{name}: {} for a request.", bytes(stacks));
        section.pictures.push(file(output, &stem, caption, &graph.draw(stacks)?)?);
        section.tables.push(table(name, stacks));
    }
    Ok(Some(section))
}

fn table(name: &str, stacks: &Folded) -> Table {
    let row = |row: super::super::Row| {
        let all = share(row.inclusive, stacks.total());
        vec![row.name, Unit::Bytes.short(row.inclusive), all, Unit::Bytes.short(row.own)]
    };
    Table {
        caption: format!("{name}: the functions that allocate most"),
        head: ["function", "with all it calls", "share", "itself"].map(str::to_owned).to_vec(),
        rows: top_inclusive(stacks, NAMED).into_iter().map(row).collect(),
    }
}
