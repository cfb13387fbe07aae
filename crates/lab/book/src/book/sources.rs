//! The sources that the pages quote: the newest record, and the cases' own files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use lab_cases::{Case, FIXED, Reference, SLOW, Sweep, Workspace, unknown};
use lab_observation::{Folded, top_inclusive};
use lab_protocol::{Metric, Speedups};
use lab_report::{
    CaseRecord, Record,
    origin::{self, origin},
    tables::confidence,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value as Json, json};

use crate::publish::{Benches, RECORDS, SINGLE};

/// The records of the replications, whose scripts write them: a JSON file each.
const REPLICATIONS: &str = "docs/replications";

/// The files that the pages quote. A missing file is an error only in an expression that needs it.
#[derive(Debug)]
pub struct Sources {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    pub cases: Vec<Case>,
    dir: Result<PathBuf, String>,
    /// The newest whole record, in which newer runs of single cases replace its own.
    record: Result<Record, String>,
    benches: Result<Benches, String>,
    /// Cases that were measured anew since, with the directory of that record and where it comes from.
    anew: BTreeMap<String, (PathBuf, String)>,
}

impl Sources {
    pub fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let root = workspace.root();
        let root =
            root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        let (dir, newer) = newest(&root.join(RECORDS));
        let why = |error: anyhow::Error| format!("{error:#}");
        let quoted = |dir: &Path| {
            let record = lab_report::read(&dir.join("record.json"));
            record.context("the record cannot be quoted; `just record` makes a new one")
        };
        let mut record = dir.clone().and_then(|dir| quoted(&dir).map_err(why));
        let mut anew = BTreeMap::new();
        for dir in newer {
            let Ok(record) = &mut record else { break };
            let newer: Record = quoted(&dir)?;
            if newer.created <= record.created {
                continue;
            }
            let made = origin(&newer.command, &newer.machine, newer.created);
            for case in newer.cases {
                anew.insert(case.case.to_string(), (dir.clone(), made.clone()));
                record.cases.retain(|other| other.case != case.case);
                record.cases.push(case);
            }
            record.cases.sort_by(|one, other| one.case.cmp(&other.case));
        }
        let cases = workspace.cases()?;
        let benches = dir.clone().and_then(|dir| read(&dir.join("benches.json")).map_err(why));
        Ok(Self { root, cases, dir, record, benches, anew })
    }

    pub fn record(&self) -> anyhow::Result<&Record> {
        self.record.as_ref().map_err(|why| anyhow!("{why}"))
    }

    pub fn benches(&self) -> anyhow::Result<&Benches> {
        self.benches.as_ref().map_err(|why| anyhow!("{why}"))
    }

    /// Slow and fixed of a case without the steps between them, under its alias.
    pub fn pair(&self, case: &CaseRecord) -> CaseRecord {
        let mut pair = case.clone();
        pair.variants.retain(|variant| [SLOW, FIXED].contains(&variant.variant.as_str()));
        if let Some(case) = self.cases.iter().find(|described| case.case == described.name) {
            pair.case = case.masked().shown.into();
        }
        pair
    }

    /// The description of a sweep, from the case file that has it.
    pub fn sweep(&self, group: &str) -> anyhow::Result<&Sweep> {
        let found = self.cases.iter().find_map(|case| case.sweeps.get(group));
        found.with_context(|| format!("no case file describes a `[sweep.{group}]`"))
    }

    /// A file among the pictures of a case.
    pub fn picture(&self, case: &str, file: &str) -> anyhow::Result<PathBuf> {
        let dir = match self.anew.get(case) {
            Some((dir, _)) => dir,
            None => self.dir.as_ref().map_err(|why| anyhow!("{why}"))?,
        };
        let path = dir.join("flame").join(case).join(file);
        anyhow::ensure!(path.is_file(), "{} is missing: `just record` draws it", path.display());
        Ok(path)
    }

    /// The exact counts of a case, as its `counts.toml` has them today.
    pub fn counts(&self, case: &str) -> anyhow::Result<Reference> {
        Reference::read(&self.root.join("crates").join(case).join("counts.toml"))
    }

    /// The stacks of a variant: of its `cpu`, `waits` or `allocations`.
    pub fn stacks(&self, case: &str, variant: &str, kind: &str) -> anyhow::Result<Folded> {
        let kind = match kind {
            "cpu" => "per-request",
            "waits" | "allocations" => kind,
            _ => return Err(unknown("kind", kind, ["cpu", "waits", "allocations"])),
        };
        let path = self.picture(case, &format!("{variant}.{kind}.folded"))?;
        let stacks = std::fs::read_to_string(&path)?.parse();
        stacks.with_context(|| format!("{} is damaged", path.display()))
    }

    /// The cost of a function with all that it called, and the total cost: nanoseconds or bytes
    /// of a request.
    pub fn function(&self, of: [&str; 2], name: &str, kind: &str) -> anyhow::Result<[f64; 2]> {
        let stacks = self.stacks(of[0], of[1], kind)?;
        let rows = top_inclusive(&stacks, usize::MAX);
        // `kernel` is all that the kernel did; the table has a row for each caller of it.
        let has = |stack: &[String]| stack.iter().any(|frame| frame == name);
        let any = stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, spent)| spent);
        let row = rows.iter().find(|row| row.name == name).map(|row| row.inclusive);
        let spent = row.or(Some(any.sum::<u64>()).filter(|any| *any > 0));
        let spent =
            spent.ok_or_else(|| unknown("function", name, rows.iter().map(|row| &*row.name)))?;
        Ok([spent as f64, stacks.total() as f64])
    }

    /// The description of a case's pictures.
    pub fn meta(&self, case: &str) -> anyhow::Result<Json> {
        read(&self.picture(case, "meta.json")?)
    }

    /// Everything that an expression can name: the cases, `benches`, `record` and `replications`.
    pub fn names(&self) -> anyhow::Result<Map<String, Json>> {
        let mut names = Map::new();
        for case in &self.cases {
            names.insert(case.name.clone(), self.case(case)?);
        }
        let mut benches = Json::default();
        for bench in self.benches.iter().flat_map(|all| &all.benches) {
            benches[&bench.group]["name"] = bench.group.as_str().into();
            benches[&bench.group][bench.id()] = json!(bench);
        }
        names.insert("benches".to_owned(), benches);
        if let Ok(record) = &self.record {
            let about = json!({
                "date": origin::day(record.created),
                "machine": record.machine.to_string(),
                "pairs": record.cases.iter().map(|case| case.pairs).min(),
                "confidence": confidence(&record.cases),
                "command": origin::command_line(&record.command),
                "build": record.build,
            });
            names.insert("record".to_owned(), about);
        }
        let mut replications = Json::default();
        for file in self.root.join(REPLICATIONS).read_dir().into_iter().flatten() {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                replications[name] = read(&file)?;
            }
        }
        names.insert("replications".to_owned(), replications);
        Ok(normal(names))
    }

    /// A case as the record has it, with its variants by name.
    fn case(&self, case: &Case) -> anyhow::Result<Json> {
        let cases = self.record.iter().flat_map(|record| &record.cases);
        let measured = cases.clone().find(|measured| measured.case == case.name);
        let mut names = match measured {
            None => json!({}),
            Some(measured) => {
                json!(CaseRecord { runs: Vec::new(), open_runs: Vec::new(), ..measured.clone() })
            }
        };
        if let Some(measured) = measured {
            mark_bounds(&mut names["speedup"], &measured.speedup);
        }
        let counts = self.counts(&case.name)?;
        let meta = self.meta(&case.name).unwrap_or_default();
        for name in &case.variants {
            let variant = measured.and_then(|case| case.variant(name));
            let speedup = variant.and_then(|variant| variant.speedup);
            let mut variant = variant.map_or(json!({}), |variant| json!(variant));
            if let Some(speedup) = speedup {
                mark_bounds(&mut variant["speedup"], &speedup);
            }
            // Late arrivals make latencies that must not be quoted.
            if let Some(open_loop) = variant["open_loop"].as_object_mut()
                && !open_loop["invalid"].is_null()
            {
                open_loop.remove("latency_ms");
            }
            variant["case"] = case.name.as_str().into();
            variant["variant"] = name.as_str().into();
            variant["counts"] = json!(counts.of(name));
            variant["profile"] = meta["variants"][name].clone();
            names[name] = variant;
        }
        names["case"] = case.name.as_str().into();
        names["args"] = json!({});
        for pair in case.args.windows(2) {
            if let (Some(name), Ok(number)) =
                (pair[0].strip_prefix("--"), pair[1].parse::<Number>())
            {
                names["args"][name] = number.into();
            }
        }
        Ok(names)
    }

    /// Where the figures of a case come from, in words; of all cases, if it has no name.
    pub fn origin(&self, case: &str) -> anyhow::Result<String> {
        if let Some((_, made)) = self.anew.get(case) {
            return Ok(made.clone());
        }
        let record = self.record()?;
        let mut all = origin(&record.command, &record.machine, record.created);
        let anew = self.anew.iter().filter(|_| case.is_empty());
        anew.for_each(|(case, (_, made))| all += &format!("; {case} by {made}"));
        Ok(all)
    }
}

