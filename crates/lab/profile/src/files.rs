//! Looks at the files that a server has open, again and again, through `/proc`. A count of `openat` doesn't say which
//! they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use lab_system::process;
use tokio::time::sleep;

/// How long from one look to the next. A small file is open for a few hundredths of the time, under load.
const LOOK: Duration = Duration::from_millis(1);
/// How many looks come at a time. A file that all of them find was open once.
const AT_A_TIME: usize = 4;
/// What the system makes up when it is read, so nobody can keep it.
const MADE_UP: [&str; 3] = ["/dev", "/proc", "/sys"];

/// A file that was opened while a process was watched.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedFile {
    pub path: PathBuf,
    pub bytes: u64,
    /// How often it was found open.
    pub looks: u64,
}

/// Files that a process and its descendants open during this window, the one that most looks found open first.
/// What is open at its beginning is left out: a log, a database.
pub async fn watch_files(pid: u32, window: Duration) -> Vec<OpenedFile> {
    let pids = process::pids(pid);
    let before = open(&pids);
    let mut seen = BTreeMap::new();
    let start = Instant::now();
    while start.elapsed() < window {
        // After a look, which takes long for many files.
        sleep(LOOK).await;
        let found: BTreeSet<_> = (0..AT_A_TIME).flat_map(|_| open(&pids)).collect();
        for path in found.difference(&before) {
            *seen.entry(path.clone()).or_insert(0) += 1;
        }
    }
    let seen = seen.into_iter().filter(|(path, _)| is_kept(path));
    // A temporary file is gone by now.
    let mut files: Vec<_> = seen
        .filter_map(|(path, looks)| {
            let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some(OpenedFile { path, bytes: file.len(), looks })
        })
        .collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.looks));
    files
}

/// The files that a process and its descendants have open, and how many bytes each has.
pub fn open_files(pid: u32) -> BTreeMap<PathBuf, u64> {
    let size = |path: PathBuf| {
        let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((path, file.len()))
    };
    let files = open(&process::pids(pid)).into_iter().filter(|path| is_kept(path));
    files.filter_map(size).collect()
}

/// Whether it is more than what the system makes up.
fn is_kept(path: &Path) -> bool {
    !MADE_UP.iter().any(|dir| path.starts_with(dir))
}

/// The paths that these processes have open. A socket's is `socket:[NUMBER]`.
fn open(pids: &[u32]) -> BTreeSet<PathBuf> {
    let of = |pid: &u32| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let all = pids.iter().flat_map(of).filter_map(|entry| fs::read_link(entry.path()).ok());
    all.filter(|path| path.is_absolute()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_file_that_is_opened_meanwhile_is_found_and_one_that_stays_open_is_not() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let [log, template] =
            ["log", "template"].map(|name| dir.path().canonicalize().unwrap().join(name));
        fs::write(&log, "").unwrap();
        fs::write(&template, "<p>").unwrap();
        let _log = fs::File::open(&log).unwrap();
        let path = template.clone();
        let reader = std::thread::spawn(move || {
            while !STOP.load(Ordering::Relaxed) {
                let opened = fs::File::open(&path).unwrap();
                std::thread::sleep(Duration::from_millis(5));
                drop(opened);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        // If it is open at the beginning of a window, that one leaves it out.
        let mut found = None;
        for _ in 0..300 {
            let files = watch_files(std::process::id(), Duration::from_millis(100)).await;
            assert!(files.iter().all(|file| file.path != log));
            assert_eq!(open_files(std::process::id())[&log], 0);
            found = files.into_iter().find(|file| file.path == template);
            if found.is_some() {
                break;
            }
        }
        STOP.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        let found = found.unwrap();
        assert!(found.bytes == 3 && found.looks > 0, "{found:?}");
    }

    #[tokio::test]
    async fn a_process_that_does_not_exist_opens_nothing() {
        assert_eq!(watch_files(u32::MAX, Duration::from_millis(5)).await, []);
    }
}
