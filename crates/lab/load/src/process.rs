//! What the operating system says of a running process.
//!
//! Read from `/proc`; on other systems than Linux the figures are absent, not wrong.

use std::time::Duration;

/// What the scheduler has given to a process so far, over all its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoreTime {
    /// How long they ran: the CPU time, with nanosecond resolution.
    pub used: Duration,
    /// How long they were ready to run and had no core.
    pub waited: Duration,
}

/// The core time of a process and its descendants.
///
/// Taken from the scheduler's own account of each thread: the usual `utime` and `stime` tick in
/// 10 ms, which is more than an idle server uses in a whole run.
#[cfg(target_os = "linux")]
pub fn core_time(pid: u32) -> Option<CoreTime> {
    let mut total = None;
    for process in family(pid) {
        let Ok(threads) = process.tasks() else { continue };
        for thread in threads.flatten() {
            if let Ok(account) = thread.schedstat() {
                let total = total.get_or_insert(CoreTime::default());
                total.used += Duration::from_nanos(account.sum_exec_runtime);
                total.waited += Duration::from_nanos(account.run_delay);
            }
        }
    }
    total
}

/// The CPU time of all child processes that have ended and were waited for.
#[cfg(target_os = "linux")]
pub fn children_cpu_time() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let time = |time: nix::sys::time::TimeVal| {
        let seconds = Duration::from_secs(u64::try_from(time.tv_sec()).ok()?);
        Some(seconds + Duration::from_micros(u64::try_from(time.tv_usec()).ok()?))
    };
    Some(time(usage.user_time())? + time(usage.system_time())?)
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

/// The process ids of a process and its descendants, its own first.
#[cfg(target_os = "linux")]
pub fn pids(pid: u32) -> Vec<u32> {
    family(pid).iter().filter_map(|process| u32::try_from(process.pid).ok()).collect()
}

/// Whether a process runs: one that has ended and was not waited for yet does not.
#[cfg(target_os = "linux")]
pub fn is_alive(pid: u32) -> bool {
    let process = i32::try_from(pid).ok().and_then(|pid| procfs::process::Process::new(pid).ok());
    let state = process.and_then(|process| process.stat().ok()).map(|stat| stat.state);
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
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
pub fn core_time(_pid: u32) -> Option<CoreTime> {
    None
}

/// See the Linux variant.
#[cfg(not(target_os = "linux"))]
pub fn children_cpu_time() -> Option<Duration> {
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

/// The process id alone: descendants cannot be seen here.
#[cfg(not(target_os = "linux"))]
pub fn pids(pid: u32) -> Vec<u32> {
    vec![pid]
}

/// Always, as it cannot be seen here: whoever started the process learns of its end.
#[cfg(not(target_os = "linux"))]
pub fn is_alive(_pid: u32) -> bool {
    true
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
        // A thread that ends takes its time along, and those of other tests may end at any moment;
        // so one try that shows the work is enough.
        let grows = || {
            let before = core_time(std::process::id()).unwrap();
            let mut sum = 0_u64;
            // Counted work, not timed: enough of it to be seen at nanosecond resolution.
            for i in 0..5_000_000_u64 {
                sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
            }
            core_time(std::process::id()).unwrap().used > before.used
        };
        assert!((0..100).any(|_| grows()));
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
    fn a_process_that_has_ended_does_not_live_even_before_it_is_waited_for() {
        assert!(is_alive(std::process::id()));
        assert_eq!(pids(std::process::id()).first(), Some(&std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_alive(child.id()));
        child.kill().unwrap();
        while is_alive(child.id()) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_figures() {
        assert!(!is_alive(u32::MAX));
        assert_eq!(core_time(u32::MAX), None);
        assert_eq!(peak_rss_mib(u32::MAX), None);
    }
}
