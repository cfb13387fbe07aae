//! What `lab triage` says of a server with these faults, as `just replicate mystery` published it.

use std::{collections::BTreeMap, env, fs};

use anyhow::Context as _;
use serde::Deserialize;

use crate::faults::Fault;

/// Below the directory in which you play.
pub const RECORD: &str = "docs/replications/replicate-mystery.json";

#[derive(Deserialize)]
struct Record {
    servers: BTreeMap<String, Examined>,
}

/// A server that triage examined.
#[derive(Debug, Deserialize)]
pub struct Examined {
    planted: Vec<Fault>,
    /// Names of rules, the likeliest first.
    suspects: Vec<String>,
    /// The planted faults whose fix a suspect names.
    named: Vec<Fault>,
    false_alarms: Vec<String>,
}

/// The server with exactly these faults; `None` if the record lacks it.
pub fn examined(record: &str, faults: &[Fault]) -> anyhow::Result<Option<Examined>> {
    let record: Record = serde_json::from_str(record)?;
    Ok(record.servers.into_values().find(|it| it.planted == faults))
}

/// This program, as a path to type.
pub fn program() -> String {
    let path = env::current_exe().unwrap_or_default();
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(&path).display().to_string()
}

/// What triage says of the server of this seed, or how to ask it.
pub fn said(seed: u32, faults: &[Fault]) -> anyhow::Result<String> {
    let ask = format!("just triage '{} --seed {seed}' --get /orders/7", program());
    let found = match fs::read_to_string(RECORD) {
        Ok(text) => examined(&text, faults).with_context(|| format!("cannot read {RECORD}"))?,
        Err(_) => None,
    };
    Ok(match found {
        Some(it) => it.in_words(),
        None => format!("not in our record. It takes half a minute: {ask}"),
    })
}

impl Examined {
    fn in_words(&self) -> String {
        let suspects = match &self.suspects[..] {
            [] => "no suspect".to_owned(),
            suspects => format!("the suspects {}, likeliest first", suspects.join(", ")),
        };
        let judged = match (self.named.len(), self.planted.len()) {
            (0, 0) if self.suspects.is_empty() => "and that is right".to_owned(),
            (named, planted) => format!("which name {named} of {planted} faults"),
        };
        let wrong = match &self.false_alarms[..] {
            [] => String::new(),
            wrong => format!("; false alarms: {}", wrong.join(", ")),
        };
        format!("{suspects}, {judged}{wrong} (in our record)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_record_says_what_triage_found() {
        // Not part of the program: a copy of the sources may lack the pages.
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
        let Ok(record) = fs::read_to_string(format!("{root}/{RECORD}")) else { return };
        let words = |faults: &[Fault]| examined(&record, faults).unwrap().map(|it| it.in_words());
        assert!(words(&[]).is_some() && words(&[Fault::Lock]).is_some());
        assert!(words(&[Fault::Blocking, Fault::Clone]).is_none());
    }

    #[test]
    fn what_triage_found_and_missed_is_said() {
        let record = r#"{"servers": {
            "healthy": {"planted": [], "suspects": [], "named": [], "false_alarms": []},
            "lock+log": {"planted": ["lock", "log"], "suspects": ["small-io", "gc"],
                "named": ["log"], "false_alarms": ["gc"]}}}"#;
        let words = |faults: &[Fault]| examined(record, faults).unwrap().unwrap().in_words();
        assert_eq!(words(&[]), "no suspect, and that is right (in our record)");
        assert_eq!(
            words(&[Fault::Lock, Fault::Log]),
            "the suspects small-io, gc, likeliest first, which name 1 of 2 faults; false alarms: gc \
             (in our record)"
        );
    }
}
