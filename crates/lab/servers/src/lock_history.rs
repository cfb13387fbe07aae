//! From one lock file to another, a few crates at a time: cargo moves one crate to the version of the newer file, and
//! those with it that fit no other version.

use std::{fs, path::Path};

use anyhow::{Context as _, ensure};
use lab_protocol::{BuildAspect, BuildDifference};
use lab_system::{Program, Progress};

use super::{
    Revisions,
    cargo::{self, as_from_a_shell_elsewhere},
    git,
    lock_file::{CrateChange, LockFile},
    revisions::lock_file_in,
};

/// A lock file, and the crates that differ from the one before it.
#[derive(Debug)]
pub struct LockState {
    pub text: Vec<u8>,
    pub changes: Vec<CrateChange>,
}

impl LockState {
    pub fn differences(&self) -> Vec<BuildDifference> {
        let difference = |CrateChange { name, from, to }| BuildDifference {
            aspect: BuildAspect::Crate,
            name,
            from,
            to,
        };
        self.changes.iter().cloned().map(difference).collect()
    }

    pub fn crc32(&self) -> u32 {
        crc32fast::hash(&self.text)
    }
}

/// The lock files between those of two revisions, with the sources of the last one.
///
/// # Errors
///
/// If one of them has no lock file, or if cargo can't work with it.
pub async fn lock_states(
    revisions: &Revisions,
    [first, last]: [&str; 2],
) -> anyhow::Result<Vec<LockState>> {
    let commit = revisions.commit(last).await?;
    let (tree, dir) = revisions.tree_for_locks(&commit).await?;
    let lock = lock_file_in(&tree, &cargo::workspace_manifest(&dir).await?)?;
    let below = lock.strip_prefix(&tree).context("the workspace is outside the repository")?;
    let below = below.to_str().context("a path of the repository isn't UTF-8")?;
    let mut texts = Vec::new();
    for revision in [first, last] {
        let object = format!("{}:{below}", revisions.commit(revision).await?);
        let is_there = git::bytes(revisions.top(), &["cat-file", "-e", &object]).await.is_ok();
        ensure!(is_there, "`{revision}` has no {below}");
        texts.push(git::bytes(revisions.top(), &["show", &object]).await?);
    }
    // The crates of both have to be here: moving from one to the other asks no registry.
    for text in texts.iter().rev() {
        write(&lock, text)?;
        run(&dir, &["fetch"]).await.context("cannot download the crates of a lock file")?;
    }
    // With the older lock file, cargo has added what the newer manifest needs.
    let walk = Walk { dir: &dir, lock: &lock };
    walk.to(&texts[1]).await
}

/// A worktree whose lock file moves.
struct Walk<'a> {
    dir: &'a Path,
    lock: &'a Path,
}

impl Walk<'_> {
    /// All states from the present lock file to this one.
    async fn to(&self, last: &[u8]) -> anyhow::Result<Vec<LockState>> {
        let text = self.text()?;
        let mut now = LockFile::read(self.lock)?;
        write(self.lock, last)?;
        let goal = LockFile::read(self.lock)?;
        write(self.lock, &text)?;
        let mut states = vec![LockState { text, changes: Vec::new() }];
        let total = now.changes(&goal).len();
        ensure!(total > 0, "the lock files have the same crates");
        let progress = Progress::new("lock file");
        // One that fits nothing yet may fit when others have moved.
        loop {
            let before = states.len();
            for (crate_, version) in moves(&now.changes(&goal)) {
                let done = total.saturating_sub(now.changes(&goal).len());
                progress.running(&format!("{done} of {total} crates"));
                let moved =
                    ["update", "--offline", "--quiet", "--package", &crate_, "--precise", &version];
                if run(self.dir, &moved).await.is_err() {
                    continue;
                }
                let next = LockFile::read(self.lock)?;
                let changes = now.changes(&next);
                if next.changes(&goal).len() >= now.changes(&goal).len() || changes.is_empty() {
                    // It led away from the goal.
                    write(self.lock, &states[states.len() - 1].text)?;
                    continue;
                }
                now = next;
                states.push(LockState { text: self.text()?, changes });
            }
            if states.len() == before {
                break;
            }
        }
        // What can only move together, and what isn't a version.
        let changes = now.changes(&goal);
        if changes.is_empty() {
            states.last_mut().context("there is a state")?.text = last.to_vec();
        } else {
            states.push(LockState { text: last.to_vec(), changes });
        }
        Ok(states)
    }

    fn text(&self) -> anyhow::Result<Vec<u8>> {
        fs::read(self.lock).with_context(|| format!("cannot read {}", self.lock.display()))
    }
}

/// Cargo's names of the crates that have another version in both lock files, each with the newer version. Crates that
/// only one of them has come and go with those that need them.
fn moves(changes: &[CrateChange]) -> Vec<(String, String)> {
    let version = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
    let mut moves = Vec::new();
    for CrateChange { name, from, to } in changes {
        for (from, to) in from.iter().zip(to) {
            moves.push((format!("{name}@{}", version(from)), version(to)));
        }
    }
    moves
}

async fn run(dir: &Path, args: &[&str]) -> anyhow::Result<()> {
    let mut cargo = as_from_a_shell_elsewhere("cargo", dir);
    cargo.args(args);
    Program::new(cargo, cargo::PATIENCE).output().await?;
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_crate_of_both_lock_files_is_moved() {
        let change = |name: &str, from: &[&str], to: &[&str]| CrateChange {
            name: name.to_owned(),
            from: from.iter().map(|version| (*version).to_owned()).collect(),
            to: to.iter().map(|version| (*version).to_owned()).collect(),
        };
        let changes = [
            change("gone", &["1.0.0"], &[]),
            change("new", &[], &["0.1.0"]),
            change("serde", &["1.0.1"], &["1.0.2"]),
            change("syn", &["1.0.1", "2.0.1"], &["1.0.2", "2.0.2"]),
        ];
        let moves = moves(&changes);
        let expected = [("serde@1.0.1", "1.0.2"), ("syn@1.0.1", "1.0.2"), ("syn@2.0.1", "2.0.2")];
        assert_eq!(moves, expected.map(|(name, to)| (name.to_owned(), to.to_owned())));
    }
}
