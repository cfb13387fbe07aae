//! The share of the processors that other programs use during a run: one reading before the run, and one after it.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use lab_report::Neighbours;
use lab_servers::Server;
use lab_system::{
    Processors, System,
    process::{self, CpuTime},
    quota,
};

/// The readings from before a run.
pub struct NeighbourMeter {
    processors: Option<Processors>,
    /// The control groups of `lab`, and the others in which the server is, with how long they were stopped.
    groups: [(BTreeSet<PathBuf>, f64); 2],
    /// The processes that the run needs, with their descendants, and what they have used.
    ours: Option<Vec<(u32, CpuTime)>>,
}

impl NeighbourMeter {
    pub fn begin(server: &Server) -> Self {
        let pid = server.studied_pid().ok();
        let ours = pid.and_then(|pid| {
            // Servers and generator are children of this process, unless the server has run before.
            used([Some(std::process::id()), Some(pid).filter(|_| !server.is_own())])
        });
        Self::of(ours, pid.map(process::pids).unwrap_or_default())
    }

    /// For a run that needs no other process than what this one starts.
    pub fn begin_with_children() -> Self {
        Self::of(used([Some(std::process::id()), None]), Vec::new())
    }

    fn of(ours: Option<Vec<(u32, CpuTime)>>, pids: Vec<u32>) -> Self {
        let system = System::this();
        let own = quota::groups(&system, "self");
        let all = pids.iter().flat_map(|pid| quota::groups(&system, &pid.to_string()));
        let others = all.filter(|group| !own.contains(group)).collect();
        let groups = [own, others].map(|groups| {
            let before = quota::throttled(&system, &groups);
            (groups, before)
        });
        Self { processors: read(), groups, ours }
    }

    /// Looks again, and compares.
    pub fn end(self) -> Option<Neighbours> {
        let (before, now) = (self.processors?, read()?);
        let all = now.all - before.all;
        let share = |seconds: f64| (seconds / all).clamp(0.0, 1.0);
        let used = |(pid, before): (u32, CpuTime)| Some(CpuTime::of(pid)?.about(&before));
        let ours = |ours: Vec<_>| ours.into_iter().map(used).sum::<Option<Duration>>();
        let others = |ours: Duration| share(now.programs - before.programs - ours.as_secs_f64());
        let system = System::this();
        let [own, server] =
            self.groups.map(|(groups, before)| share(quota::throttled(&system, &groups) - before));
        (all > 0.0).then(|| Neighbours {
            programs: self.ours.and_then(ours).map(others),
            stolen: share(now.stolen - before.stolen),
            throttled: (own + server).min(1.0),
            server_throttled: server,
        })
    }
}

/// The CPU time of these processes and their descendants.
fn used(pids: [Option<u32>; 2]) -> Option<Vec<(u32, CpuTime)>> {
    pids.into_iter().flatten().map(|pid| Some((pid, CpuTime::of(pid)?))).collect()
}

fn read() -> Option<Processors> {
    Processors::read(&System::this())
}
