//! Facts about a running process, read from `/proc`.
//!
//! On systems other than Linux the figures are absent, not wrong.

mod cpu;
mod sockets;

use std::{fs, path::Path, time::Duration};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};
use tokio::time::sleep;

pub use cpu::CpuTime;
pub use sockets::{
    ListenerWatch, held_back, is_taken, listeners, outbound_connections, reached_at,
    refused_connections, round_trips, unix_listener,
};

pub fn own_cpu_time() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    return Some(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok()?.into());
    #[cfg(not(target_os = "linux"))]
    None
}

/// How long the threads of this process were ready and waited for a core.
pub fn own_wait() -> Option<Duration> {
    let threads = threads(std::process::id()).filter_map(|thread| {
        let times = text(thread + "/schedstat")?;
        let mut times = times.split(' ').map_while(|time| time.parse::<u64>().ok());
        Some((times.next()?, times.next()?))
    });
    let (ran, waited) = threads.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Without scheduler statistics all times are zero.
    (ran > 0).then_some(Duration::from_nanos(waited))
}

/// The peak memory of a process and its descendants, in MiB: the sum of each one's `VmHWM`, so pages
/// that they share count more than once. `None` if one of them can't be read: the others' sum would be too low.
pub fn peak_rss_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmHWM:")
}

/// The memory of a process and its descendants now, in MiB: the sum of each one's `VmRSS`. `None` if one can't be read.
pub fn rss_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmRSS:")
}

/// The memory of a process and its descendants now without the pages of files, in MiB. Only they can free it.
pub fn anonymous_mib(pid: u32) -> Option<f64> {
    of_status(pid, "RssAnon:")
}

/// The memory that a process and its descendants have mapped for data, in MiB, used or not.
pub fn mapped_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmData:")
}

/// The sum of a line of `status` over a process and its descendants.
fn of_status(pid: u32, name: &str) -> Option<f64> {
    let mut sum = None;
    for pid in pids(pid) {
        let Some(status) = text(format!("/proc/{pid}/status")) else {
            if is_alive(pid) {
                return None;
            }
            continue;
        };
        // One that has just ended has no such line.
        if let Some(size) = line_of(&status, name) {
            *sum.get_or_insert(0.0) += size.strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0;
        }
    }
    sum
}

/// The value after a name such as `SigIgn:` in the `status` of a process or thread, whose directory in `/proc` is
/// `dir`.
pub fn status(dir: &Path, name: &str) -> Option<String> {
    line_of(&text(dir.join("status"))?, name).map(str::to_owned)
}

fn line_of<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// A file in `/proc`. A process's name may have any bytes, and the kernel cuts it at 15, also within a character: what
/// is no UTF-8 must not make the file unreadable.
fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

pub fn first_child(pid: u32) -> Option<u32> {
    threads(pid).find_map(|thread| children(&thread).first().copied())
}

/// A process and its descendants, the process itself first. A server may have been started through
/// a shell or another tool, or do its work in children.
pub fn pids(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut wanted = vec![pid];
    while let Some(pid) = wanted.pop() {
        wanted.extend(threads(pid).flat_map(|thread| children(&thread)));
        found.push(pid);
    }
    found
}

/// How long a process has to live in order to last.
const A_WHILE: Duration = Duration::from_millis(50);

/// Like [`pids`], without processes that end within a moment: a server may start a process for each request, and `perf`
/// fails if one ends while it attaches. It follows what a process starts from then on.
pub async fn lasting_pids(pid: u32) -> Vec<u32> {
    let mut pids = pids(pid);
    if pids.len() > 1 {
        sleep(A_WHILE).await;
        pids.retain(|other| *other == pid || is_alive(*other));
    }
    pids
}

/// The process whose tree has all of these: the only one, or the closest that is an ancestor of all
/// others or one of them, and runs the same program, as the master of several workers does. `None` if
/// they are not related.
pub fn root_of(pids: &[u32]) -> Option<u32> {
    let program = |pid| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let same = |pid: &u32| {
        parent(*pid).filter(|parent| program(*parent).is_some_and(|one| Some(one) == program(*pid)))
    };
    let masters = |pid| std::iter::successors(Some(pid), same).collect::<Vec<_>>();
    let (first, others) = pids.split_first()?;
    let others: Vec<_> = others.iter().map(|pid| masters(*pid)).collect();
    masters(*first).into_iter().find(|pid| others.iter().all(|pids| pids.contains(pid)))
}

/// The program and the arguments of a process.
pub fn command(pid: u32) -> Option<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " ");
    (!line.is_empty()).then_some(line)
}

/// From now on, this process is the parent of all descendants whose own parents have ended. A program
/// that it becomes by `exec` goes on with that; its children do not.
///
/// A server that puts a helper into the background would lose it from its tree without this.
///
/// # Errors
///
/// If the system refuses. Systems other than Linux cannot do it, which is no error.
pub fn adopt_orphans() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)?;
    Ok(())
}

/// From now on, the system kills this process when its parent `parent` ends. A program that it becomes by
/// `exec` inherits that, unless it changes its user.
///
/// # Errors
///
/// If the parent has ended already, or the system refuses. Systems other than Linux cannot do it, which is no
/// error.
pub fn end_with_parent(parent: u32) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // The parent may have ended before the system was asked.
    if std::os::unix::process::parent_id() != parent {
        return Err(std::io::Error::other("the parent has ended"));
    }
    Ok(())
}

