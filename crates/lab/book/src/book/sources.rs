//! What the pages quote: the newest record, and the cases' own files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use lab_case::{BASELINE, CANDIDATE, Case, Reference, Sweep, Workspace};
use lab_course::words::{self, origin};
use lab_record::{CaseRecord, Record, VariantRecord, confidence};
use minijinja::{Error, Value};
use serde_json::json;

use super::{
    names::{Names, failed, fields},
    stacks::Stacks,
};
use crate::publish::Benches;

/// Where the records are, below the workspace.
const RECORDS: &str = "docs/record";
/// And those of the replications, whose scripts write them: a JSON file each.
const REPLICATIONS: &str = "docs/replications";

/// What was read. A missing part is an error of the expression that needs it.
#[derive(Debug)]
pub struct Sources {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    pub cases: Vec<Case>,
    dir: Result<PathBuf, String>,
    record: Result<Record, String>,
    benches: Result<Benches, String>,
}

impl Sources {
    pub fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let root = workspace.root();
        let root =
            root.canonicalize().with_context(|| format!("cannot find {}", root.display()))?;
        let dir = newest(&root.join(RECORDS));
        let why = |error: anyhow::Error| format!("{error:#}");
        let record = dir.clone().and_then(|dir| {
            let record = lab_record::read(&dir.join("record.json"));
            record
                .context("the record cannot be quoted; `just record` makes a new one")
                .map_err(why)
        });
        let benches =
            dir.clone().and_then(|dir| Benches::read(&dir.join("benches.json")).map_err(why));
        Ok(Self { root, cases: workspace.cases()?, record, benches, dir })
    }

    pub fn measured(&self, case: &str) -> Result<&CaseRecord, Error> {
        let cases = &self.record.as_ref().map_err(failed)?.cases;
        let found = cases.iter().find(|record| record.case == case);
        found.ok_or_else(|| failed(not_in_the_record(case)))
    }

    /// Slow and fixed of a case without the steps between them, under its alias.
    pub fn pair(&self, case: &str) -> Result<CaseRecord, Error> {
        let mut measured = self.measured(case)?.clone();
        measured.variants.retain(|it| [BASELINE, CANDIDATE].contains(&it.variant.as_str()));
        if let Some(case) = self.cases.iter().find(|it| it.name == case) {
            measured.case = case.masked().shown;
        }
        Ok(measured)
    }

    pub fn benches(&self) -> Result<&Benches, Error> {
        self.benches.as_ref().map_err(failed)
    }

    /// What a sweep is about, from the case file that describes it.
    pub fn sweep(&self, group: &str) -> Result<&Sweep, Error> {
        let found = self.cases.iter().find_map(|case| case.sweeps.get(group));
        found.ok_or_else(|| failed(format!("no case file describes a `[sweep.{group}]`")))
    }

    pub fn flame(&self, case: &str) -> Result<PathBuf, Error> {
        self.dir.as_ref().map(|dir| flame(dir, case)).map_err(failed)
    }

    /// The record itself, without its cases.
    pub fn about_record(&self) -> Value {
        let record = match &self.record {
            Ok(record) => record,
            Err(why) => return failed(why).into(),
        };
        Names::new("record")
            .with("date", words::day(record.created))
            .with("machine", words::machine_in_words(&record.machine))
            .with("pairs", record.cases.iter().map(|case| case.pairs).min())
            .with("confidence", confidence(&record.cases))
            .with("command", words::command_line(&record.command))
            .with("build", Names::new("build").with_fields(fields(&record.build)))
            .into()
    }

    /// Criterion's figures: a group, and in it a bench.
    pub fn bench_groups(&self) -> Value {
        let benches = match &self.benches {
            Ok(benches) => benches,
            Err(why) => return failed(why).into(),
        };
        let groups: BTreeSet<_> = benches.benches.iter().map(|bench| &bench.group).collect();
        let group = |name: &String| {
            let own = benches.benches.iter().filter(|bench| bench.group == *name);
            own.fold(Names::new(name), |group, bench| {
                let id = bench.id();
                let value = Names::new(&id).with("id", id.as_str()).with_fields(fields(bench));
                group.with(&id, value)
            })
        };
        let all = Names::new("benches").with("made", benches.made.as_str());
        groups.into_iter().fold(all, |all, name| all.with(name, group(name))).into()
    }

    /// The records of the replications, each by the name of its file.
    pub fn replications(&self) -> anyhow::Result<Value> {
        let files = self.root.join(REPLICATIONS).read_dir().into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|it| it == "json"));
        files.sort();
        let mut all = Names::new("replications");
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file)?;
            let json = serde_json::from_str(&text)
                .with_context(|| format!("cannot read {}", file.display()))?;
            all = all.with(&name, Names::new(&name).with_fields(json));
        }
        Ok(all.into())
    }

    /// A case as the record has it.
    pub fn case(&self, case: &Case) -> Names {
        let record = match &self.record {
            Ok(record) => record,
            Err(why) => return self.names(case, None, "").missing(why.clone()),
        };
        let origin = origin(&record.command, &record.machine, record.created);
        match record.cases.iter().find(|record| record.case == case.name) {
            Some(measured) => self.names(case, Some(measured), &origin),
            None => self.names(case, None, "").missing(not_in_the_record(&case.name)),
        }
    }

    /// A case as the reader measured it.
    pub fn own(&self, case: &Case, own: &CaseRecord, origin: &str) -> Names {
        let mut case = case.clone();
        case.variants.retain(|variant| own.variant(variant).is_some());
        self.names(&case, Some(own), origin)
    }

    fn names(&self, case: &Case, measured: Option<&CaseRecord>, origin: &str) -> Names {
        let variants: Vec<_> = case
            .variants
            .iter()
            .map(|name| {
                let record = measured.and_then(|measured| measured.variant(name));
                (name, Value::from(self.variant(case, name, record)))
            })
            .collect();
        let args = case.args.windows(2).filter_map(|pair| {
            let value = &pair[1];
            let whole = value.parse::<i64>().map(Value::from).ok();
            let value = whole.or_else(|| value.parse::<f64>().map(Value::from).ok())?;
            Some((pair[0].strip_prefix("--")?, value))
        });
        let args = args.fold(Names::new("args"), |args, (name, value)| args.with(name, value));
        let all: Vec<_> = variants.iter().map(|(_, variant)| variant.clone()).collect();
        let names = Names::new(&case.name)
            .with("case", case.name.as_str())
            .with("alias", case.masked().shown)
            .with("args", args)
            .with("origin", origin)
            .with("variants", all);
        let names = variants.into_iter().fold(names, |names, (name, it)| names.with(name, it));
        let Some(measured) = measured else { return names };
        let without_runs = CaseRecord {
            runs: Vec::new(),
            open_runs: Vec::new(),
            variants: Vec::new(),
            ..measured.clone()
        };
        names
            .with("confidence", confidence([measured]))
            .with("cpu_in_words", measured.cpu_in_words().to_vec())
            .with_fields(fields(&without_runs))
    }

    fn variant(&self, case: &Case, name: &str, record: Option<&VariantRecord>) -> Names {
        let dir = self.dir.clone().map(|dir| flame(&dir, &case.name));
        let stacks = Stacks { dir, variant: name.to_owned() };
        let (share, cost, top) = (stacks.clone(), stacks.clone(), stacks.clone());
        let cost_of = Value::from_function(move |function: &str, kind: Option<&str>| {
            cost.function(function, kind).map(|(own, _)| own)
        });
        let share_of = Value::from_function(move |function: &str, kind: Option<&str>| {
            share.function(function, kind).map(|(own, all)| own / all)
        });
        let names = Names::new(&format!("{}.{name}", case.name))
            .with("variant", name)
            .with("counts", self.counts(case, name).unwrap_or_else(|error| failed(error).into()))
            .with("profile", stacks.profile().unwrap_or_else(|error| failed(error).into()))
            .with("cost", cost_of)
            .with("share", share_of)
            .with("top", Value::from_function(move || top.top()));
        let Some(record) = record else {
            return names.missing(not_in_the_record(name));
        };
        let open_loop = match &record.open_loop {
            Some(open_loop) if open_loop.invalid.is_none() => fields(open_loop),
            // Late arrivals make latencies that must not be quoted.
            Some(open_loop) => json!({ "latency_ms": null, "rate_per_s": open_loop.rate_per_s }),
            None => json!({ "latency_ms": null, "rate_per_s": null }),
        };
        names
            .with("open_loop", Names::new("open_loop").with_fields(open_loop))
            .with_fields(fields(record))
    }

    /// The exact counts of a variant, as the case's `counts.toml` has them today. A count that only
    /// other variants have has the value `none`.
    fn counts(&self, case: &Case, variant: &str) -> anyhow::Result<Value> {
        let file = self.root.join("crates").join(&case.name).join("counts.toml");
        let reference = Reference::read(&file)?;
        let own = reference.of(variant);
        anyhow::ensure!(
            !own.is_empty(),
            "{} has no counts of `{variant}`: `just update-counts` writes them",
            file.display()
        );
        let all: BTreeSet<_> =
            case.variants.iter().flat_map(|variant| reference.of(variant).into_keys()).collect();
        let counts = all
            .iter()
            .fold(Names::new("counts"), |counts, name| counts.with(name, own.get(name).copied()));
        Ok(counts.into())
    }
}

fn not_in_the_record(name: &str) -> String {
    format!("the record has nothing of `{name}`: `just record` makes one with all cases and steps")
}

fn flame(record: &Path, case: &str) -> PathBuf {
    record.join("flame").join(case)
}

/// The directory of the newest record. Directories are named after the day.
fn newest(records: &Path) -> Result<PathBuf, String> {
    let dirs = records.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = dirs.filter(|path| path.is_dir()).max();
    newest.ok_or_else(|| format!("no record is in {RECORDS}: `just record` makes one"))
}
