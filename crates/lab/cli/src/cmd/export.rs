//! `lab export RUN`: a record as Markdown, CSV or JSON.

use std::{fmt::Write as _, process::ExitCode};

use clap::ValueEnum;
use lab_record::{Record, Store, claim_row, read};

use super::Places;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The run: a file, the start of its name, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    pub format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// A table for a page or a pull request
    Markdown,
    /// One line per run
    Csv,
    /// The whole record
    Json,
}

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let store = Store::new(&places.results()?);
    let record = read(&store.find(&options.run)?)?;
    match options.format {
        Format::Markdown => out!("{}", markdown(&record).trim_end()),
        Format::Csv => out!("{}", csv(&record).trim_end()),
        Format::Json => out!("{}", serde_json::to_string_pretty(&record)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn markdown(record: &Record) -> String {
    let mut text = "| server | req/s | over slow | CPU per request | over slow | p50 | p99 |\n\
                    |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for case in &record.cases {
        for variant in &case.variants {
            let latency = variant.latency_ms;
            let _ = writeln!(
                text,
                "| {}-{} | {} | {} |",
                case.case,
                claim_row(variant).join(" | "),
                latency.shown(latency.p50),
                latency.shown(latency.p99),
            );
        }
    }
    text
}

/// Needs no quotes, because every value is a number or a name without a comma.
fn csv(record: &Record) -> String {
    let mut text = "case,variant,pair,throughput_rps,cpu_us_per_request,p50_ms,p90_ms,p99_ms,\
                    peak_rss_mib,sent,ok,wrong,failed,unfinished,lost,load_average\n"
        .to_owned();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for case in &record.cases {
        for run in &case.runs {
            let outcome = &run.outcome;
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
                outcome.lost.to_string(),
                number(run.load_average),
            ];
            let _ = writeln!(text, "{}", columns.join(","));
        }
    }
    text
}
