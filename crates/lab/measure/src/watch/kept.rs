//! The memory that a server keeps of its requests, with the stacks that allocated it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use lab_observation::KeptHeap;
use lab_profile::Heaptrack;
use lab_protocol::{LoadPlan, Outcome};
use lab_servers::{Launch, Running};
use tokio::time::Instant;

use super::{
    ServerUnderLoad,
    observe::{GRACE, WARM_UP},
};
use crate::bench::generate;

const PRELOAD: &str = "LD_PRELOAD";

/// Runs a server twice under its load: as it is, to know what recording costs, and under `heaptrack`.
pub async fn kept(
    server: &ServerUnderLoad,
    heaptrack: &Heaptrack,
    window: Duration,
    scratch: &Path,
) -> anyhow::Result<KeptHeap> {
    let file = scratch.join(format!("{}.heaptrack", server.name));
    let recorded = recorded(&server.launch, heaptrack, &file);
    let (usual, _) = under_load(server, &server.launch, window, |_| true).await?;
    let (outcome, window) = under_load(server, &recorded, window, Heaptrack::is_in).await?;
    let stacks = heaptrack.kept(&file, window).await?;
    let requests = outcome.ok_in_time * server.requests.len() as u64;
    ensure!(requests > 0, "no request was answered under `heaptrack`; it needs more --seconds");
    let [recorded, usual] = [outcome, usual].map(|outcome| outcome.cpu_us_per_request());
    let slowdown = recorded.zip(usual).map(|(recorded, usual)| recorded / usual);
    Ok(KeptHeap { stacks, requests, slowdown: slowdown.filter(|factor| factor.is_finite()) })
}

/// The outcome, and when it was measured, from the start of the server on. `is_right` says whether that is the process
/// to measure.
async fn under_load(
    server: &ServerUnderLoad,
    launch: &Launch,
    window: Duration,
    is_right: impl Fn(u32) -> bool,
) -> anyhow::Result<(Outcome, [Duration; 2])> {
    let start = Instant::now();
    let load = async |running: &Running| {
        let running = &running.server;
        let pid = running.studied_pid()?;
        ensure!(
            is_right(pid),
            "`heaptrack` records the program that `lab` starts, and another one listens: give the command of that one, \
             without a script around it"
        );
        let plan = LoadPlan {
            server_pid: Some(pid),
            warm_up: WARM_UP,
            measurement: window,
            grace: GRACE,
            ..LoadPlan::new(running.target(), server.requests.clone(), server.workload.arrivals())
        };
        let begin = start.elapsed() + WARM_UP;
        anyhow::Ok((generate(&plan).await?, [begin, begin + window]))
    };
    Running::with(launch, load).await
}

/// The launch with the library of `heaptrack`, in the server and in nothing else.
fn recorded(launch: &Launch, heaptrack: &Heaptrack, file: &Path) -> Launch {
    let mut env = launch.env.clone();
    let preloaded = env.remove(PRELOAD);
    let mut args = heaptrack.prefix(file, preloaded.as_deref());
    let program = PathBuf::from(args.remove(0));
    args.push(launch.program.display().to_string());
    args.extend(launch.args.iter().cloned());
    Launch { program, args, env, ..launch.clone() }
}

/// Refuses a server whose memory `malloc` knows nothing of.
///
/// # Errors
///
/// If its runtime has a heap of its own.
pub fn ensure_it_uses_malloc(launch: &Launch) -> anyhow::Result<()> {
    let system = lab_system::System::this();
    let name = launch.program.to_str().context("the program's name is not UTF-8")?;
    let dir = launch.dir.clone().unwrap_or_default();
    let is_path = name.contains('/');
    let program = if is_path { Some(dir.join(name)) } else { system.program(name) };
    let language = program.and_then(|program| lab_observation::LANGUAGES.of_program(&program));
    let Some((language, tool)) = language.and_then(|it| Some((&it.name, it.heap_tool.as_ref()?)))
    else {
        return Ok(());
    };
    anyhow::bail!(
        "{language} has a heap of its own, which `heaptrack` does not see; its tool: {tool}"
    )
}
