//! The journal of what the reader predicted, tried and passed: a text file with a table for each case.

use std::{collections::BTreeMap, fs};

use anyhow::Context as _;
use jiff::Timestamp;
use lab_cases::{Case, SUSPECTS, Workspace};
use lab_protocol::{Metric, Speedups};
use lab_report::{factor, speedup, translate, translated};
use lab_system::write_whole;
use serde::{Deserialize, Serialize};

const FILE: &str = ".practice/journal.toml";
const HEAD: &str =
    "# What you predicted and reached. You may edit it. It never leaves this machine.\n";

/// All entries by the name of their case.
type Journal = BTreeMap<String, Entry>;

/// The journal's entry of a case.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Entry {
    /// The kind of the fault, as the reader predicted it.
    pub suspect: Option<String>,
    /// The factor that the reader predicted, of [`Case::predicted_metric`].
    pub factor: Option<f64>,
    /// The factor that was measured next to it.
    pub measured: Option<f64>,
    /// The reader's suspects of a service with many faults, in their own words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<String>,
    /// An experiment that would distinguish two of the suspects.
    pub experiment: Option<String>,
    /// How many hints were shown.
    pub hints: usize,
    /// When the reader's file was first made.
    pub tried: Option<Timestamp>,
    /// When it first passed all gates.
    pub passed: Option<Timestamp>,
}

impl Entry {
    /// The state of what the reader has not begun.
    pub const OPEN: &str = "open";

    /// The entry of a case in the workspace's journal.
    ///
    /// # Errors
    ///
    /// If the journal exists and cannot be read or parsed.
    pub fn of(workspace: &Workspace, case: &Case) -> anyhow::Result<Self> {
        Ok(journal(workspace)?.remove(&case.name).unwrap_or_default())
    }

    /// Changes the entry of a case; the file is written in one step.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read, parsed or written.
    pub fn change(
        workspace: &Workspace,
        case: &Case,
        change: impl FnOnce(&mut Self),
    ) -> anyhow::Result<Self> {
        let mut journal = journal(workspace)?;
        let entry = journal.entry(case.name.clone()).or_default();
        change(entry);
        let changed = entry.clone();
        write_whole(
            &workspace.root().join(FILE),
            &(HEAD.to_owned() + &toml::to_string(&journal)?),
        )?;
        Ok(changed)
    }

