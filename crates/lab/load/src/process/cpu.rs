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
//! There are cases in which this is not the truth, and then there is no figure:
//! - The steps of 10 ms are too coarse for what was used. They only matter if children ended between
//!   the two readings. The page faults of waited-for children, an exact count, show whether any did.
//! - A process ignores SIGCHLD: the system then drops the times of its children.
//! - A descendant that was there at the first reading is gone, and its parent has inherited too
//!   little; or it still runs and has left the family, as a daemon does.
//!
//! A descendant that both starts and leaves the family between the two readings goes unseen.

use std::{collections::BTreeMap, fs, iter::successors, time::Duration};

use super::pids;

/// What a process and its descendants have used so far. Only differences have a meaning.
#[derive(Clone, Debug)]
pub struct CpuTime(BTreeMap<u32, Process>);

#[derive(Clone, Copy, Debug)]
struct Process {
    pid: u32,
    parent: u32,
    /// When it started. A process number may be used again.
    born: u64,
    /// What its living and ended threads have used.
    clock: Duration,
    /// What the children that it waited for have used, and their page faults.
    inherited: Duration,
    faults: u64,
    ignores_children: bool,
}

/// The unit of time in `/proc/PID/stat`: USER_HZ is 100 on every architecture that Rust supports.
const TICK: Duration = Duration::from_millis(10);
/// By how much the difference of two inherited times may be off: each is a sum of two rounded ones.
const ROUNDING: Duration = TICK.saturating_mul(2);
/// The largest share of a figure that may be due to rounding. Two thirds of all figures are off by
/// less than a third of that.
const MOST_ROUNDING: f64 = 0.05;
/// How often a family is read until no child was waited for meanwhile. If that never succeeds, the
/// figure is off by the CPU time of the few children that ended during one reading.
const TRIES: usize = 5;

impl CpuTime {
    /// Reads the CPU time of `pid` and its descendants; `None` if it does not exist or the system does
    /// not report it.
    pub fn of(pid: u32) -> Option<Self> {
        let mut latest = Self::read(pid)?;
        for _ in 1..TRIES {
            let again = Self::read(pid)?;
            let settled = latest.0.iter().all(|(pid, process)| {
                again.get(*pid, process).is_some_and(|it| it.faults == process.faults)
            });
            if settled {
                break;
            }
            latest = again;
        }
        Some(latest)
    }

    fn read(pid: u32) -> Option<Self> {
        let family = pids(pid).into_iter().filter_map(|pid| Some((pid, Process::read(pid)?)));
        let family: BTreeMap<_, _> = family.collect();
        family.contains_key(&pid).then_some(Self(family))
    }

    /// The same process in this reading.
    fn get(&self, pid: u32, process: &Process) -> Option<&Process> {
        self.0.get(&pid).filter(|it| it.born == process.born)
    }

    fn total(&self) -> Duration {
        self.0.values().map(Process::total).sum()
    }

    /// The CPU time used since an earlier reading; `None` if that is not known exactly.
    pub fn since(&self, earlier: &Self) -> Option<Duration> {
        let used = self.total().checked_sub(earlier.total())?;
        if self.0.values().any(|process| process.ignores_children) || !earlier.is_inherited(self) {
            return None;
        }
        // A process that is new or gone counts as one without children at the other reading.
        let faults =
            |family: &Self, pid, it: &Process| family.get(pid, it).map_or(0, |it| it.faults);
        let differ =
            |(pid, it): &(&u32, &Process)| faults(self, **pid, it) != faults(earlier, **pid, it);
        let gone = earlier.0.iter().filter(|(pid, it)| self.get(**pid, it).is_none());
        let inexact = self.0.iter().chain(gone).filter(differ).count();
        let rounding = ROUNDING.as_secs_f64() * inexact as f64;
        (rounding <= used.as_secs_f64() * MOST_ROUNDING).then_some(used)
    }

    /// Whether the times of all processes that are gone in a later reading went to an ancestor.
    fn is_inherited(&self, later: &Self) -> bool {
        let mut owed: BTreeMap<u32, Duration> = BTreeMap::new();
        for (pid, process) in &self.0 {
            if later.get(*pid, process).is_some() {
                continue;
            }
            if Process::read(*pid).is_some_and(|it| it.born == process.born) {
                return false; // It has another parent now.
            }
            let ancestors = successors(self.0.get(&process.parent), |it| self.0.get(&it.parent));
            let mut survivors = ancestors.filter(|it| later.get(it.pid, it).is_some());
            let Some(heir) = survivors.next() else { return false };
            *owed.entry(heir.pid).or_default() += process.total();
        }
        owed.into_iter().all(|(heir, owed)| {
            later.0[&heir].inherited + ROUNDING >= self.0[&heir].inherited + owed
        })
    }
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, which may contain anything, is the second field. `proc(5)` numbers them from 1.
        let fields: Vec<_> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            pid,
            parent: u32::try_from(field(4)?).ok()?,
            born: field(22)?,
            clock: clock(pid)?,
            inherited: TICK * u32::try_from(field(16)? + field(17)?).ok()?,
            faults: field(11)?,
            ignores_children: ignores_children(pid)?,
        })
    }

    fn total(&self) -> Duration {
        self.clock + self.inherited
    }
}

#[cfg(target_os = "linux")]
fn clock(pid: u32) -> Option<Duration> {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    Some(nix::time::ClockId::pid_cpu_clock_id(pid).ok()?.now().ok()?.into())
}

#[cfg(not(target_os = "linux"))]
fn clock(_: u32) -> Option<Duration> {
    None
}

fn ignores_children(pid: u32) -> Option<bool> {
    /// 17 on every architecture that Rust supports but MIPS.
    const SIGCHLD: u32 = 17;
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored >> (SIGCHLD - 1) & 1 == 1)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        process::{Command, Stdio},
    };

    use super::*;
    use crate::process::is_alive;

    /// What is known of a program's CPU time between its first and its second line. It prints a line
    /// for each that it gets.
    fn between_lines(program: &str, args: &[&str]) -> Option<Duration> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut reading = || {
            child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            CpuTime::of(child.id()).unwrap()
        };
        let (before, after) = (reading(), reading());
        let used = after.since(&before);
        child.wait().unwrap();
        for pid in before.0.keys().filter(|pid| is_alive(**pid)) {
            Command::new("kill").arg(pid.to_string()).status().unwrap();
        }
        used
    }

    #[test]
    fn there_is_no_figure_where_it_would_be_wrong() {
        assert!(between_lines("cat", &[]).is_some());
        assert_eq!(between_lines("env", &["--ignore-signal=CHLD", "cat"]), None);
        let short_child = "read a; echo; read b; sh -c :; echo; read c";
        assert_eq!(between_lines("sh", &["-c", short_child]), None);
        let daemon = "read a; sh -c 'sleep 60 & echo; read b'; echo; read c";
        assert_eq!(between_lines("sh", &["-c", daemon]), None);
    }
}
