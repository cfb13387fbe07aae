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
/// Long enough for a table without claims, and short enough for somebody who waits.
const LENGTH: [Duration; 2] = [Duration::from_millis(800), Duration::from_secs(4)];

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
        let mut levels: Vec<(usize, Outcome)> = Vec::new();
        for users in USERS {
            progress.step(&translate!("users: {users}", users));
            let length = length(users, levels.last());
            let load = Load { users, think_ms: 0, ..slow.workload.load };
            let arrivals = Arrivals::ClosedLoop(load);
            let plan = LoadPlan {
                server_pid: Some(server.studied_pid()?),
                warm_up: length / 4,
                measurement: length,
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

/// Two answers for each user, if more of them get no more than those before.
fn length(users: usize, before: Option<&(usize, Outcome)>) -> Duration {
    let [least, most] = LENGTH;
    let per_s = before.map_or(0.0, |(_, outcome)| outcome.throughput());
    let twice = Duration::try_from_secs_f64(2.0 * users as f64 / per_s);
    if before.is_none() { least } else { twice.unwrap_or(most).clamp(least, most) }
}
