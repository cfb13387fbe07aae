//! `lab instructions`: the instructions of one request, counted by gungraun under Valgrind, compared
//! with their reference.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, ensure};
use lab_case::Reference;
use lab_display::thousands;
use lab_record::write_whole;
use serde_json::Value;

use super::Places;
use crate::count::reference::{TOLERANCE_PERCENT, Table, compare, text};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// Make these counts the reference instead of comparing them with it
    #[arg(long)]
    pub update: bool,
}

const HEAD: &str = "\
# Instructions of one request, counted under Valgrind by `just bench-instructions`, which fails when one
# of them moves by more than 1 %. Where that is meant, `just bench-instructions --update` writes this
# file. Another toolchain, C library or processor moves them too: docs/src/counts.md says more.
";

const NEEDED: [(&str, &str); 2] = [
    ("valgrind", "your distribution has it: apt install valgrind"),
    ("gungraun-runner", "cargo install --locked gungraun-runner --version 0.20.0"),
];

/// Counts, prints, and compares or updates the reference. Skips all that if a tool is missing.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    for (tool, fix) in NEEDED {
        let mut version = Command::new(tool);
        let version = version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        if version.status().is_err() {
            out!("skipped: {tool} is missing; {fix}");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let benches = places.workspace()?.root().join("benches");
    let output = Command::new("cargo")
        .args(["bench", "--package", "benches", "--features", "instructions"])
        .args(["--bench", "instructions", "--", "--output-format=json"])
        .current_dir(&benches)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "the benches failed");
    let counted = parse(&String::from_utf8_lossy(&output.stdout))?;
    for (case, variants) in &counted {
        for (variant, count) in variants {
            out!("{:>12}  {case}-{variant}", thousands(*count as f64));
        }
    }
    let path = benches.join("instructions.toml");
    if options.update {
        write_whole(&path, &text(HEAD, &counted, counted.keys()))?;
        eprintln!("wrote {}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let differs = compare(Reference::read(&path)?.counts(), &counted, |_| TOLERANCE_PERCENT);
    if differs.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for line in &differs {
        eprintln!("error: {line}");
    }
    eprintln!("If this is intended, `just bench-instructions --update` writes the new reference.");
    Ok(ExitCode::FAILURE)
}

/// Counts by case and variant, from gungraun's JSON: a line per bench, whose function is
/// `CASE_request` and whose id is the variant.
fn parse(lines: &str) -> anyhow::Result<Table> {
    let mut all = Table::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let bench: Value = serde_json::from_str(line).context("gungraun printed no JSON")?;
        let name = |key| {
            let name = bench.get(key).and_then(Value::as_str);
            name.with_context(|| format!("gungraun's JSON lacks `{key}`"))
        };
        let case = name("function_name")?.trim_end_matches("_request").replace('_', "-");
        let count = bench
            .pointer("/profiles/0/data/total/metrics/Ir/values/new")
            .and_then(Value::as_u64)
            .context("gungraun's JSON has no instructions where version 0.20 has them")?;
        all.entry(case).or_default().insert(name("id")?.replace('_', "-"), count);
    }
    ensure!(!all.is_empty(), "gungraun counted nothing; its own message says why");
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gungrauns_output_is_parsed() {
        let total = r#"{"total":{"metrics":{"Ir":{"values":{"new":7655}}}}}"#;
        let line = format!(
            r#"{{"function_name":"toy_case_request","id":"early_drop","profiles":[{{"data":{total}}}]}}"#
        );
        assert_eq!(parse(&line).unwrap()["toy-case"]["early-drop"], 7655);
        assert!(parse("").is_err());
        assert!(parse("{}").is_err());
    }
}
