//! What the pages quote: the newest record, and the cases' own files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use lab_model::{
    BASELINE, CANDIDATE, Case, CaseRecord, Record, Reference, Sweep, VariantRecord, Workspace,
    confidence,
    words::{self, origin},
};
use minijinja::{Error, Value, context, value::Serde};

use super::{
    names::{Names, failed, fields, normal},
    stacks::Stacks,
};
use crate::publish::{Benches, RECORDS};

/// The records of the replications, whose scripts write them: a JSON file each.
const REPLICATIONS: &str = "docs/replications";

/// What was read. A missing part is an error of the expression that needs it.
#[derive(Debug)]
pub struct Sources {
    /// The workspace, as an absolute path.
    pub root: PathBuf,
    pub cases: Vec<Case>,
    dir: Result<PathBuf, String>,
    pub record: Result<Record, String>,
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
            let record = lab_model::read(&dir.join("record.json"));
            record
                .context("the record cannot be quoted; `just record` makes a new one")
                .map_err(why)
        });
        let benches = dir.clone().and_then(|dir| benches(&dir).map_err(why));
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
        context! {
            date => words::day(record.created),
            machine => words::machine_in_words(&record.machine),
            pairs => record.cases.iter().map(|case| case.pairs).min(),
            confidence => confidence(&record.cases),
            command => words::command_line(&record.command),
            build => fields(&record.build),
        }
    }

    /// Criterion's figures: a group, and in it its benches, also as the list `all`.
    pub fn bench_groups(&self) -> Value {
        let benches = match &self.benches {
            Ok(benches) => benches,
            Err(why) => return failed(why).into(),
        };
        let groups: BTreeSet<_> = benches.benches.iter().map(|bench| &bench.group).collect();
        let group = |name: &String| {
            let own = benches.benches.iter().filter(|bench| bench.group == *name).map(|bench| {
                let mut figures = fields(bench);
                figures.insert("id".to_owned(), bench.id().into());
                (normal(&bench.id()), Value::from(figures))
            });
            let own: Vec<_> = own.collect();
            let all: Value = own.iter().map(|(_, bench)| bench.clone()).collect();
            let mut group = Names::from_iter(own);
            group.extend([("name".to_owned(), name.into()), ("all".to_owned(), all)]);
            (normal(name), Value::from(group))
        };
        let mut all: Names = groups.into_iter().map(group).collect();
        all.insert("made".to_owned(), benches.made.as_str().into());
        all.into()
    }

    /// The records of the replications, each by the name of its file.
    pub fn replications(&self) -> anyhow::Result<Value> {
        let files = self.root.join(REPLICATIONS).read_dir().into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|it| it == "json"));
        files.sort();
        let mut all = Names::new();
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file)?;
            let json: serde_json::Value = serde_json::from_str(&text)
                .with_context(|| format!("cannot read {}", file.display()))?;
            all.insert(normal(&name), fields(&json).into());
        }
        Ok(all.into())
    }

    /// A case as the record has it.
    pub fn case(&self, case: &Case) -> Names {
        let Ok(record) = &self.record else { return self.names(case, None, "") };
        let measured = record.cases.iter().find(|record| record.case == case.name);
        self.names(case, measured, &origin(&record.command, &record.machine, record.created))
    }

    /// A case as the reader measured it.
    pub fn own(&self, case: &Case, own: &CaseRecord, origin: &str) -> Names {
        let mut case = case.clone();
        case.variants.retain(|variant| own.variant(variant).is_some());
        self.names(&case, Some(own), origin)
    }

    fn names(&self, case: &Case, measured: Option<&CaseRecord>, origin: &str) -> Names {
        let mut names = Names::new();
        if let Some(measured) = measured {
            let without_runs = CaseRecord {
                runs: Vec::new(),
                open_runs: Vec::new(),
                variants: Vec::new(),
                ..measured.clone()
            };
            names = fields(&without_runs);
            let words = measured.cpu_in_words().to_vec();
            names.insert("cpu_in_words".to_owned(), words.into());
            names.insert("confidence".to_owned(), confidence([measured]).into());
        }
        let variants = case.variants.iter().map(|name| {
            let record = measured.and_then(|measured| measured.variant(name));
            (normal(name), Value::from(self.variant(case, name, record)))
        });
        let variants: Vec<_> = variants.collect();
        let args = case.args.windows(2).filter_map(|pair| {
            let name = normal(pair[0].strip_prefix("--")?);
            Some((name, Serde(pair[1].parse::<serde_json::Number>().ok()?).into()))
        });
        let all: Value = variants.iter().map(|(_, variant)| variant.clone()).collect();
        names.extend(variants);
        names.extend([
            ("case".to_owned(), case.name.as_str().into()),
            ("alias".to_owned(), case.masked().shown.into()),
            ("args".to_owned(), args.collect::<Names>().into()),
            ("origin".to_owned(), origin.into()),
            ("variants".to_owned(), all),
        ]);
        names
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
        let mut names = record.map(fields).unwrap_or_default();
        // Late arrivals make latencies that must not be quoted.
        let open_loop = record.and_then(|record| record.open_loop.as_ref());
        if open_loop.is_none_or(|open_loop| open_loop.invalid.is_some()) {
            let rate_per_s = open_loop.map(|open_loop| open_loop.rate_per_s);
            names.insert("open_loop".to_owned(), context! { latency_ms => (), rate_per_s });
        }
        let or_error = |value: anyhow::Result<Value>| value.unwrap_or_else(|e| failed(e).into());
        names.extend([
            ("variant".to_owned(), name.into()),
            ("counts".to_owned(), or_error(self.counts(case, name))),
            ("profile".to_owned(), or_error(stacks.profile())),
            ("cost".to_owned(), cost_of),
            ("share".to_owned(), share_of),
            ("top".to_owned(), Value::from_function(move || top.top())),
        ]);
        names
    }

    /// The exact counts of a variant, as the case's `counts.toml` has them today. A count that only
    /// other variants have has the value `none`.
    fn counts(&self, case: &Case, variant: &str) -> anyhow::Result<Value> {
        let file = self.root.join("crates").join(&case.name).join("counts.toml");
        let reference = Reference::read(&file)?;
        let own = reference.of(variant);
        anyhow::ensure!(
            !own.is_empty(),
            "{} has no counts of `{variant}`: `just count --update` writes them",
            file.display()
        );
        let all = case.variants.iter().flat_map(|variant| reference.of(variant).into_keys());
        let counts = all.map(|name| (normal(&name), own.get(&name).copied().into()));
        Ok(counts.collect::<Names>().into())
    }
}

fn benches(dir: &Path) -> anyhow::Result<Benches> {
    let path = dir.join("benches.json");
    let text = std::fs::read(&path)
        .with_context(|| format!("{} is missing: `just record` makes it", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display()))
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
