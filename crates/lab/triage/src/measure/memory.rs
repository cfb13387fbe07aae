//! The server's memory over the visits that it answers. A leak grows with them; a warm-up, and a cache with a limit, come
//! to an end.

mod history;
mod visits;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    path::PathBuf,
    time::Duration,
};

use lab_observation::LANGUAGES;
use lab_protocol::Outcome;
use lab_system::{
    System, memory,
    process::{self, CpuTime},
};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{WATCHED, stages::Loaded};
pub use history::MemoryLook;
pub use history::{MemoryGrowth, MemoryHistory, MemoryVerdict};
use visits::{VisitCost, WorkLook, over_visits};

/// How long from one look to the next.
const LOOK: Duration = Duration::from_millis(100);
/// All load ends when the server has taken this share of the memory that was available before.
const MOST: f64 = 0.2;
/// Where little is available, a runtime that starts up may take this, in MiB, but not more than half.
const START_UP: f64 = 300.0;
/// Memory that may still be growing gets as much load again as it has had, about: a cache may end there.
const AGAIN: Duration = Duration::from_secs(10);
/// If that does not tell, it gets what would, up to this. A longer load is the user's decision.
const LONGEST: f64 = 20.0;
/// How long a server without load gets to give memory back.
const REST: Duration = Duration::from_secs(1);

/// Looks at the memory while load runs.
#[derive(Debug)]
pub struct MemoryLog {
    pid: u32,
    start: Option<CpuTime>,
    /// How much the server may grow.
    most_mib: f64,
    looks: RefCell<Vec<WorkLook>>,
    /// One for each load so far that says it.
    costs: RefCell<Vec<VisitCost>>,
    /// What stayed without load, at the latest such look.
    rest_mib: Cell<Option<f64>>,
    visits_per_s: Cell<Option<f64>>,
    maps_early: bool,
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
            costs: RefCell::default(),
            rest_mib: Cell::default(),
            visits_per_s: Cell::default(),
            maps_early,
        };
        log.look();
        log
    }

    pub fn history(&self) -> MemoryHistory {
        MemoryHistory {
            looks: over_visits(&self.looks.borrow(), &self.costs.borrow()),
            rest_mib: self.rest_mib.get(),
            visits_per_s: self.visits_per_s.get(),
            maps_early: self.maps_early,
        }
    }

    /// Learns from the load that has just ended what a visit costs: CPU time, and the visits that it was for.
    pub fn learn(&self, cpu: Option<Duration>, visits: u64) {
        let cost = || {
            let worked = CpuTime::of(self.pid)?.about(self.start.as_ref()?);
            VisitCost::of(cpu?, visits, worked)
        };
        self.costs.borrow_mut().extend(cost());
    }

    pub fn learn_of(&self, load: &Outcome) {
        self.learn(load.server_cpu, load.ok_in_time);
    }

    fn look(&self) {
        let look = || {
            Some(WorkLook {
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
        let mut lengths = vec![AGAIN];
        while let Some(length) = lengths.pop() {
            if !self.memory.history().may_go_on() {
                break;
            }
            self.triage.progress.step("whether its memory grows on");
            let is_first = self.memory.visits_per_s.get().is_none();
            let load = self.load(WATCHED, Duration::ZERO, length);
            let load = lab_measure::bench::generate(&load);
            let Some(outcome) = self.memory.during(load).await.transpose()? else { break };
            self.memory.learn_of(&outcome);
            sleep(REST).await;
            self.memory.look();
            let rest_mib = self.memory.looks.borrow().last().map(|look| look.used_mib);
            self.memory.rest_mib.set(rest_mib);
            self.memory.visits_per_s.set(Some(outcome.throughput()).filter(|per_s| *per_s > 0.0));
            let lacking = self.memory.history().lacking_s();
            let enough = lacking.filter(|seconds| is_first && *seconds <= LONGEST);
            lengths.extend(enough.map(|seconds| AGAIN.max(Duration::from_secs_f64(seconds))));
        }
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

    #[tokio::test]
    async fn load_ends_before_the_machine_is_in_danger() {
        let log = MemoryLog { most_mib: f64::INFINITY, ..MemoryLog::begin(std::process::id()) };
        assert_eq!(log.during(async { 7 }).await, Some(7));
        let full = MemoryLog { most_mib: -1e9, ..log };
        assert_eq!(full.during(std::future::pending::<u8>()).await, None);
        assert_eq!(full.during(async { 7 }).await, None, "none begins any more");
    }
}
