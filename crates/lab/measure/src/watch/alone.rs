//! The CPU time of each request of a visit, on the server that was just recorded: it loads each alone for a moment.

use std::time::Duration;

use lab_observation::RouteCost;
use lab_servers::Server;
use lab_system::Progress;

use super::ServerUnderLoad;
use crate::routes::{AloneLoad, MOST_ROUTES, routes};

/// The recording has warmed the server up.
const WARM_UP: Duration = Duration::from_millis(200);
const LENGTH: Duration = Duration::from_millis(700);

/// Loads each request alone, with the users of the recording; none if they can't be alone. An error ends it, because
/// the recording is worth more.
pub async fn cost_of_each(
    under_load: &ServerUnderLoad,
    server: &Server,
    progress: &Progress,
) -> Vec<RouteCost> {
    let ServerUnderLoad { name, workload, visit_takes, requests, .. } = under_load;
    let (mut costs, Ok(pid)) = (Vec::new(), server.studied_pid()) else { return Vec::new() };
    let alone = AloneLoad::new(workload.load, [WARM_UP, LENGTH], *visit_takes);
    for route in routes(requests).iter().take(MOST_ROUTES) {
        progress.step(&format!("{} alone on {name}", route.name));
        match route.load(server, pid, alone).await {
            Ok(run) => costs.push(RouteCost { cpu_us: run.cpu_us(), request: run.route }),
            Err(error) => {
                progress.note(&format!("note: {} alone on {name}: {error:#}", route.name));
                break;
            }
        }
    }
    costs
}
