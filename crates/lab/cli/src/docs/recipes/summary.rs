//! `table summary`: all cases in one table.

use crate::{
    bench::CaseRecord,
    display::{NONE, noise, speedup},
    docs::{
        recipe::{Call, Made},
        words::command_line,
        words::{confidence, made_by, table as markdown},
    },
    stats::Speedup,
};

/// What stands above the column of the reader's own figures.
pub const YOUR_MACHINE: &str = "your machine";

/// `table summary`.
pub fn table(call: &Call) -> anyhow::Result<Made> {
    let [] = call.arguments()?;
    let record = call.sources.record()?;
    let mut header = vec!["fixed against slow", "by req/s", "by CPU per request", "A/A noise"];
    let mine = call.sources.mine.as_ref();
    header.extend(mine.map(|_| YOUR_MACHINE));
    let rows = record.cases.iter().map(|case| {
        let text = |found: Option<Speedup>| found.map_or(NONE.into(), |found| speedup(&found));
        let mut row = vec![
            format!("`{}`", case.case),
            text(case.speedup.throughput),
            text(case.speedup.cpu_per_request),
            worst_noise(case).map_or(NONE.into(), |control| noise(&control)),
        ];
        row.extend(
            mine.map(|mine| text(mine.case(&case.case).and_then(|own| own.speedup.throughput))),
        );
        row
    });
    let mut footer = Vec::new();
    footer.extend(
        confidence(&record.cases)
            .map(|least| format!("In brackets: a {least} interval, from pairs of runs.")),
    );
    footer.push(made_by(&command_line(&record.command), &record.machine, record.created));
    footer.extend(mine.map(|mine| mine.footer(None)));
    Ok(format!("{}\n\n*{}*", markdown(&header, rows), footer.join(" ")).into())
}

/// How far slow strays from itself, by the metric that strays farther.
fn worst_noise(case: &CaseRecord) -> Option<Speedup> {
    let controls = [case.control.speedup.throughput, case.control.speedup.cpu_per_request];
    controls.into_iter().flatten().max_by(|a, b| a.reach().total_cmp(&b.reach()))
}
