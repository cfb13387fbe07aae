//! `table steps`: each change alone, against slow.

use super::{one_case::cpu, summary::YOUR_MACHINE};
use crate::{
    bench::VariantRecord,
    display::{NONE, significant, speedup},
    docs::{
        recipe::{Call, Made},
        words::{self, command_line, made_by},
    },
    stats::Speedup,
};

/// `table steps CASE`.
pub fn table(call: &Call) -> anyhow::Result<Made> {
    let [name] = call.arguments()?;
    let record = call.sources.record()?;
    let case = call.sources.measured(name)?;
    let mine = call.sources.mine.as_ref();
    let mut header = vec![name, "req/s", "over slow", "CPU per request", "over slow"];
    header.extend(mine.map(|_| YOUR_MACHINE));
    let mut rows = Vec::new();
    for variant in &call.sources.case(name)?.variants {
        let measured = call.sources.variant(name, variant)?;
        let over = measured.speedup;
        let mut row = vec![
            variant.clone(),
            significant(measured.throughput_rps),
            factor(over.and_then(|over| over.throughput)),
            cpu(measured),
            factor(over.and_then(|over| over.cpu_per_request)),
        ];
        row.extend(mine.map(|mine| match mine.case(name).and_then(|own| own.variant(variant)) {
            Some(own) => own_words(own),
            None => NONE.to_owned(),
        }));
        rows.push(row);
    }
    let table = words::table(&header, rows);
    let made_by = made_by(&command_line(&record.command), &record.machine, record.created);
    let confidence = words::confidence([case]).unwrap_or_default();
    let mine = mine.map_or(String::new(), |mine| format!(" {}", mine.footer(Some(name))));
    Ok(format!(
        "{table}\n\n*In brackets: a {confidence} interval, from {} pairs of runs. {made_by}{mine}*",
        case.pairs
    )
    .into())
}

fn factor(found: Option<Speedup>) -> String {
    found.map_or(String::new(), |found| speedup(&found))
}

/// A variant of the reader's own: `5,102 req/s, 263× (260–266)`.
fn own_words(own: &VariantRecord) -> String {
    let throughput = format!("{} req/s", significant(own.throughput_rps));
    match own.speedup.and_then(|over| over.throughput) {
        Some(found) => format!("{throughput}, {}", speedup(&found)),
        None => throughput,
    }
}
