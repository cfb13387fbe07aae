//! The slow graph, coloured by what the fix changed.

use super::{
    super::{
        Differential, RowPair, Scene, Seen, Unit, changed,
        output::Output,
        page::{Section, Table},
    },
    file, section,
    words::time,
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
    let lead = match pairs.first() {
        Some(most) => format!(
            "Blue is what the fix took away, with all that it called. Of a function's own time \
             `{}` changed most: from {} to {} for a request.",
            most.name,
            time(most.slow_own),
            time(most.fixed_own)
        ),
        None => String::new(),
    };
    let mut section = section("What the fix changed", lead);
    let title = format!("{}: what the fix changed", scene.name);
    let notes = [seen.rung.to_string()];
    let differential = Differential { title: &title, notes: &notes, unit: Unit::Nanoseconds };
    let caption = format!("As wide as {}, coloured by the change to {}.", names[0], names[1]);
    section.pictures.push(file(output, "diff", caption, &differential.draw(slow, fixed)?)?);
    let row = |pair: RowPair| {
        let times = [pair.slow_own, pair.fixed_own, pair.slow_inclusive, pair.fixed_inclusive];
        std::iter::once(pair.name).chain(times.map(time)).collect()
    };
    let head = ["itself", "with all it calls"]
        .into_iter()
        .flat_map(|what| names.iter().map(move |name| format!("{name}, {what}")));
    section.tables.push(Table {
        caption: "CPU time per request, by what changed most".to_owned(),
        head: std::iter::once("function".to_owned()).chain(head).collect(),
        rows: pairs.into_iter().map(row).collect(),
    });
    Ok(Some(section))
}
