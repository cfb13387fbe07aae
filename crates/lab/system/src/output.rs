//! A directory that readers see complete or not at all.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use tempfile::TempDir;

/// A directory in the making, next to the one that it will replace.
#[derive(Debug)]
pub struct Output {
    making: TempDir,
    finished: PathBuf,
}

impl Output {
    /// `finished` is the path that it will have.
    ///
    /// # Errors
    ///
    /// If the parent directory cannot be made or written.
    pub fn begin(finished: PathBuf) -> anyhow::Result<Self> {
        let parent = finished.parent().context("a directory of results has a parent")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        let making = tempfile::Builder::new().prefix(".making-").tempdir_in(parent);
        let making = making.with_context(|| format!("cannot write in {}", parent.display()))?;
        Ok(Self { making, finished })
    }

    /// The path while it is being made.
    pub fn dir(&self) -> &Path {
        self.making.path()
    }

    /// Writes a file of this name into the directory.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        let path = self.dir().join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Replaces the previous directory; returns the final path.
    ///
    /// # Errors
    ///
    /// If the previous directory cannot be replaced. It then stays as it was.
    pub fn finish(self) -> anyhow::Result<PathBuf> {
        let Self { making, finished } = self;
        // Whatever the mask of this process: others may read results.
        fs::set_permissions(making.path(), fs::Permissions::from_mode(0o755))?;
        // Two renames, because no system call replaces a directory that has files in it.
        let parent = finished.parent().context("a directory of results has a parent")?;
        let old = tempfile::Builder::new().prefix(".old-").tempdir_in(parent)?;
        let old = old.path().join("old");
        if finished.exists() {
            fs::rename(&finished, &old)
                .with_context(|| format!("cannot replace {}", finished.display()))?;
        }
        if let Err(error) = fs::rename(making.path(), &finished) {
            let _ = fs::rename(&old, &finished);
            return Err(error).with_context(|| format!("cannot write {}", finished.display()));
        }
        Ok(finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_replaced_and_no_other_directory_stays() {
        let results = tempfile::tempdir().unwrap();
        let dir = results.path().join("deep/dir");
        for name in ["old.svg", "new.svg"] {
            let output = Output::begin(dir.clone()).unwrap();
            output.write(name, "<svg/>").unwrap();
            output.finish().unwrap();
        }
        let files = |dir: &Path| -> Vec<_> {
            dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
        };
        assert_eq!(files(&dir), ["new.svg"]);
        assert_eq!(files(dir.parent().unwrap()), ["dir"]);
    }
}
