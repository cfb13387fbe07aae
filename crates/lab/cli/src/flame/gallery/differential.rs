//! The slow graph, coloured by what the fix changed.

use super::{
    super::{
        Differential, RowPair, Scene, Seen, Unit, changed,
        output::Output,
        page::{Section, Table},
    },
    file, section,
    words::{join, time},
};

/// How many functions the table names.
const NAMED: usize = 8;

/// The differential graph.
pub fn section_of(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let stacks = seen.cpu(&scene.view);
    let Some([slow, fixed]) = stacks.as_deref() else { return Ok(None) };
    if slow.is_empty() || fixed.is_empty() {
        return Ok(None);
    }
    let names: Vec<_> = seen.observations.iter().map(|it| it.name.as_str()).collect();
    let pairs = changed(slow, fixed, NAMED);
    let most: Vec<_> = pairs.iter().take(3).map(|pair| format!("“{}”", pair.name)).collect();
    let lead = format!(
        "Blue is what the fix took away, with all that it called. By their own time {} changed \
         most. A function that the compiler made a part of its caller in one variant alone shows \
         there under the caller's name.",
        join(&most)
    );
    let mut section = section("What the fix changed", lead);
    let title = format!("{} to {}: the change", names[0], names[1]);
    let notes = [seen.rung.to_string()];
    let differential = Differential { title: &title, notes: &notes, unit: Unit::Nanoseconds };
    let caption = format!("As wide as {}, coloured by the change to {}.", names[0], names[1]);
    section.pictures.push(file(output, "diff", caption, &differential.draw(slow, fixed)?)?);
    let row = |pair: RowPair| {
        let times = [pair.slow_own, pair.fixed_own, pair.slow_inclusive, pair.fixed_inclusive];
        std::iter::once(pair.name).chain(times.map(time)).collect()
    };
    let head = ["itself", "in all"]
        .into_iter()
        .flat_map(|what| names.iter().map(move |name| format!("{name}, {what}")));
    section.tables.push(Table {
        caption: "CPU time per request, by what changed most".to_owned(),
        head: std::iter::once("function".to_owned()).chain(head).collect(),
        rows: pairs.into_iter().map(row).collect(),
    });
    Ok(Some(section))
}
