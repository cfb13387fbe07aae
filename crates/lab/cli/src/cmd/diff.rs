//! `lab diff RUN RUN`: two records, side by side.

use std::process::ExitCode;

use lab_display::{NONE, factor, significant, time_ms};
use lab_record::{CaseRecord, Record, Store, read};

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The earlier run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN")]
    pub before: String,
    /// The later run
    #[arg(value_name = "RUN")]
    pub after: String,
}

/// Prints the variants that both records have. Their runs are not pairs, so there is no verdict.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let store = Store::new(&places.results()?);
    let before = read(&store.find(&options.before)?)?;
    let after = read(&store.find(&options.after)?)?;
    let later = |case: &CaseRecord| after.cases.iter().find(|later| later.case == case.case);

    let cases: Vec<_> = before.cases.iter().filter_map(|case| Some((case, later(case)?))).collect();
    if cases.is_empty() {
        out!("these two runs have no case in common");
        return Ok(ExitCode::SUCCESS);
    }
    let header = ["server", "req/s", "after", "factor", "CPU/req", "after", "less by"];
    let rows = cases.iter().flat_map(|(one, other)| rows(one, other));
    out!("{}\n", lab_display::table(&header, rows));
    for note in notes(&before, &after) {
        out!("  note: {note}");
    }
    for (one, other) in cases.iter().filter(|(one, other)| one.load != other.load) {
        out!("  note: the loads of {} differ: {}; {}", one.case, one.load, other.load);
    }
    out!("  These runs are not pairs, so the factors include the machine's drift.");
    out!("  For a verdict on two builds: lab compare --rev OLD --rev NEW --bin SERVER --get PATH");
    Ok(ExitCode::SUCCESS)
}

fn rows(before: &CaseRecord, after: &CaseRecord) -> Vec<Vec<String>> {
    let cpu = |us: Option<f64>| us.map_or(NONE.into(), |us| time_ms(us / 1e3));
    let row = |one: &lab_record::VariantRecord| {
        let other = after.variant(&one.variant)?;
        let less_cpu = one.cpu_us_per_request.zip(other.cpu_us_per_request);
        Some(vec![
            format!("{}-{}", before.case, one.variant),
            significant(one.throughput_rps),
            significant(other.throughput_rps),
            factor(other.throughput_rps / one.throughput_rps),
            cpu(one.cpu_us_per_request),
            cpu(other.cpu_us_per_request),
            less_cpu.map_or(NONE.into(), |(one, other)| factor(one / other)),
        ])
    };
    before.variants.iter().filter_map(row).collect()
}

/// Other differences, which may explain the factors.
fn notes(before: &Record, after: &Record) -> Vec<&'static str> {
    let differences = [
        (before.machine != after.machine, "the machines differ"),
        (before.build.rustc != after.build.rustc, "the compilers differ"),
        (before.build.profile != after.build.profile, "the build profiles differ"),
    ];
    differences.into_iter().filter_map(|(differs, note)| differs.then_some(note)).collect()
}