/// Says of each factor whether it is a bound: a filter sees only the factor.
fn mark_bounds(named: &mut Json, speedups: &Speedups) {
    for metric in Metric::all().filter(|metric| speedups.is_bound(*metric)) {
        if let Some(factor) = named[metric.field()].as_object_mut() {
            factor.insert("is_bound".to_owned(), true.into());
        }
    }
}

/// Names that can be written in an expression: `lock_scope` for `lock-scope`.
fn normal(names: Map<String, Json>) -> Map<String, Json> {
    let mut normalized = Map::new();
    for (name, value) in names {
        let value = match value {
            Json::Object(names) => normal(names).into(),
            other => other,
        };
        normalized.insert(name.replace(['-', '.', '/'], "_"), value);
    }
    normalized
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = std::fs::read(path)
        .with_context(|| format!("{} is missing: `just record` makes it", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
}

/// The directory of the newest record of all cases, and those of single cases. Directories are named after
/// the day.
pub fn newest(records: &Path) -> (Result<PathBuf, String>, Vec<PathBuf>) {
    let dirs = |of: &Path| {
        let entries = of.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let mut dirs: Vec<_> = entries.filter(|path| path.is_dir()).collect();
        dirs.sort();
        dirs
    };
    let single = records.join(SINGLE);
    let newest = dirs(records).into_iter().rfind(|dir| *dir != single);
    let newest =
        newest.ok_or_else(|| format!("no record is in {RECORDS}: `just record` makes one"));
    (newest, dirs(&single))
}
