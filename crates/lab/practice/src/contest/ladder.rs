//! The states of a service that the reader kept: their scores in a file, the last one's program and source next to it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use jiff::Timestamp;
use lab_cases::{Case, Workspace};
use lab_report::{translate, translated};
use lab_stats::Speedup;
use lab_system::write_whole;
use serde::{Deserialize, Serialize};

use crate::source::copy_directory;

/// The kept states of one contest.
#[derive(Debug)]
pub struct Ladder {
    dir: PathBuf,
    pub rungs: Vec<Rung>,
}

/// A kept state.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Rung {
    pub message: String,
    pub kept: Timestamp,
    /// Since the first state.
    pub minutes: i64,
    #[serde(flatten)]
    pub measured: RungFigures,
}

/// The figures of a state.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RungFigures {
    /// Visits per second, and the lowest and the highest of the runs.
    pub score: [f64; 3],
    /// The factor over the state that was kept before, and its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<[f64; 3]>,
    pub seed: u64,
}

#[derive(Deserialize, Serialize)]
struct MeasuredFile {
    /// The fingerprint of the source.
    source: u32,
    #[serde(flatten)]
    measured: RungFigures,
}

#[derive(Default, Deserialize, Serialize)]
struct LadderFile {
    #[serde(default, rename = "state")]
    rungs: Vec<Rung>,
}

/// The advice for the state in the editor.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// The state is better than the kept one.
    Keep,
    /// No gain is shown, and no large one is possible.
    Revert,
    Undecided,
}

/// A change that gains less than this factor isn't worth its code.
pub const WORTH: f64 = 1.03;
/// If a gain isn't shown, and one of this factor is ruled out, more pairs are a waste of time. Between two states of
/// the same speed, six pairs leave about 1.1 open.
const POSSIBLE: f64 = 1.12;

impl Advice {
    /// From the scores of the state in the editor, over those of the kept one.
    pub fn on(speedup: &Speedup) -> Self {
        match speedup {
            speedup if !speedup.is_confident() => Self::Undecided,
            speedup if speedup.low > 1.0 && speedup.estimate >= WORTH => Self::Keep,
            speedup if speedup.high < POSSIBLE => Self::Revert,
            _ => Self::Undecided,
        }
    }
}

impl Ladder {
    const FILE: &str = "ladder.toml";
    const MEASURED: &str = "measured.toml";
    const SOURCE: &str = "source";
    const PROGRAM: &str = "program";

