//! The server's memory over the CPU time that it uses. A leak grows with the work; a warm-up, and a cache with a limit,
//! come to an end.

use std::{cell::RefCell, collections::BTreeSet, path::PathBuf, time::Duration};

use lab_observation::LANGUAGES;
use lab_system::{
    System, memory,
    process::{self, CpuTime},
};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{WATCHED, stages::Loaded};

/// How long from one look to the next.
const LOOK: Duration = Duration::from_millis(100);
/// All load ends when the server has taken this share of the memory that was available before.
const MOST: f64 = 0.2;
/// Where little is available, a runtime that starts up may take this, in MiB, but not more than half.
const START_UP: f64 = 300.0;
/// Memory that may still be growing gets as much load again as it has had, about: a cache may end there.
const AGAIN: Duration = Duration::from_secs(10);
/// How long a server without load gets to give memory back.
const REST: Duration = Duration::from_secs(1);
/// Less growth than this is ignored. The limit of the rule is higher.
const MAY_GROW_MIB: f64 = 4.0;

/// The memory at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryLook {
    /// CPU seconds of the server since the first look.
    pub worked_s: f64,
    /// The memory in MiB, without the pages of files.
    pub used_mib: f64,
    pub mapped_mib: f64,
}

/// How the memory grew in the second half of the work, so after all users have connected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryTrend {
    pub grown_mib: f64,
    pub worked_s: f64,
    /// The least growth of a third of it, over the mean growth of a third.
    pub steadiness: f64,
}

impl MemoryTrend {
    /// `None` without work.
    pub fn of(looks: &[MemoryLook]) -> Option<Self> {
        let end = looks.last().filter(|look| look.worked_s > 0.0)?;
        // What was there when this work had been done.
        let after = |worked_s: f64| {
            let next = looks.partition_point(|look| look.worked_s <= worked_s);
            looks[next.saturating_sub(1)].used_mib
        };
        let marks = [3.0, 4.0, 5.0].map(|sixths| after(end.worked_s * sixths / 6.0));
        let marks = [marks[0], marks[1], marks[2], end.used_mib];
        let grown_mib = marks[3] - marks[0];
        let least = marks.windows(2).map(|marks| marks[1] - marks[0]).fold(f64::INFINITY, f64::min);
        let steadiness = if grown_mib > 0.0 { 3.0 * least / grown_mib } else { 0.0 };
        Some(Self { grown_mib, worked_s: end.worked_s / 2.0, steadiness })
    }

    fn may_go_on(self) -> bool {
        self.grown_mib >= MAY_GROW_MIB && self.steadiness > 0.0
    }
}

/// Looks at the memory while load runs.
#[derive(Debug)]
pub struct MemoryLog {
    pid: u32,
    start: Option<CpuTime>,
    /// How much the server may grow.
    most_mib: f64,
    looks: RefCell<Vec<MemoryLook>>,
    /// Whether it maps its heap before it uses it.
    pub maps_early: bool,
}

impl MemoryLog {
    pub fn begin(pid: u32) -> Self {
        let available = memory::available_mib(&System::this(), &pid.to_string());
        // A program that several processes run is read once.
        let exe = |pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let programs: BTreeSet<_> = process::pids(pid).into_iter().filter_map(exe).collect();
        let language = |program: &PathBuf| LANGUAGES.of_program(program);
        let maps_early = programs.iter().filter_map(language).any(|language| language.maps_early);
        let log = Self {
            pid,
            start: CpuTime::of(pid),
            most_mib: available.map_or(f64::INFINITY, most_mib),
            looks: RefCell::default(),
            maps_early,
        };
        log.look();
        log
    }

    pub fn looks(&self) -> Vec<MemoryLook> {
        self.looks.borrow().clone()
    }

    fn look(&self) {
        let look = || {
            Some(MemoryLook {
                worked_s: CpuTime::of(self.pid)?.about(self.start.as_ref()?).as_secs_f64(),
                used_mib: process::anonymous_mib(self.pid)?,
                mapped_mib: process::mapped_mib(self.pid)?,
            })
        };
        self.looks.borrow_mut().extend(look());
    }

    fn grown_mib(&self) -> f64 {
        match self.looks.borrow()[..] {
            [first, .., last] => last.used_mib - first.used_mib,
            _ => 0.0,
        }
    }

