//! What the folded stacks of a variant say of its functions.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context as _, anyhow};
use lab_model::{Machine, unknown, words::origin};
use lab_observation::{Folded, top_inclusive};
use minijinja::{Error, Value, context};

use super::names::{failed, fields};

/// How many functions the table of the most expensive ones lists.
const TOP: usize = 8;

/// The stacks of a variant, which are read when an expression needs them.
#[derive(Clone, Debug)]
pub struct Stacks {
    /// The directory of the case's pictures.
    pub dir: Result<PathBuf, String>,
    pub variant: String,
}

impl Stacks {
    fn read(&self, kind: Option<&str>) -> Result<Folded, Error> {
        let kind = match kind.unwrap_or("cpu") {
            "cpu" => "per-request",
            kind @ ("waits" | "allocations") => kind,
            kind => return Err(failed(unknown("kind", kind, ["cpu", "waits", "allocations"]))),
        };
        let path =
            self.dir.as_ref().map_err(failed)?.join(format!("{}.{kind}.folded", self.variant));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} is missing: `just record` draws it", path.display()));
        let stacks = text.and_then(|text| {
            text.parse().with_context(|| format!("{} is damaged", path.display()))
        });
        stacks.map_err(failed)
    }

    /// What a function cost with all that it called, and what everything cost: nanoseconds or bytes
    /// of a request.
    pub fn function(&self, name: &str, kind: Option<&str>) -> Result<(f64, f64), Error> {
        let stacks = self.read(kind)?;
        let rows = top_inclusive(&stacks, usize::MAX);
        // `kernel` is all that the kernel did; the table has a row for each caller of it.
        let has = |stack: &[String]| stack.iter().any(|frame| frame == name);
        let any =
            stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, spent)| spent).sum::<u64>();
        let row = rows.iter().find(|row| row.name == name).map(|row| row.inclusive);
        match row.or((any > 0).then_some(any)) {
            Some(spent) => Ok((spent as f64, stacks.total() as f64)),
            None => {
                Err(failed(unknown("function", name, rows.iter().map(|row| row.name.as_str()))))
            }
        }
    }

    /// The functions that cost most CPU time.
    pub fn top(&self) -> Result<Vec<Value>, Error> {
        let stacks = self.read(None)?;
        let rows = top_inclusive(&stacks, TOP).into_iter().map(|row| {
            let share = row.inclusive as f64 / stacks.total().max(1) as f64;
            context! { name => row.name, inclusive => row.inclusive, own => row.own, share }
        });
        Ok(rows.collect())
    }

    /// How far to trust the stacks, from the `meta.json` next to them.
    pub fn profile(&self) -> anyhow::Result<Value> {
        #[derive(serde::Deserialize)]
        struct Meta {
            command: Vec<String>,
            machine: Machine,
            created: jiff::Timestamp,
            variants: BTreeMap<String, serde_json::Value>,
        }
        let dir = self.dir.as_ref().map_err(|why| anyhow!("{why}"))?;
        let path = dir.join("meta.json");
        let text = std::fs::read(&path)
            .with_context(|| format!("{} is missing: `just record` writes it", path.display()))?;
        let mut meta: Meta = serde_json::from_slice(&text)
            .with_context(|| format!("{} is damaged", path.display()))?;
        let own = meta.variants.remove(&self.variant);
        let own = own.with_context(|| format!("{} was not profiled", self.variant))?;
        let origin = origin(&meta.command, &meta.machine, meta.created);
        let mut profile = fields(&own);
        profile.insert("origin".to_owned(), origin.into());
        Ok(profile.into())
    }
}
