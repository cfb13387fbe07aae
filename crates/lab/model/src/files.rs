//! Files that readers see complete or not at all.

use std::{io::Write as _, path::Path};

use anyhow::Context as _;
use tempfile::NamedTempFile;

/// Writes a file in one step: readers see the old or the new content, never a part.
pub fn write_whole(path: &Path, content: &str) -> anyhow::Result<()> {
    let file = temporary(path, content)?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Writes a new file in one step; it is an error if the file exists.
pub fn write_new(path: &Path, content: &str) -> anyhow::Result<()> {
    let file = temporary(path, content)?;
    file.persist_noclobber(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Writes to a temporary file in the same directory, where a rename is one step.
fn temporary(path: &Path, content: &str) -> anyhow::Result<NamedTempFile> {
    let dir = path.parent().context("a file has a directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    // Temporary files are private by default; others may read this one.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let file = tempfile::Builder::new().permissions(readable).tempfile_in(dir);
    let mut file = file.with_context(|| format!("cannot write in {}", dir.display()))?;
    file.write_all(content.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_in_one_step_and_no_other_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/result.json");
        write_whole(&path, "old").unwrap();
        write_whole(&path, "new").unwrap();
        assert!(write_new(&path, "newer").is_err(), "this one replaces nothing");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }
}
