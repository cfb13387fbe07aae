//! Files that readers see complete or not at all.

use std::{io::Write as _, path::Path};

use anyhow::{Context as _, ensure};
use tempfile::NamedTempFile;

/// Writes a file in one step: readers see the old or the new content, never a part. Keeps a link, and
/// what is no file, such as `/dev/stdout`.
///
/// # Errors
///
/// If the file or its directory cannot be written.
pub fn write_whole(path: &Path, content: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if is_special(&place) {
        return std::fs::write(&place, content).with_context(failed);
    }
    temporary(&place, content)?.persist(&place).with_context(failed)?;
    Ok(())
}

/// The longest file that is read, in bytes: far beyond any record or list of requests.
const LONGEST: u64 = 256 << 20;

/// Reads a regular file. A pipe might never end, and a device has no end.
///
/// # Errors
///
/// If the file cannot be read, is not a regular file, is longer than 256 MiB, or is not UTF-8.
pub fn read_file(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("cannot read {}", path.display());
    let about = path.metadata().with_context(failed)?;
    ensure!(about.is_file(), "{} is not a regular file: copy what it has into one", path.display());
    ensure!(about.len() <= LONGEST, "{} is longer than 256 MiB", path.display());
    std::fs::read_to_string(path).with_context(failed)
}

/// Checks that [`write_whole`] can write this file, and changes nothing.
///
/// # Errors
///
/// If the path is a directory, or if its directory cannot be written.
pub fn ensure_writable(path: &Path) -> anyhow::Result<()> {
    ensure!(!path.is_dir(), "{} is a directory: name a file", path.display());
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if is_special(&place) { Ok(()) } else { temporary(&place, "").map(drop) }
}

fn is_special(path: &Path) -> bool {
    path.exists() && !path.is_file()
}

/// Writes a new file in one step.
///
/// # Errors
///
/// If the file exists, or cannot be written.
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

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let [file, pipe, long] = ["file", "pipe", "long"].map(|name| dir.path().join(name));
        std::fs::write(&file, "text").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::File::create(&long).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(read_file(&file).unwrap(), "text");
        let error = |path: &Path| read_file(path).unwrap_err().to_string();
        for path in [&pipe, Path::new("/dev/zero"), dir.path()] {
            assert!(error(path).contains("is not a regular file"), "{}", error(path));
        }
        assert!(error(&long).ends_with("is longer than 256 MiB"));
        assert!(error(&file.join("x")).starts_with("cannot read"));
    }

    #[test]
    fn a_link_and_what_is_no_file_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, socket] = ["file", "link", "socket"].map(|name| dir.path().join(name));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        ensure_writable(&link).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        write_whole(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert!(write_whole(&socket, "new").is_err() && !socket.is_file());
        assert!(ensure_writable(dir.path()).is_err() && ensure_writable(&file.join("x")).is_err());
        assert_eq!(dir.path().read_dir().unwrap().count(), 3);
    }
}
