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
const AT_A_TIME: usize = 50;
/// So many of the lowest free descriptors are looked at. The system gives the lowest one to the file that is opened next.
const FREE: usize = 4;
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
        let found = opened_at_once(&pids);
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

/// The paths that these processes have open in any of several looks. Reading where all descriptors lead takes longer
/// than a small file is open, and most of them are connections. So only the first look reads them all.
fn opened_at_once(pids: &[u32]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for pid in pids {
        let open = descriptors(*pid);
        let free = (0..).filter(|number| !open.contains_key(number)).take(FREE);
        let free: Vec<_> = free.map(|number| descriptor(*pid, number)).collect();
        for _ in 1..AT_A_TIME {
            found.extend(free.iter().filter_map(|link| fs::read_link(link).ok()));
        }
        found.extend(open.into_values());
    }
    found.retain(|path| path.is_absolute());
    found
}

/// The paths that these processes have open.
fn open(pids: &[u32]) -> BTreeSet<PathBuf> {
    let all = pids.iter().flat_map(|pid| descriptors(*pid).into_values());
    all.filter(|path| path.is_absolute()).collect()
}

/// Where the open descriptors of a process lead. A socket's target is `socket:[NUMBER]`.
fn descriptors(pid: u32) -> BTreeMap<u32, PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // Who looks at itself has the directory open, but no longer when all numbers are there.
    let numbers: Vec<u32> = numbers.collect();
    let target = |number| Some((number, fs::read_link(descriptor(pid, number)).ok()?));
    numbers.into_iter().filter_map(target).collect()
}

fn descriptor(pid: u32, number: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/fd/{number}"))
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
    async fn a_file_that_is_open_for_a_moment_is_found_among_many_connections() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connect = |_| std::net::TcpStream::connect(address).unwrap();
        let _connections: Vec<_> = (0..100).map(connect).collect();
        let dir = tempfile::tempdir().unwrap();
        let template = dir.path().canonicalize().unwrap().join("template");
        fs::write(&template, "<p>").unwrap();
        let path = template.clone();
        let reader = std::thread::spawn(move || {
            while !STOP.load(Ordering::Relaxed) {
                // Long enough to be found on a busy machine, too.
                let file = fs::File::open(&path).unwrap();
                std::thread::sleep(Duration::from_micros(300));
                drop(file);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let mut looks = 0;
        for _ in 0..50 {
            for file in watch_files(std::process::id(), Duration::from_millis(100)).await {
                looks += if file.path == template { file.looks } else { 0 };
            }
        }
        STOP.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        assert!(looks >= 20, "{looks}");
    }

    #[tokio::test]
    async fn a_process_that_does_not_exist_opens_nothing() {
        assert_eq!(watch_files(u32::MAX, Duration::from_millis(5)).await, []);
    }
}