    /// The end of a load during which the memory is looked at. `None` if the server takes too much for the machine:
    /// then the load has ended, and none begins any more.
    pub async fn during<T>(&self, load: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.takes_too_much() => None,
            done = load => Some(done),
        }
    }

    async fn takes_too_much(&self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while self.grown_mib() < self.most_mib {
            ticks.tick().await;
            self.look();
        }
    }

    /// Why there is no more load, in words.
    pub fn too_much(&self) -> anyhow::Error {
        anyhow::anyhow!(
            "the load ended early, because the server's memory grew by {:.0} MiB, and {:.0} MiB is the most that `lab` \
             lets it take here",
            self.grown_mib(),
            self.most_mib
        )
    }
}

/// How much a server may take of the memory that is available.
fn most_mib(available_mib: f64) -> f64 {
    (MOST * available_mib).max(START_UP.min(available_mib / 2.0))
}

impl Loaded<'_> {
    /// Whether memory grows on, if it may, and whether it stays without load.
    pub(super) async fn memory_to_its_end(&self) -> anyhow::Result<()> {
        if !MemoryTrend::of(&self.memory.looks()).is_some_and(MemoryTrend::may_go_on) {
            return Ok(());
        }
        self.triage.progress.step("whether its memory grows on");
        let load = self.load(WATCHED, Duration::ZERO, AGAIN);
        self.memory.during(lab_measure::bench::generate(&load)).await.transpose()?;
        sleep(REST).await;
        self.memory.look();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_may_start_up_where_little_memory_is_available() {
        let most = [20_000.0, 800.0, 100.0, 0.0].map(most_mib);
        assert_eq!(most, [4_000.0, 300.0, 50.0, 0.0]);
    }

    /// A look after each second of work.
    fn looks(used_mib: &[f64]) -> Vec<MemoryLook> {
        let look = |(second, used): (usize, &f64)| MemoryLook {
            worked_s: second as f64,
            used_mib: *used,
            mapped_mib: *used,
        };
        used_mib.iter().enumerate().map(look).collect()
    }

    fn trend(used_mib: &[f64]) -> MemoryTrend {
        MemoryTrend::of(&looks(used_mib)).unwrap()
    }

    #[test]
    fn a_leak_grows_with_the_work_and_a_cache_or_a_warm_up_ends() {
        let leak: Vec<_> = (0..13).map(|second| 50.0 + 20.0 * f64::from(second)).collect();
        let found = trend(&leak);
        assert_eq!(found, MemoryTrend { grown_mib: 120.0, worked_s: 6.0, steadiness: 1.0 });
        assert!(found.may_go_on());
        for (name, used_mib) in [
            (
                "a warm-up",
                [50.0, 70.0, 80.0, 85.0, 88.0, 90.0, 91.0, 91.0, 91.0, 91.0, 91.0, 91.0, 91.0],
            ),
            (
                "a cache",
                [
                    50.0, 70.0, 90.0, 110.0, 130.0, 150.0, 170.0, 190.0, 200.0, 200.0, 200.0,
                    200.0, 200.0,
                ],
            ),
            (
                "a heap",
                [50.0, 90.0, 50.0, 90.0, 50.0, 90.0, 50.0, 90.0, 50.0, 90.0, 50.0, 90.0, 50.0],
            ),
            (
                "one that shrinks",
                [90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 9.0, 8.0, 7.0, 6.0],
            ),
        ] {
            assert!(!trend(&used_mib).may_go_on(), "{name}: {:?}", trend(&used_mib));
        }
        assert_eq!(MemoryTrend::of(&looks(&[50.0])), None);
        assert_eq!(MemoryTrend::of(&[]), None);
    }

    #[test]
    fn what_comes_back_without_load_is_no_growth() {
        let mut backlog = looks(&[0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert!(MemoryTrend::of(&backlog).unwrap().may_go_on());
        let rest = MemoryLook { used_mib: 5.0, ..backlog[6] };
        backlog.push(rest);
        assert!(!MemoryTrend::of(&backlog).unwrap().may_go_on());
    }

    #[tokio::test]
    async fn load_ends_before_the_machine_is_in_danger() {
        let log = MemoryLog { most_mib: f64::INFINITY, ..MemoryLog::begin(std::process::id()) };
        assert_eq!(log.during(async { 7 }).await, Some(7));
        let full = MemoryLog { most_mib: -1e9, ..log };
        assert_eq!(full.during(std::future::pending::<u8>()).await, None);
        assert_eq!(full.during(async { 7 }).await, None, "none begins any more");
    }
}
