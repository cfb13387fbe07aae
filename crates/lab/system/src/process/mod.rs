//! What the operating system reports about a running process, read from `/proc`.
//!
//! On systems other than Linux the figures are absent, not wrong.

mod cpu;
mod sockets;

use std::{fs, path::Path, time::Duration};

use tokio::time::sleep;

pub use cpu::CpuTime;
pub use sockets::{
    is_taken, listeners, outbound_connections, reached_at, refused_connections, round_trips,
    unix_listener,
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
        let times = fs::read_to_string(thread + "/schedstat").ok()?;
        let mut times = times.split(' ').map_while(|time| time.parse::<u64>().ok());
        Some((times.next()?, times.next()?))
    });
    let (ran, waited) = threads.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Without scheduler statistics all times are zero.
    (ran > 0).then_some(Duration::from_nanos(waited))
}

/// The peak memory of a process and its descendants, in MiB: the sum of each one's `VmHWM`, so pages
/// that they share count more than once.
pub fn peak_rss_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmHWM:")
}

/// Their memory now, in MiB: the sum of each one's `VmRSS`.
pub fn rss_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmRSS:")
}

/// Their memory now without the pages of files, in MiB: what only they can give back.
pub fn anonymous_mib(pid: u32) -> Option<f64> {
    of_status(pid, "RssAnon:")
}

/// What of their memory they have mapped for data, in MiB, whether they use it or not.
pub fn mapped_mib(pid: u32) -> Option<f64> {
    of_status(pid, "VmData:")
}

/// The sum of a line of `status` over a process and its descendants.
fn of_status(pid: u32, name: &str) -> Option<f64> {
    let sizes = pids(pid).into_iter().filter_map(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let size = status.lines().find_map(|line| line.strip_prefix(name))?;
        size.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    });
    sizes.map(|kib| kib / 1024.0).reduce(|sum, size| sum + size)
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

/// The same without those that end within a moment: a server may start a process for each request, and `perf`
/// fails if one ends while it attaches. It follows what a process starts from then on.
pub async fn lasting_pids(pid: u32) -> Vec<u32> {
    let mut pids = pids(pid);
    if pids.len() > 1 {
        sleep(A_WHILE).await;
        pids.retain(|it| *it == pid || is_alive(*it));
    }
    pids
}

/// The process whose tree has all of these: the only one, or the closest that is an ancestor of all
/// others or one of them, and runs the same program, as the master of several workers does. `None` if
/// they are not related.
pub fn root_of(pids: &[u32]) -> Option<u32> {
    let program = |pid| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let same = |pid: &u32| {
        parent(*pid).filter(|it| program(*it).is_some_and(|one| Some(one) == program(*pid)))
    };
    let masters = |pid| std::iter::successors(Some(pid), same).collect::<Vec<_>>();
    let (first, others) = pids.split_first()?;
    let others: Vec<_> = others.iter().map(|pid| masters(*pid)).collect();
    masters(*first).into_iter().find(|pid| others.iter().all(|it| it.contains(pid)))
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

/// Whether a process runs. One that has ended and was not waited for does not.
///
/// Always true on systems that do not show it: the parent learns when the process ends.
pub fn is_alive(pid: u32) -> bool {
    match state(&format!("/proc/{pid}")) {
        Some(state) => !matches!(state, 'Z' | 'X'),
        None => !Path::new("/proc/self").exists(),
    }
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
    let list = fs::read_to_string(format!("{thread}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The state letter of a process or thread.
fn state(dir: &str) -> Option<char> {
    stat(dir)?.chars().next()
}

fn parent(pid: u32) -> Option<u32> {
    stat(&format!("/proc/{pid}"))?.split(' ').nth(1)?.parse().ok()
}

/// What follows the name of a process or thread, which may contain anything: the state, the parent and
/// so on.
fn stat(dir: &str) -> Option<String> {
    let stat = fs::read_to_string(format!("{dir}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A child that another test starts may have inherited the listener for a moment.
    #[test]
    fn processes_and_listeners_are_found_until_they_end() {
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
