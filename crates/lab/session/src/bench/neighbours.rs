//! Who else uses the processors during a run: one look before it, and one after it.

use std::time::Duration;

use lab_model::Neighbours;
use lab_servers::Server;
use lab_system::{Processors, System, process::CpuTime};

/// The look before the run.
pub struct Before {
    processors: Option<Processors>,
    /// The processes that the run needs, with their descendants, and what they have used.
    ours: Option<Vec<(u32, CpuTime)>>,
}

impl Before {
    pub fn look(server: &Server) -> Self {
        let ours = server.studied_pid().ok().and_then(|pid| {
            // Servers and generator are children of this process, unless the server has run before.
            let pids = [Some(std::process::id()), Some(pid).filter(|_| !server.is_own())];
            pids.into_iter().flatten().map(|pid| Some((pid, CpuTime::of(pid)?))).collect()
        });
        Self { processors: read(), ours }
    }

    /// Looks again, and compares.
    pub fn until_now(self) -> Option<Neighbours> {
        let (before, now) = (self.processors?, read()?);
        let all = now.all - before.all;
        let share = |seconds: f64| (seconds / all).clamp(0.0, 1.0);
        let used = |(pid, before): (u32, CpuTime)| Some(CpuTime::of(pid)?.about(&before));
        let ours = |ours: Vec<_>| ours.into_iter().map(used).sum::<Option<Duration>>();
        let others = |ours: Duration| share(now.programs - before.programs - ours.as_secs_f64());
        (all > 0.0).then(|| Neighbours {
            programs: self.ours.and_then(ours).map(others),
            stolen: share(now.stolen - before.stolen),
            throttled: share(now.throttled - before.throttled),
        })
    }
}

fn read() -> Option<Processors> {
    Processors::read(&System::this())
}
