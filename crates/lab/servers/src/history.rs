//! The history between two revisions: the states that a search builds, and the changes between them.

use anyhow::{Context as _, ensure};
use lab_protocol::HistoryChange;
use lab_system::plain;

use super::{
    Artifact, Built, Revisions, git,
    lock_history::{LockState, lock_states},
};

/// The states 0 to `n` of a program, and the changes 1 to `n` between them.
#[derive(Debug)]
pub struct History {
    /// The commit whose sources each state has.
    commits: Vec<String>,
    /// The lock file of each state; empty if it is that of the commit.
    locks: Vec<LockState>,
    pub changes: Vec<HistoryChange>,
}

impl History {
    /// The commits after `first` up to `last`. Of a merge, the first parent is followed, so that the merge is one change.
    ///
    /// # Errors
    ///
    /// If there is no such revision, or if `last` isn't based on `first`.
    pub async fn of_commits(
        revisions: &Revisions,
        [first, last]: [&str; 2],
    ) -> anyhow::Result<Self> {
        let ends = [revisions.commit(first).await?, revisions.commit(last).await?];
        let base = git::line(revisions.top(), &["merge-base", &ends[0], &ends[1]]).await;
        let base = base.with_context(|| format!("`{first}` and `{last}` have no common commit"))?;
        ensure!(
            base == ends[0],
            "`{last}` isn't based on `{first}`: begin where they parted, --rev {}",
            &base[..base.len().min(12)]
        );
        let range = format!("{}..{}", ends[0], ends[1]);
        let format = "--format=%H %s";
        let args =
            ["log", "--reverse", "--first-parent", "--no-show-signature", "--no-color", "-z"];
        let args = [&args[..], &[format, &range]].concat();
        let listed = git::bytes(revisions.top(), &args).await?;
        let (first_name, [first, _]) = (first, ends);
        let (mut commits, mut changes) = (vec![first], Vec::new());
        for line in git::fields(&listed) {
            let (hash, subject) = line.split_once(' ').unwrap_or((&line, ""));
            commits.push(hash.to_owned());
            changes.push(HistoryChange::Commit { hash: hash.to_owned(), subject: plain(subject) });
        }
        if let Some(second) = commits.get(1) {
            // One that came in by a merge isn't what the first commit of this list changed.
            let before = format!("{second}^1");
            let before = git::line(revisions.top(), &["rev-parse", "--verify", &before]).await?;
            ensure!(
                before == commits[0],
                "`{first_name}` came in by a merge: begin before that, with --rev {}",
                &before[..before.len().min(12)]
            );
        }
        Ok(Self { commits, locks: Vec::new(), changes })
    }

    /// The crates of the lock file: `last` with the lock file of `first`, then with one group of crates after the other
    /// in the version of its own lock file.
    ///
    /// # Errors
    ///
    /// If there is no such revision, if one has no lock file, or if cargo can't work with it.
    pub async fn of_lock(revisions: &Revisions, ends: [&str; 2]) -> anyhow::Result<Self> {
        let locks = lock_states(revisions, ends).await?;
        let commit = revisions.commit(ends[1]).await?;
        let changes = locks.iter().skip(1).map(|lock| HistoryChange::Crates(lock.differences()));
        Ok(Self { commits: vec![commit; locks.len()], changes: changes.collect(), locks })
    }

    /// The commit and the lock file of a state, as the name of its build.
    pub fn name(&self, state: usize) -> String {
        let commit = &self.commits[state];
        let lock =
            self.locks.get(state).map_or(String::new(), |lock| format!("-{:08x}", lock.crc32()));
        format!("{}{lock}", &commit[..commit.len().min(10)])
    }

    /// Builds the program at a state.
    ///
    /// # Errors
    ///
    /// If it cannot be checked out or built.
    pub async fn build(
        &self,
        revisions: &Revisions,
        state: usize,
        what: &Artifact,
    ) -> anyhow::Result<Built> {
        let commit = &self.commits[state];
        match self.locks.get(state) {
            Some(lock) => revisions.build_with_lock(commit, lock, what).await,
            None => revisions.build(&commit[..commit.len().min(10)], what, None).await,
        }
    }

    /// Whether a change touches nothing but lock files. A merge is compared with its first parent.
    ///
    /// # Errors
    ///
    /// If git can't compare the commits.
    pub async fn is_only_of_lock(
        &self,
        revisions: &Revisions,
        change: usize,
    ) -> anyhow::Result<bool> {
        let [before, after] = [&self.commits[change - 1], &self.commits[change]];
        let args = [
            "diff",
            "--name-only",
            "--no-renames",
            "--ignore-submodules=none",
            "-z",
            before,
            after,
        ];
        let files = git::fields(&git::bytes(revisions.top(), &args).await?);
        let is_lock = |file: &String| file == "Cargo.lock" || file.ends_with("/Cargo.lock");
        Ok(before != after && !files.is_empty() && files.iter().all(is_lock))
    }

    /// The commits before and after a change.
    pub fn around(&self, change: usize) -> [&str; 2] {
        [&self.commits[change - 1], &self.commits[change]]
    }
}
