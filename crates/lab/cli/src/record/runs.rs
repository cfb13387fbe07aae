//! Which run is published: the newest of all cases that was more than a quick look.

use std::path::PathBuf;

use anyhow::Context as _;

use super::AGAIN;
use crate::{
    bench::{CaseRecord, Record},
    case::Case,
    store::{self, Store},
};

/// The newest run that lacks nothing; if there is none, the newest run and what it lacks.
pub(super) fn newest(
    store: &Store,
    cases: &[Case],
    pairs: usize,
) -> anyhow::Result<(PathBuf, Record, Vec<String>)> {
    let mut newest = None;
    for path in store.paths()?.into_iter().rev() {
        let record = match store::read(&path) {
            Ok(record) => record,
            Err(error) => {
                eprintln!("note: passed over a run: {error:#}");
                continue;
            }
        };
        let lacks = lacks(&record, cases, pairs);
        if lacks.is_empty() {
            return Ok((path, record, lacks));
        }
        newest.get_or_insert((path, record, lacks));
    }
    let (path, record, lacks) =
        newest.context("there are no runs yet; `just record` makes what is needed")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let lacks = lacks.iter().map(|lack| format!("the newest run, {name}, {lack}: {AGAIN}"));
    Ok((path.clone(), record, lacks.collect()))
}

/// What keeps a run from being published, as ends of sentences.
fn lacks(record: &Record, cases: &[Case], pairs: usize) -> Vec<String> {
    let mut lacks = Vec::new();
    if record.quick {
        lacks.push("was a quick look".to_owned());
    }
    if record.build.profile == "debug" {
        lacks.push("measured debug builds".to_owned());
    }
    for case in cases {
        match record.cases.iter().find(|it| it.case == case.name) {
            None => lacks.push(format!("has no {}", case.name)),
            Some(it) if it.pairs < pairs => {
                lacks.push(format!("has {} pairs of {} and not {pairs}", it.pairs, it.case));
            }
            Some(_) => {}
        }
    }
    if !record.cases.iter().all(CaseRecord::is_clean) {
        lacks.push("has wrong answers or none".to_owned());
    }
    lacks
}
