//! Instructions of one request, as gungraun's bench counts them, held against their reference.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::reference::{TOLERANCE_PERCENT, moved};
use crate::files;

/// Instructions by variant.
type Variants = BTreeMap<String, u64>;

/// Instructions by case and variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instructions(BTreeMap<String, Variants>);

/// What stands at the top of the reference.
const HEAD: &str = "\
# Instructions of one request, counted under Valgrind by `just bench-instructions`, which fails when one
# of them moves by more than 1 %. Where that is meant, `just bench-instructions --update` writes this
# file. Another toolchain, C library or processor moves them too: docs/src/counts.md says more.
";

impl Instructions {
    /// From what gungraun prints with `--output-format=json`: a line of JSON a bench, whose function
    /// is named `CASE_request` and whose id is the variant.
    pub fn parse(lines: &str) -> anyhow::Result<Self> {
        let mut all = Self::default();
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
            all.0.entry(case).or_default().insert(name("id")?.replace('_', "-"), count);
        }
        ensure!(!all.0.is_empty(), "gungraun counted nothing: its own message says why");
        Ok(all)
    }

    /// Reads the reference.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self(toml::from_str(&text).with_context(|| path.display().to_string())?))
    }

    /// Makes these the reference.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        files::write_whole(path, &self.text())
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        for (case, variants) in &self.0 {
            let _ = write!(text, "\n[{case}]\n");
            for (variant, count) in variants {
                let _ = writeln!(text, "{variant} = {count}");
            }
        }
        text
    }

    /// Every count with the name of its server.
    pub fn named(&self) -> BTreeMap<String, u64> {
        let of = |(case, variants): (&String, &Variants)| {
            let name = |(variant, count): (&String, &u64)| (format!("{case}-{variant}"), *count);
            variants.iter().map(name).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of).collect()
    }

    /// What differs from the reference, a line each.
    pub fn compare(&self, reference: &Self) -> Vec<String> {
        let (now, then) = (self.named(), reference.named());
        let differs = now.iter().filter_map(|(name, count)| match then.get(name) {
            None => Some(format!("{name}: is not in the reference")),
            Some(then) => {
                let how = moved(*then, *count, TOLERANCE_PERCENT, "request")?;
                Some(format!("{name}: the instructions {how}"))
            }
        });
        let gone = then.keys().filter(|name| !now.contains_key(*name));
        differs.chain(gone.map(|name| format!("{name}: is no longer counted"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(variant: &str, count: u64) -> Instructions {
        let total = format!(r#"{{"total":{{"metrics":{{"Ir":{{"values":{{"new":{count}}}}}}}}}}}"#);
        let line = format!(
            r#"{{"function_name":"toy_case_request","id":"{variant}","profiles":[{{"data":{total}}}]}}"#
        );
        Instructions::parse(&line).unwrap()
    }

    #[test]
    fn what_gungraun_prints_is_written_and_read_again() {
        let counts = counted("early_drop", 7655);
        assert!(counts.text().ends_with("\n[toy-case]\nearly-drop = 7655\n"));
        assert_eq!(Instructions(toml::from_str(&counts.text()).unwrap()), counts);
    }

    #[test]
    fn counts_that_move_appear_or_go_are_named() {
        let reference = counted("slow", 1000);
        assert!(counted("slow", 1010).compare(&reference).is_empty());
        let fell = ["toy-case-slow: the instructions fell from 1,000 to 900 a request (-10.0 %)"];
        assert_eq!(counted("slow", 900).compare(&reference), fell);
        let other = counted("fixed", 1000).compare(&reference);
        let both = ["fixed: is not in the reference", "slow: is no longer counted"];
        assert_eq!(other, both.map(|line| format!("toy-case-{line}")));
    }

    #[test]
    fn output_without_counts_is_an_error() {
        assert!(Instructions::parse("").is_err());
        assert!(Instructions::parse("{}").is_err());
    }
}
