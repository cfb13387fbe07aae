//! Finds files that differ from the commit: a reader who edits `slow.rs` or `case.toml` fixes another case.

use std::{process::Command, time::Duration};

use lab_cases::Workspace;
use lab_report::translate;
use lab_system::Program;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The files that the servers and the laboratory are built from.
const BUILT_FROM: [&str; 4] = ["crates", "Cargo.toml", "Cargo.lock", ".cargo"];
/// How many files are named.
const NAMED: usize = 3;

/// The files that aren't as they were committed, or are new; without `mine.rs`, which git ignores. Empty without
/// git.
pub(super) async fn changed(workspace: &Workspace) -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(workspace.root());
    git.args(["status", "--porcelain", "--no-renames", "--untracked-files=all", "-z", "--"]);
    git.args(BUILT_FROM);
    let printed = Program::new(git, PATIENCE).output().await.unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    // Two letters and a space come before each path.
    printed.split('\0').filter_map(|line| line.get(3..)).map(str::to_owned).collect()
}

/// A note about changed files.
pub(super) fn note(changed: &[String]) -> Option<String> {
    let mut files: Vec<_> = changed.iter().take(NAMED).cloned().collect();
    if changed.len() > NAMED {
        files.push(translate!("{count} more", count = changed.len() - NAMED));
    }
    let files = lab_report::listed(&files);
    let note = match changed {
        [_] => translate!(
            "{file} differs from the commit: this verdict is about a changed case, and isn't noted in your journal",
            file = files
        ),
        _ => translate!(
            "{files} differ from the commit: this verdict is about a changed case, and isn't noted in your journal",
            files
        ),
    };
    (!changed.is_empty()).then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_are_named_in_one_line() {
        assert_eq!(note(&[]), None);
        let files = ["a/case.toml", "a/src/slow.rs", "b", "c", "d"].map(str::to_owned);
        let one = note(&files[..1]).unwrap();
        assert_eq!(
            one,
            "a/case.toml differs from the commit: this verdict is about a changed case, and isn't noted in your \
             journal"
        );
        let many = note(&files).unwrap();
        assert!(many.starts_with("a/case.toml, a/src/slow.rs, b and 2 more differ from"), "{many}");
    }
}