    /// # Errors
    ///
    /// If the file is there and can't be read.
    pub fn read(workspace: &Workspace, case: &Case) -> anyhow::Result<Self> {
        let dir = workspace.root().join(".practice").join(&case.name);
        let path = dir.join(Self::FILE);
        let file = if path.exists() {
            let text = fs::read_to_string(&path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            toml::from_str(&text)
                .with_context(|| format!("correct {}, or move it", path.display()))?
        } else {
            LadderFile::default()
        };
        Ok(Self { dir, rungs: file.rungs })
    }

    /// The program of the state that was kept last.
    pub fn program(&self) -> Option<PathBuf> {
        let program = self.dir.join(Self::PROGRAM);
        (!self.rungs.is_empty() && program.is_file()).then_some(program)
    }

    /// Remembers what was measured of a source that may be kept later.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, or if the file cannot be written.
    pub fn measured(&self, source: &Path, measured: &RungFigures) -> anyhow::Result<()> {
        let file = MeasuredFile { source: fingerprint(source)?, measured: measured.clone() };
        fs::create_dir_all(&self.dir)?;
        write_whole(&self.dir.join(Self::MEASURED), &toml::to_string(&file)?)
    }

    /// The figures of the last measurement, if it was of this source.
    pub fn last_measured(&self, source: &Path) -> Option<RungFigures> {
        let text = fs::read_to_string(self.dir.join(Self::MEASURED)).ok()?;
        let file: MeasuredFile = toml::from_str(&text).ok()?;
        (file.source == fingerprint(source).ok()?).then_some(file.measured)
    }

    /// Keeps a state. Without a message, the first line that differs from the last state names it.
    ///
    /// # Errors
    ///
    /// If source, program or file cannot be read or written.
    pub fn keep(
        &mut self,
        (source, program): (&Path, &Path),
        message: Option<&str>,
        measured: RungFigures,
    ) -> anyhow::Result<&Rung> {
        let kept = self.dir.join(Self::SOURCE);
        let message = match message {
            Some(message) => message.to_owned(),
            None if self.rungs.is_empty() => translate!("as it was"),
            None => {
                first_difference(&kept, source).unwrap_or_else(|| translate!("nothing changed"))
            }
        };
        fs::create_dir_all(&self.dir)?;
        if kept.exists() {
            fs::remove_dir_all(&kept)?;
        }
        copy_directory(source, &kept)?;
        // Not over a file that runs.
        let copied = self.dir.join("program.new");
        fs::copy(program, &copied)?;
        fs::rename(copied, self.dir.join(Self::PROGRAM))?;
        let first = self.rungs.first().map_or_else(Timestamp::now, |first| first.kept);
        let (kept, minutes) = (Timestamp::now(), Timestamp::now().duration_since(first).as_mins());
        self.rungs.push(Rung { message, kept, minutes, measured });
        let file = LadderFile { rungs: self.rungs.clone() };
        let head = "# The states that you kept. Each score is visits per second: its median, lowest and highest run.\n";
        write_whole(&self.dir.join(Self::FILE), &(head.to_owned() + &toml::to_string(&file)?))?;
        self.rungs.last().context("a state was kept")
    }

    /// Where its picture goes.
    pub fn picture(&self) -> PathBuf {
        self.dir.join("ladder.svg")
    }

    /// Whether the source differs from the state that was kept last.
    pub fn is_changed(&self, source: &Path) -> bool {
        first_difference(&self.dir.join(Self::SOURCE), source).is_some()
    }
}

/// A fingerprint of all files of a source, including their names.
fn fingerprint(source: &Path) -> anyhow::Result<u32> {
    let mut digest = crc32fast::Hasher::new();
    let mut directories = vec![source.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries =
            directory.read_dir().with_context(|| format!("cannot read {}", directory.display()))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                directories.push(path);
            } else {
                digest.update(path.as_os_str().as_encoded_bytes());
                digest.update(
                    &fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?,
                );
            }
        }
    }
    Ok(digest.finalize())
}

/// The first line of a source that another one doesn't have, with its file.
fn first_difference(old: &Path, new: &Path) -> Option<String> {
    let mut entries: Vec<_> = new.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.iter().find_map(|path| {
        let before = old.join(path.file_name()?);
        if path.is_dir() {
            return first_difference(&before, path);
        }
        let [before, now] =
            [&before, path].map(|file| fs::read_to_string(file).unwrap_or_default());
        if before == now {
            return None;
        }
        let file = path.file_name()?.to_string_lossy();
        let known: std::collections::HashSet<_> = before.lines().map(str::trim).collect();
        let added = now.lines().map(str::trim).find(|line| line.len() > 3 && !known.contains(line));
        Some(format!("{file}: {}", added.unwrap_or(translated("lines are gone"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_without_a_gain_is_to_go_unless_a_large_one_is_possible() {
        let advice = |low, estimate, high| {
            Advice::on(&Speedup {
                estimate,
                low,
                high,
                confidence: 0.97,
                inner: None,
                count_error: 1.0,
            })
        };
        assert_eq!(advice(1.01, 1.06, 1.11), Advice::Keep);
        assert_eq!(advice(1.001, 1.01, 1.02), Advice::Revert);
        // Measured of two states that differ in what costs nothing.
        assert_eq!(advice(0.96, 1.04, 1.106), Advice::Revert);
        assert_eq!(advice(0.98, 1.07, 1.18), Advice::Undecided);
        assert_eq!(advice(0.3, 0.36, 0.4), Advice::Revert);
    }
}
