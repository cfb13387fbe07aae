//! `lab doctor`: what distorts figures on this machine, and how to fix it.

use std::process::ExitCode;

use console::style;
use lab_report::column;
use lab_system::{Machine, System, doctor, out};
use serde_json::json;

/// The columns of mark and topic, with the space around them.
const INDENT: usize = 2 + 6 + 13;

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Print one JSON document instead of text, with a description of the machine
    #[arg(long)]
    pub json: bool,
}

/// Prints all findings. A fix has a line of its own, which 80 columns show whole, so that it can be copied.
pub fn run(options: &Options) -> ExitCode {
    if options.json {
        let findings: Vec<_> = doctor::examine(&System::this()).collect();
        out!("{:#}", json!({ "machine": Machine::here(), "findings": findings }));
        return ExitCode::SUCCESS;
    }
    let mut warnings = 0;
    for doctor::Checked { topic, found, fix } in doctor::examine(&System::this()) {
        let mark =
            if fix.is_none() { style("ok  ").green() } else { style("warn").yellow().bold() };
        out!("{}", column(INDENT, &format!("  {mark}  {topic:<13}"), &found));
        if let Some(fix) = fix {
            warnings += 1;
            out!("  {}", style(format!("> {fix}")).cyan());
        }
    }
    out!(
        "\n{}",
        match warnings {
            0 => "ready to measure".to_owned(),
            1 => "1 warning: fix it for good figures".to_owned(),
            _ => format!("{warnings} warnings: fix them for good figures"),
        }
    );
    ExitCode::SUCCESS
}
