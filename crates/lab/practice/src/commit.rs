//! What differs from the commit: a reader who edits `slow.rs` or `case.toml` makes the fix of another case.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use lab_model::{BASELINE, CANDIDATE, Case};
use lab_servers::build_elsewhere;
use lab_workspace::Workspace;

/// How long git and tar may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The files of a case that aren't as they were committed, without `mine.rs`, which git ignores. Empty without git.
pub(super) async fn changed(case: &Case) -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(&case.dir).args(["diff", "--name-only", "HEAD", "--"]);
    git.arg(&case.dir).arg(case.source(CANDIDATE));
    let printed = lab_system::run(git, PATIENCE, Stdio::piped()).await.unwrap_or_default();
    String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
}

/// What the reader has to know about changed files, and about what the fix was compared with.
pub(super) fn remark(changed: &[String], is_slow_committed: bool) -> Option<String> {
    let differ = if changed.len() == 1 { "differs" } else { "differ" };
    let slow =
        if is_slow_committed { "; your fix was compared with the committed slow.rs" } else { "" };
    let files = lab_report::join(changed);
    let differ =
        format!("{files} {differ} from the commit: this verdict is about the changed case");
    (!changed.is_empty()).then(|| differ + slow)
}

/// The server of the committed `slow`, if the file differs: built from a copy of the commit, with a target
/// directory of its own, because cargo would take the two for the same.
pub(super) async fn committed_slow(
    workspace: &Workspace,
    case: &Case,
) -> anyhow::Result<Option<PathBuf>> {
    let slow = case.source(BASELINE);
    let name = slow.file_name().unwrap_or_default();
    if !changed(case).await.iter().any(|file| Path::new(file).file_name() == Some(name)) {
        return Ok(None);
    }
    let dir = workspace.results().join("committed");
    let (archive, sources) = (dir.join("sources.tar"), dir.join("sources"));
    let _ = fs::remove_dir_all(&sources);
    fs::create_dir_all(&sources).with_context(|| format!("cannot make {}", sources.display()))?;
    let mut git = Command::new("git");
    git.current_dir(workspace.root()).args(["archive", "HEAD", "--output"]).arg(&archive);
    lab_system::run(git, PATIENCE, Stdio::piped()).await?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(&archive).arg("-C").arg(&sources);
    lab_system::run(tar, PATIENCE, Stdio::piped()).await?;
    build_elsewhere(&sources, &case.server(BASELINE), &dir.join("target")).await.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_are_named_in_one_line() {
        assert_eq!(remark(&[], false), None);
        let files = ["a/case.toml", "a/src/slow.rs"].map(str::to_owned);
        let one = remark(&files[..1], false).unwrap();
        assert_eq!(
            one,
            "a/case.toml differs from the commit: this verdict is about the changed case"
        );
        let two = remark(&files, true).unwrap();
        assert!(two.starts_with("a/case.toml and a/src/slow.rs differ from"), "{two}");
        assert!(two.ends_with("your fix was compared with the committed slow.rs"), "{two}");
    }
}
