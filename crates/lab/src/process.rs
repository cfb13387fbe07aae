//! What the operating system says of a running process.
//!
//! Read from `/proc`; on other systems than Linux the figures are absent, not wrong.

use std::time::Duration;

/// The CPU time that a process and its descendants have used so far, over all their threads, with
/// nanosecond resolution.
///
/// Taken from the scheduler's own account of each thread: the usual `utime` and `stime` tick in
/// 10 ms, which is more than an idle server uses in a whole run.
#[cfg(target_os = "linux")]
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let mut total = None;
    for process in family(pid) {
        let Ok(threads) = process.tasks() else { continue };
        for thread in threads.flatten() {
            if let Ok(account) = thread.schedstat() {
                *total.get_or_insert(Duration::ZERO) +=
                    Duration::from_nanos(account.sum_exec_runtime);
            }
        }
    }
    total
}

/// The most memory that a process and its descendants ever held, in MiB: the sum of each one's
/// `VmHWM`, so that pages which they share count more than once.
#[cfg(target_os = "linux")]
pub fn peak_rss_mib(pid: u32) -> Option<f64> {
    let peaks = family(pid).into_iter().filter_map(|process| process.status().ok()?.vmhwm);
    peaks.map(|kib| kib as f64 / 1024.0).reduce(|sum, peak| sum + peak)
}

/// The child that a process started first.
#[cfg(target_os = "linux")]
pub fn first_child(pid: u32) -> Option<u32> {
    let process = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?;
    process.tasks().ok()?.flatten().find_map(|thread| thread.children().ok()?.first().copied())
}

/// A process and its descendants: a server may have been started through a shell or another tool,
/// or do its work in children.
#[cfg(target_os = "linux")]
fn family(pid: u32) -> Vec<procfs::process::Process> {
    let mut found = Vec::new();
    let mut wanted = vec![pid];
    while let Some(pid) = wanted.pop() {
        let process =
            i32::try_from(pid).ok().and_then(|pid| procfs::process::Process::new(pid).ok());
        let Some(process) = process else { continue };
        if let Ok(threads) = process.tasks() {
            wanted.extend(threads.flatten().filter_map(|thread| thread.children().ok()).flatten());
        }
        found.push(process);
    }
    found
}

/// Whether `pid` or a descendant of it listens on `port`: `None` where that cannot be seen.
///
/// A benchmark that reaches another server than it started measures nothing, and does so silently.
#[cfg(target_os = "linux")]
pub fn listens_on(pid: u32, port: u16) -> Option<bool> {
    use procfs::{net, process::FDTarget};
    let listeners = net::tcp().ok()?.into_iter().chain(net::tcp6().unwrap_or_default());
    let inodes: Vec<u64> = listeners
        .filter(|entry| entry.state == net::TcpState::Listen && entry.local_address.port() == port)
        .map(|entry| entry.inode)
        .collect();
    let is_listener = |fd: procfs::process::FDInfo| match fd.target {
        FDTarget::Socket(inode) => inodes.contains(&inode),
        _ => false,
    };
    let descriptors = family(pid).into_iter().filter_map(|process| process.fd().ok());
    Some(descriptors.flatten().flatten().any(is_listener))
}

/// See the Linux variant.
#[cfg(not(target_os = "linux"))]
pub fn cpu_time(_pid: u32) -> Option<Duration> {
    None
}

/// See the Linux variant.
#[cfg(not(target_os = "linux"))]
pub fn peak_rss_mib(_pid: u32) -> Option<f64> {
    None
}

/// See the Linux variant.
#[cfg(not(target_os = "linux"))]
pub fn first_child(_pid: u32) -> Option<u32> {
    None
}

/// See the Linux variant.
#[cfg(not(target_os = "linux"))]
pub fn listens_on(_pid: u32, _port: u16) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work() {
        let before = cpu_time(std::process::id()).unwrap();
        let mut sum = 0_u64;
        // Counted work, not timed: enough of it to be seen at nanosecond resolution.
        for i in 0..5_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
        }
        assert!(cpu_time(std::process::id()).unwrap() > before);
    }

    #[test]
    fn a_listener_is_told_from_a_stranger() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(listens_on(std::process::id(), port), Some(true));
        drop(listener);
        assert_eq!(listens_on(std::process::id(), port), Some(false));
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_figures() {
        assert_eq!(cpu_time(u32::MAX), None);
        assert_eq!(peak_rss_mib(u32::MAX), None);
    }
}
