//! `lab diff RUN RUN`: what changed between two records.

use std::process::ExitCode;

use super::Places;
use crate::{
    bench::{CaseRecord, Record},
    display::{self, NONE, factor, significant, time_ms},
    store::{Store, read},
};

/// Which two records.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The earlier run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN")]
    pub before: String,
    /// The later run
    #[arg(value_name = "RUN")]
    pub after: String,
}

/// Prints each variant of each case that both records hold.
///
/// The two were not measured in pairs, so whatever the machine did in between is in the factors;
/// that is said, and no verdict is given.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let store = Store::new(&places.results()?);
    let before = read(&store.find(&options.before)?)?;
    let after = read(&store.find(&options.after)?)?;

    let mut rows = Vec::new();
    for case in &before.cases {
        if let Some(later) = after.cases.iter().find(|later| later.case == case.case) {
            rows.extend(variant_rows(case, later));
        }
    }
    if rows.is_empty() {
        out!("these two runs have no case in common");
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["server", "req/s", "after", "factor", "CPU/req", "after", "less by"];
    out!("{}\n", display::table(&header, rows).trim_fmt());
    for note in notes(&before, &after) {
        out!("  note: {note}");
    }
    out!("  These runs were not measured in pairs, so the factors hold the machine's moods too.");
    out!("  For a verdict on two builds: lab compare --rev OLD --rev NEW --bin SERVER --get PATH");
    Ok(ExitCode::SUCCESS)
}

fn variant_rows(before: &CaseRecord, after: &CaseRecord) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for one in &before.variants {
        let Some(other) = after.variant(&one.variant) else { continue };
        let cpu = |us: Option<f64>| us.map_or(NONE.into(), |us| time_ms(us / 1e3));
        let less_cpu = one.cpu_us_per_request.zip(other.cpu_us_per_request);
        rows.push(vec![
            format!("{}-{}", before.case, one.variant),
            significant(one.throughput_rps),
            significant(other.throughput_rps),
            factor(other.throughput_rps / one.throughput_rps),
            cpu(one.cpu_us_per_request),
            cpu(other.cpu_us_per_request),
            less_cpu.map_or(NONE.into(), |(one, other)| factor(one / other)),
        ]);
    }
    rows
}

/// What else differs, and so may be the reason.
fn notes(before: &Record, after: &Record) -> Vec<String> {
    let mut notes = Vec::new();
    if before.machine != after.machine {
        notes.push("the machines differ".to_owned());
    }
    if before.build.rustc != after.build.rustc {
        notes.push("the compilers differ".to_owned());
    }
    if before.build.profile != after.build.profile {
        notes.push("one is a debug build and the other is not".to_owned());
    }
    for case in &before.cases {
        let later = after.cases.iter().find(|later| later.case == case.case);
        if later.is_some_and(|later| later.load != case.load) {
            notes.push(format!("{} was put under different loads", case.case));
        }
    }
    notes
}
