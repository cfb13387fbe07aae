//! The pictures of a record, and the stacks that they were drawn from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::{AGAIN, file_name, read_json, stranger};
use crate::{case::Case, machine::Build, workspace::Workspace};

/// What stands behind the pictures of a case.
const META: &str = "meta.json";

/// The pictures of a case.
#[derive(Debug)]
pub(super) struct Page {
    case: String,
    dir: PathBuf,
}

/// The pages that there are, and what speaks against them.
pub(super) fn of(
    workspace: &Workspace,
    cases: &[Case],
    now: &Build,
) -> anyhow::Result<(Vec<Page>, Vec<String>)> {
    let mut pages = Vec::new();
    let mut complaints = Vec::new();
    for case in cases {
        let dir = workspace.results().join("flame").join(&case.name);
        if !dir.join(META).is_file() {
            complaints.push(format!("there are no pictures of {}: {AGAIN}", case.name));
            continue;
        }
        let meta = read_json(&dir.join(META))?;
        let build: Build = serde_json::from_value(meta["build"].clone())
            .with_context(|| format!("{} is damaged", dir.join(META).display()))?;
        complaints.extend(stranger(&format!("the page of {}", case.name), &build, now));
        pages.push(Page { case: case.name.clone(), dir });
    }
    Ok((pages, complaints))
}

/// Copies pictures, stacks and what stands behind them, and returns how many files that are and how
/// many bytes.
///
/// The page itself stays: it leads to the raw graphs, and those weigh more than all the rest. They
/// are `VARIANT.raw.svg`, drawn from `VARIANT.folded`.
pub(super) fn copy(pages: &[Page], into: &Path) -> anyhow::Result<(usize, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for Page { case, dir } in pages {
        let into = into.join(case);
        fs::create_dir_all(&into).with_context(|| format!("cannot make {}", into.display()))?;
        let entries = dir.read_dir().with_context(|| format!("cannot read {}", dir.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let copy = into.join(&name);
            if name == META {
                let mut meta = read_json(&entry.path())?;
                if let Some(program) = meta["command"].get_mut(0) {
                    *program = file_name(program.as_str().unwrap_or_default()).into();
                }
                fs::write(&copy, serde_json::to_string_pretty(&meta)? + "\n")
            } else if is_published(&name) {
                fs::copy(entry.path(), &copy).map(drop)
            } else {
                continue;
            }
            .with_context(|| format!("cannot write {}", copy.display()))?;
            files += 1;
            bytes += copy.metadata()?.len();
        }
    }
    Ok((files, bytes))
}

fn is_published(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "svg")) => !stem.ends_with(".raw"),
        Some((stem, "folded")) => stem.contains('.'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_graphs_and_their_stacks_stay_behind() {
        for name in ["slow.svg", "diff.svg", "slow.waits.svg", "slow.per-request.folded"] {
            assert!(is_published(name), "{name}");
        }
        for name in ["slow.raw.svg", "slow.folded", "index.html", "perf.data"] {
            assert!(!is_published(name), "{name}");
        }
    }
}
