//! The CPU time of a process and its descendants, including those that have ended.
//!
//! The CPU clock of a process counts in nanoseconds and includes threads that have ended. A child
//! that ends takes its clock along, and its parent gets the sum when it waits for the child: the
//! `cutime` and `cstime` of the parent, which are shown in steps of 10 ms. Both together neither lose
//! nor count anything twice:
//!
//! ```text
//! CPU time = clocks of all living processes + what each has inherited from children it waited for
//! ```
//!
//! There is no figure where this is not exact:
//! - Children end so often that no reading is consistent, or the steps of 10 ms are too coarse.
//! - A process ignores SIGCHLD: the system then drops the times of its children.
//! - A process can't be read.
//! - A process of the first reading has left the family, or has ended and its parent did not wait.
//!
//! A descendant that both starts and leaves the family between the two readings goes unseen.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{is_alive, pids};

/// The CPU time of a process and its descendants so far. Only differences have a meaning.
#[derive(Clone, Debug)]
pub struct CpuTime(BTreeMap<Id, ProcessTimes>);

/// A process number may be used again, so the second part is when the process started.
type Id = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct ProcessTimes {
    /// The CPU time of the process's living and ended threads.
    clock: Duration,
    /// The CPU time of the children that the process waited for.
    inherited: Duration,
    /// The page faults of those children. Any child has some, so they show that one was waited for.
    faults: u64,
    ignores_children: bool,
}

/// The unit of time in `/proc/PID/stat`: USER_HZ is 100 on every architecture that Rust supports.
#[cfg(target_os = "linux")]
const TICK: Duration = Duration::from_millis(10);
/// By how much the difference of two inherited times may be off: each is a sum of two rounded ones.
const ROUNDING: Duration = Duration::from_millis(20);
/// The largest share of a figure that may be due to rounding, as a divisor: 5 %.
const MOST_ROUNDING: u32 = 20;
/// How often a family is read until no process was waited for meanwhile.
const TRIES: usize = 5;

impl CpuTime {
    /// Reads the CPU time of `pid` and its descendants; `None` if it does not exist or the system does
    /// not report it.
    pub fn of(pid: u32) -> Option<Self> {
        let mut latest = Self::read(pid)?;
        for _ in 0..TRIES {
            let again = Self::read(pid)?;
            if latest.0.iter().all(|(id, process)| again.faults(id) == Some(process.faults)) {
                return Some(latest);
            }
            latest = again;
        }
        None
    }

    fn read(pid: u32) -> Option<Self> {
        let mut family = BTreeMap::new();
        for pid in pids(pid) {
            match read(pid) {
                Some((id, process)) => drop(family.insert(id, process)),
                None if is_alive(pid) => return None,
                None => {}
            }
        }
        family.keys().any(|id| id.0 == pid).then_some(Self(family))
    }

    fn faults(&self, id: &Id) -> Option<u64> {
        Some(self.0.get(id)?.faults)
    }

    fn inherited(&self) -> Duration {
        self.0.values().map(|process| process.inherited).sum()
    }

    fn total(&self) -> Duration {
        self.0.values().map(|process| process.clock).sum::<Duration>() + self.inherited()
    }

    /// The CPU time used since an earlier reading, as far as the system shows it.
    pub fn about(&self, earlier: &Self) -> Duration {
        self.total().saturating_sub(earlier.total())
    }

    /// The CPU time used since an earlier reading; `None` if that is not known exactly.
    pub fn since(&self, earlier: &Self) -> Option<Duration> {
        let ids: BTreeSet<_> = self.0.keys().chain(earlier.0.keys()).collect();
        let faults = |times: &Self, id| times.faults(id).unwrap_or_default();
        let changed = ids.iter().filter(|id| faults(self, id) != faults(earlier, id)).count();
        let rounding = ROUNDING * changed as u32;

        let gone: Vec<_> = earlier.0.iter().filter(|(id, _)| !self.0.contains_key(id)).collect();
        let owed: Duration = gone.iter().map(|(_, process)| process.clock).sum();
        let is_inherited = self.inherited() + rounding >= earlier.inherited() + owed
            && gone.iter().all(|(id, _)| read(id.0).is_none_or(|(other, _)| other != **id));
        let drops_children = self.0.values().any(|process| process.ignores_children);

        let used = self.total().checked_sub(earlier.total())?;
        let is_exact = is_inherited && !drops_children && rounding * MOST_ROUNDING <= used;
        is_exact.then_some(used)
    }
}

#[cfg(target_os = "linux")]
fn read(pid: u32) -> Option<(Id, ProcessTimes)> {
    let stat = super::stat(&format!("/proc/{pid}"))?;
    let clock = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    let clock = nix::time::ClockId::pid_cpu_clock_id(clock).ok()?.now().ok()?.into();
    let (started, process) = parse(&stat, clock)?;
    Some(((pid, started), process))
}

/// When a process started, and what it used, from its `stat` behind its name.
#[cfg(target_os = "linux")]
fn parse(stat: &str, clock: Duration) -> Option<(u64, ProcessTimes)> {
    // `proc(5)` numbers them from 1, and the name is the second.
    let fields: Vec<_> = stat.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(16)?.checked_add(field(17)?)?;
    let process = ProcessTimes {
        clock,
        inherited: TICK * u32::try_from(ticks).ok()?,
        faults: field(11)?,
        ignores_children: field(33)? >> (nix::sys::signal::Signal::SIGCHLD as u32 - 1) & 1 == 1,
    };
    Some((field(22)?, process))
}

#[cfg(not(target_os = "linux"))]
fn read(_: u32) -> Option<(Id, ProcessTimes)> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const STAT: &str = "S 1 42 42 0 -1 4194304 2000 900 0 0 11 5 7 3 20 0 2 0 81234 1000000 300 \
                        18446744073709551615 1 1 0 0 0 0 65536 4096 1260 0 0 0 17 1 0 0";

    #[test]
    fn a_stat_says_what_was_inherited_and_whether_the_times_of_children_are_dropped() {
        let (started, process) = parse(STAT, Duration::ZERO).unwrap();
        assert_eq!((started, process.faults), (81_234, 900));
        assert_eq!(process.inherited, Duration::from_millis(100));
        assert!(!process.ignores_children, "it blocks SIGCHLD and ignores SIGPIPE");
        let ignoring = STAT.replace(" 4096 1260", " 69632 1260");
        assert!(parse(&ignoring, Duration::ZERO).unwrap().1.ignores_children);
    }

    #[test]
    fn a_malformed_stat_has_no_figure_but_its_own() {
        malformed_input::texts([STAT], |stat| {
            let Some((started, process)) = parse(stat, Duration::ZERO) else { return };
            let numbers: Vec<_> = stat.split(' ').map(|word| word.parse::<u64>().ok()).collect();
            for figure in [started, process.faults] {
                assert!(numbers.contains(&Some(figure)), "{figure}");
            }
            let sum = |pair: &[Option<u64>]| pair[0]?.checked_add(pair[1]?);
            let ticks = (process.inherited.as_millis() / TICK.as_millis()) as u64;
            assert!(numbers.windows(2).any(|pair| sum(pair) == Some(ticks)), "{ticks}");
        });
    }
}
