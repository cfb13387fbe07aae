//! `lab export RUN`: a record in the forms that other tools read.

use std::{fmt::Write as _, process::ExitCode};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::Places;
use crate::{
    bench::{CaseRecord, Record, VariantRecord},
    display::{NONE, significant, speedup, time_ms},
    store::{Store, read},
};

/// What to export, and how.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    pub format: Format,
}

/// The forms.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// A table for a page or a pull request
    Markdown,
    /// A line for every single run
    Csv,
    /// `customSmallerIsBetter` of github-action-benchmark: CPU time per request
    GithubSmaller,
    /// `customBiggerIsBetter` of github-action-benchmark: requests per second
    GithubBigger,
    /// Bencher Metric Format
    Bencher,
}

/// Prints the record in the form that was asked for.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let store = Store::new(&places.results()?);
    let record = read(&store.find(&options.run)?)?;
    match options.format {
        Format::Markdown => out!("{}", markdown(&record).trim_end()),
        Format::Csv => out!("{}", csv(&record).trim_end()),
        Format::GithubSmaller => out!("{:#}", github(&record, "µs CPU per request", cpu)),
        Format::GithubBigger => out!("{:#}", github(&record, "requests per second", rps)),
        Format::Bencher => out!("{:#}", bencher(&record)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Every variant of every case, as pairs.
fn variants(record: &Record) -> impl Iterator<Item = (&CaseRecord, &VariantRecord)> {
    record.cases.iter().flat_map(|case| case.variants.iter().map(move |variant| (case, variant)))
}

fn markdown(record: &Record) -> String {
    let mut text = "| server | req/s | over slow | CPU per request | over slow | p50 | p99 |\n\
                    |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (case, variant) in variants(record) {
        let over = variant.speedup;
        let throughput = over.and_then(|over| over.throughput);
        let cpu = over.and_then(|over| over.cpu_per_request);
        let bound = if variant.latency_ms.lower_bounds { "≥ " } else { "" };
        let _ = writeln!(
            text,
            "| {}-{} | {} | {} | {} | {} | {bound}{} | {bound}{} |",
            case.case,
            variant.variant,
            significant(variant.throughput_rps),
            throughput.map_or(String::new(), |found| speedup(&found)),
            variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3)),
            cpu.map_or(String::new(), |found| speedup(&found)),
            time_ms(variant.latency_ms.p50),
            time_ms(variant.latency_ms.p99),
        );
    }
    text
}

/// Every value is a number or a name without a comma, so nothing has to be quoted.
fn csv(record: &Record) -> String {
    let mut text = "case,variant,pair,throughput_rps,cpu_us_per_request,p50_ms,p90_ms,p99_ms,\
                    peak_rss_mib,sent,ok,wrong,failed,unfinished,load_average\n"
        .to_owned();
    for case in &record.cases {
        for run in &case.runs {
            let outcome = &run.outcome;
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let percentile = |percent| number(outcome.latency.percentile_ms(percent));
            let columns = [
                case.case.clone(),
                run.variant.clone(),
                run.pair.map_or("control".to_owned(), |pair| pair.to_string()),
                outcome.throughput().to_string(),
                number(outcome.cpu_us_per_request()),
                percentile(50.0),
                percentile(90.0),
                percentile(99.0),
                number(outcome.server_peak_rss_mib),
                outcome.sent.to_string(),
                outcome.ok.to_string(),
                outcome.wrong.to_string(),
                outcome.failed.to_string(),
                outcome.unfinished.to_string(),
                number(run.load_average),
            ];
            let _ = writeln!(text, "{}", columns.join(","));
        }
    }
    text
}

fn cpu(variant: &VariantRecord) -> Option<f64> {
    variant.cpu_us_per_request
}

fn rps(variant: &VariantRecord) -> Option<f64> {
    Some(variant.throughput_rps)
}

/// See <https://github.com/benchmark-action/github-action-benchmark>, "custom benchmarks".
fn github(record: &Record, unit: &str, value: fn(&VariantRecord) -> Option<f64>) -> Value {
    let entry = |(case, variant): (&CaseRecord, &VariantRecord)| {
        let name = format!("{}-{}", case.case, variant.variant);
        Some(json!({ "name": name, "unit": unit, "value": value(variant)?, "extra": case.load }))
    };
    variants(record).filter_map(entry).collect()
}

/// See <https://bencher.dev/docs/reference/bencher-metric-format/>.
fn bencher(record: &Record) -> Value {
    let mut benchmarks = Map::new();
    for (case, variant) in variants(record) {
        let mut measures = Map::new();
        measures.insert("throughput".to_owned(), json!({ "value": variant.throughput_rps }));
        if let Some(us) = variant.cpu_us_per_request {
            measures.insert("cpu-per-request".to_owned(), json!({ "value": us }));
        }
        if let Some(factor) = variant.speedup.and_then(|speedup| speedup.throughput) {
            let (value, low, high) = (factor.estimate, factor.low, factor.high);
            let speedup = json!({ "value": value, "lower_value": low, "upper_value": high });
            measures.insert("speedup".to_owned(), speedup);
        }
        benchmarks.insert(format!("{}-{}", case.case, variant.variant), Value::Object(measures));
    }
    Value::Object(benchmarks)
}