    /// `open`, `predicted`, `tried` or `passed`.
    pub fn state(&self) -> &'static str {
        match (&self.passed, &self.tried, self.suspect.as_ref().or(self.suspects.first())) {
            (Some(_), ..) => "passed",
            (_, Some(_), _) => "tried",
            (.., Some(_)) => "predicted",
            _ => Self::OPEN,
        }
    }

    /// `D, 4.00×`, if the reader predicted something.
    pub fn prediction(&self) -> Option<String> {
        Some(format!("{}, {}", self.suspect.as_deref()?, factor(self.factor?)))
    }

    /// The reader's predictions and results, a line for each, for somebody else to read.
    pub fn lines(&self) -> Vec<String> {
        let suspects = self.suspect.iter().chain(&self.suspects).cloned().collect::<Vec<_>>();
        let suspected = (!suspects.is_empty())
            .then(|| translate!("suspected {suspects}", suspects = suspects.join("; ")));
        let predicted = self.factor.map(|said| match self.measured {
            Some(measured) => {
                let [said, measured] = [said, measured].map(factor);
                translate!("predicted {said}, measured {measured}", said, measured)
            }
            None => translate!("predicted {said}", said = factor(said)),
        });
        let experiment = self
            .experiment
            .as_ref()
            .map(|experiment| translate!("would measure {what}", what = experiment));
        let hints = match self.hints {
            0 => None,
            1 => Some(translate!("read 1 hint")),
            count => Some(translate!("read {count} hints", count)),
        };
        let passed =
            self.minutes().map(|minutes| translate!("passed after {minutes} minutes", minutes));
        [suspected, predicted, experiment, hints, passed].into_iter().flatten().collect()
    }

    /// From the first try to the pass.
    pub fn minutes(&self) -> Option<i64> {
        Some(self.passed?.duration_since(self.tried?).as_mins())
    }

    /// Keeps what was measured of a case whose factor the reader has predicted.
    ///
    /// # Errors
    ///
    /// If the journal can't be read or written.
    pub fn keep_measured(
        workspace: &Workspace,
        case: &Case,
        found: &Speedups,
    ) -> anyhow::Result<()> {
        let Some(found) = found.of(case.predicted_metric()) else { return Ok(()) };
        if Self::of(workspace, case)?.factor.is_some() {
            Self::change(workspace, case, |entry| entry.measured = Some(found.estimate))?;
        }
        Ok(())
    }

    /// A sentence that compares the reader's prediction with the measurement.
    pub fn compare(&self, case: &Case, measured: &Speedups) -> Option<String> {
        let metric = case.predicted_metric();
        let (said, measured) = (factor(self.factor?), speedup(measured.of(metric)?));
        let metric = match metric {
            Metric::Throughput => translate!("throughput"),
            Metric::Cpu => translate!("CPU per request"),
            Metric::PeakMemory => translate!("peak memory"),
            Metric::Time => translate!("time"),
            Metric::Latency(percentile) => {
                translate!("{percentile} latency", percentile = percentile.name())
            }
        };
        Some(translate!("you said {said}, measured {measured} in {metric}", said, measured, metric))
    }

    /// How the reader can test the suspect, which is not judged yet.
    pub fn test(&self, case: &Case) -> Option<String> {
        let suspect = self.suspect.as_deref()?;
        let how = translated(SUSPECTS.iter().find(|kind| kind.name == suspect)?.shown_by);
        Some(translate!(
            "you suspect `{suspect}` in {case}, which would show in {how}",
            suspect,
            case = case.shown,
            how
        ))
    }

    /// Where the source is, once the reader has a suspect: its directory names the fault.
    pub fn source(&self, case: &Case) -> Option<String> {
        self.suspect.as_ref()?;
        (case.shown != case.name).then(|| {
            translate!(
                "{case} is the crate {name}: its name says what is wrong, and `diff src/slow.rs src/fixed.rs` in it is \
                 the fix",
                case = case.shown,
                name = case.name
            )
        })
    }

    /// Whether the suspect is the fault; if not, what would have shown it.
    pub fn judge(&self, case: &Case) -> Option<String> {
        let suspect = self.suspect.as_deref()?;
        if case.is_fault(suspect) {
            return Some(translate!("you suspected `{suspect}`, which is right", suspect));
        }
        let how = translated(case.shown_by(suspect).unwrap_or_default());
        Some(translate!(
            "you suspected `{suspect}`, which isn't the fault. It would have shown in {how}",
            suspect,
            how
        ))
    }
}

/// Reads the journal in the root of the workspace; without a file it is empty.
fn journal(workspace: &Workspace) -> anyhow::Result<Journal> {
    let path = workspace.root().join(FILE);
    if !path.exists() {
        return Ok(Journal::new());
    }
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("correct {}, or move it", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_survives_its_file_and_edits_by_hand() {
        let edited = "[hot-clone]\nsuspect = \"a \\\"lock\\\"\"\nfactor = 4\nmood = \"good\"\n\
             tried = \"2026-11-22T10:00:00Z\"\npassed = \"2026-11-22T10:12:30Z\"\n";
        let journal: Journal = toml::from_str(edited).unwrap();
        let entry = &journal["hot-clone"];
        assert_eq!((entry.state(), entry.minutes(), entry.factor), ("passed", Some(12), Some(4.0)));
        let text = toml::to_string(&journal).unwrap();
        assert!(text.contains("\nfactor = 4.0\nhints = 0\n"), "{text}");
        assert_eq!(toml::from_str::<Journal>(&text).unwrap(), journal);
    }

    #[test]
    fn the_name_of_the_crate_is_said_after_a_guess_and_only_to_who_asked_by_the_alias() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
        let workspace = Workspace::find(Some(root.as_ref()), None).unwrap();
        let case = |name: &str| workspace.cases_named(&[name.to_owned()]).unwrap().remove(0);
        let guessed = Entry { suspect: Some("lock".to_owned()), ..Entry::default() };
        let said = guessed.source(&case("idle-server")).unwrap();
        assert!(said.starts_with("idle-server is the crate lock-scope: "), "{said}");
        assert_eq!(guessed.source(&case("lock-scope")), None);
        assert_eq!(Entry::default().source(&case("idle-server")), None);
    }
}
