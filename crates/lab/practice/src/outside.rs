//! What everybody can see of a slow service without its source: how its throughput grows with its users, and what a
//! visit costs.

use std::{collections::BTreeMap, time::Duration};

use anyhow::ensure;
use lab_cases::{Case, SLOW};
use lab_measure::{bench::generate, count, watch::ServerUnderLoad};
use lab_protocol::{Arrivals, Load, LoadPlan, Outcome};
use lab_report::translate;
use lab_servers::Running;
use lab_system::Progress;

use crate::{servers::Servers, source::criteria};

/// The numbers of users of the course: alone, a few, and many.
const USERS: [usize; 3] = [1, 8, 64];
const WARM_UP: Duration = Duration::from_millis(200);
/// Long enough for a table without claims, and short enough for somebody who waits.
const MEASUREMENT: Duration = Duration::from_millis(800);

/// A slow service, as it is seen from outside.
#[derive(Clone, Debug)]
pub struct Outside {
    /// What these numbers of users got.
    pub levels: Vec<(usize, Outcome)>,
    /// The counts of a visit by their names; empty if the case has no limit for them.
    pub counts: BTreeMap<String, f64>,
}

/// Looks at `slow` for a few seconds.
///
/// # Errors
///
/// If the case cannot be practised, if `slow` doesn't start, or if it gives no right answer.
pub async fn look(servers: &Servers, case: &Case) -> anyhow::Result<Outside> {
    let slow = ServerUnderLoad::of_case(servers.workspace(), case, SLOW)?;
    let progress = Progress::new(&case.shown);
    let levels = Running::ask(&slow.launch, async |Running { server, .. }| {
        let mut levels = Vec::new();
        for users in USERS {
            progress.step(&translate!("{users} users", users));
            let load = Load { users, think_ms: 0, ..slow.workload.load };
            let arrivals = Arrivals::ClosedLoop(load);
            let plan = LoadPlan {
                server_pid: Some(server.studied_pid()?),
                warm_up: WARM_UP,
                measurement: MEASUREMENT,
                ..LoadPlan::new(server.target(), slow.requests.clone(), arrivals)
            };
            levels.push((users, generate(&plan).await?));
        }
        Ok(levels)
    });
    let levels = levels.await?;
    let fault = levels.iter().find_map(|(_, outcome)| outcome.first_fault.clone());
    let is_answered = levels.iter().any(|(_, outcome)| outcome.ok_in_time > 0);
    ensure!(is_answered, "{}", fault.unwrap_or_else(|| translate!("no answer")));
    let mut counts = BTreeMap::new();
    if criteria(case)?.is_counted() {
        progress.step(&translate!("counting"));
        counts = count::measure(servers.counting(), case, SLOW, &[]).await?.0.named();
    }
    Ok(Outside { levels, counts })
}