/// Whether a process runs. One that has ended and was not waited for does not. One whose state can't be read does, as
/// long as the system has it.
pub fn is_alive(pid: u32) -> bool {
    match state(&format!("/proc/{pid}")) {
        Some(state) => !matches!(state, 'Z' | 'X'),
        None => exists(pid),
    }
}

/// Whether the system has such a process. It may be somebody else's, and hide its files.
fn exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().map(Pid::from_raw);
    pid.is_some_and(|pid| kill(pid, None) != Err(Errno::ESRCH))
}

/// Whether all threads of a process sleep. Those of a process that has ended do.
pub fn is_asleep(pid: u32) -> bool {
    threads(pid).all(|thread| state(&thread).is_none_or(|state| state == 'S'))
}

/// The directories of a process's threads.
fn threads(pid: u32) -> impl Iterator<Item = String> {
    entries(format!("/proc/{pid}/task"))
}

fn entries(dir: String) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
    entries.map(move |entry| format!("{dir}/{}", entry.file_name().to_string_lossy()))
}

fn children(thread: &str) -> Vec<u32> {
    let list = text(format!("{thread}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The state letter of a process or thread.
fn state(dir: &str) -> Option<char> {
    stat(dir)?.chars().next()
}

fn parent(pid: u32) -> Option<u32> {
    stat(&format!("/proc/{pid}"))?.split(' ').nth(1)?.parse().ok()
}

/// The fields after the name of a process or thread, which may contain any character: the state, the parent and
/// so on.
fn stat(dir: &str) -> Option<String> {
    text(format!("{dir}/stat")).and_then(|stat| behind_name(&stat).map(str::to_owned))
}

/// Nothing behind the name has a parenthesis.
fn behind_name(stat: &str) -> Option<&str> {
    Some(stat.rsplit_once(") ")?.1)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A child that another test starts may have inherited the listener for a moment.
    #[test]
    fn a_listener_is_found_until_it_ends() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let this = std::process::id();
            let address = listener.local_addr().unwrap();
            assert!(listeners(this).unwrap().contains(&address));
            assert!(reached_at(address).unwrap().contains(&this) && is_taken(port) == Some(true));
            drop(listener);
            while listeners(this).unwrap().contains(&address) || is_taken(port) != Some(false) {
                std::thread::yield_now();
            }
            assert_eq!(reached_at(address), Some(vec![]));
        }
    }

    #[test]
    fn a_process_is_found_until_it_ends() {
        assert!(is_alive(std::process::id()) && !is_asleep(std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_alive(child.id()));
        assert!(pids(std::process::id()).contains(&child.id()));
        child.kill().unwrap();
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    /// Process names with difficult characters, and names that the kernel cuts within a character.
    const NAMES: [&str; 8] = [
        "server",
        "a) S 1 (b",
        "процессы",
        "数据库服务器",
        "töööööööö",
        ") ",
        "two\nlines",
        "VmHWM:\t1 kB",
    ];

    #[test]
    fn a_malformed_name_hides_nothing_that_follows_it() {
        malformed_input::inputs(NAMES, |name| {
            let name = &name[..name.len().min(15)];
            let stat = [&b"42 ("[..], name, b") S 1 42 0\n"].concat();
            assert_eq!(behind_name(&String::from_utf8_lossy(&stat)), Some("S 1 42 0\n"));
            // The kernel escapes line breaks there.
            let name: Vec<_> = name.iter().copied().filter(|byte| *byte != b'\n').collect();
            let status = [&b"Name:\t"[..], &name, b"\nPPid:\t1\nVmHWM:\t    2048 kB\n"].concat();
            assert_eq!(line_of(&String::from_utf8_lossy(&status), "VmHWM:"), Some("2048 kB"));
        });
    }

    #[test]
    fn a_process_with_any_name_is_alive_and_has_figures() {
        use std::os::unix::process::CommandExt as _;
        let dir = tempfile::tempdir().unwrap();
        let shell = fs::canonicalize("/bin/sh").unwrap();
        for name in NAMES {
            let program = dir.path().join(name);
            std::os::unix::fs::symlink(&shell, &program).unwrap();
            let mut command = std::process::Command::new(&program);
            // It waits for the end of its input.
            let command = command.arg0("sh").args(["-c", "read line"]);
            let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
            let pid = child.id();
            assert!(is_alive(pid) && parent(pid) == Some(std::process::id()), "{name}");
            assert!(peak_rss_mib(pid).is_some() && rss_mib(pid).is_some(), "{name}");
            assert!(CpuTime::of(pid).is_some(), "{name}");
            assert!(status(Path::new(&format!("/proc/{pid}")), "SigIgn:").is_some(), "{name}");
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!is_alive(pid) && peak_rss_mib(pid).is_none(), "{name}");
        }
    }

    #[tokio::test]
    async fn a_process_that_ends_at_once_does_not_last() {
        let this = std::process::id();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        // Until somebody asks for its status it is there.
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        assert!(pids(this).contains(&child.id()));
        let lasting = lasting_pids(this).await;
        assert!(lasting.contains(&this) && !lasting.contains(&child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_figures() {
        assert!(!is_alive(u32::MAX));
        assert!(is_asleep(u32::MAX));
        assert!(CpuTime::of(u32::MAX).is_none());
        assert_eq!(peak_rss_mib(u32::MAX), None);
        // Not of this process, whose other tests start children and stop them meanwhile.
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let [own, now, peak] =
            [anonymous_mib, rss_mib, peak_rss_mib].map(|of| of(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(0.0 < own && 0.0 < now && now <= peak, "{own}, and {now} of {peak}");
    }
}
