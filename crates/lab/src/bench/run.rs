//! Runs: a fresh server, the generator beside it, one outcome.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, bail, ensure};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};

use super::{CaseRecord, Progress, Run};
use crate::{
    case::{Case, Request},
    files,
    load::{self, Arrivals, Ask, Connection, Expected, Outcome, Plan, Verdict},
    server::Stage,
    workspace::Workspace,
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Pairs of runs.
    pub pairs: usize,
    /// How long the load runs before anything counts.
    pub warm_up: Duration,
    /// How long requests count.
    pub measurement: Duration,
    /// How long the last requests may take after that.
    pub grace: Duration,
}

impl Effort {
    /// About how long one run takes, with start and stop.
    pub fn run(self) -> Duration {
        self.warm_up + self.measurement + Duration::from_millis(500)
    }
}

/// Measures `variants` of a case against each other.
///
/// Every round runs each variant once, in turn forwards and backwards (A B, B A, ...), so that
/// neither profits from always being first.
pub async fn compare(
    workspace: &Workspace,
    case: &Case,
    variants: &[String],
    effort: Effort,
    progress: &Progress,
) -> anyhow::Result<CaseRecord> {
    files::allow_connections(case.load.users * case.load.connections)?;
    let bodies = tempfile::tempdir().context("cannot make a temporary directory")?;
    let asks = asks(workspace, case, bodies.path()).await?;
    let mut runs = Vec::new();
    for pair in 0..effort.pairs {
        let mut order: Vec<_> = variants.iter().collect();
        if pair % 2 == 1 {
            order.reverse();
        }
        for variant in order {
            progress.run(&case.name, pair, effort, variant);
            let outcome = run(workspace, case, variant, effort, &asks).await?;
            runs.push(Run { pair, variant: variant.clone(), outcome });
        }
    }
    CaseRecord::new(case, variants, effort, runs)
}

/// One run of one variant.
async fn run(
    workspace: &Workspace,
    case: &Case,
    variant: &str,
    effort: Effort,
    asks: &[Ask],
) -> anyhow::Result<Outcome> {
    let mut stage = Stage::set(workspace, case, variant).await?;
    let plan = Plan {
        target: load::address(stage.server.url())?,
        server_pid: stage.server.pid()?,
        arrivals: Arrivals::ClosedLoop(case.load),
        warm_up: effort.warm_up,
        measurement: effort.measurement,
        grace: effort.grace,
        asks: asks.to_vec(),
        pin: false,
    };
    let outcome = tokio::select! {
        // First who died, then who complains of it.
        biased;
        death = stage.died() => Err(death),
        outcome = generate(&plan) => outcome,
    };
    if outcome.is_err() {
        // A generator that lost its server may be quicker to say so than the server to be gone.
        if let Ok(death) = tokio::time::timeout(Duration::from_millis(200), stage.died()).await {
            return Err(death);
        }
    }
    stage.clear().await?;
    outcome.with_context(|| format!("{}-{variant}", case.name))
}

/// Runs the generator in a process of its own.
async fn generate(plan: &Plan) -> anyhow::Result<Outcome> {
    let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
    let mut generator: Child = Command::new(lab)
        .arg("generate")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start the load generator")?;
    // Open until the generator has ended: it takes the end of its input for the end of `lab`.
    let mut stdin = generator.stdin.take().context("stdin is a pipe")?;
    let line = serde_json::to_string(plan)? + "\n";
    stdin.write_all(line.as_bytes()).await.context("the load generator takes no plan")?;
    let output =
        generator.wait_with_output().await.context("cannot wait for the load generator")?;
    drop(stdin);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("the load generator failed: {}", stderr.trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("the load generator's answer cannot be read")
}

/// Asks a variant each of its case's requests once; returns what was wrong.
pub async fn ask_once(
    workspace: &Workspace,
    case: &Case,
    variant: &str,
) -> anyhow::Result<Vec<String>> {
    let stage = Stage::set(workspace, case, variant).await?;
    let target = load::address(stage.server.url())?;
    let mut connection = Connection::open(target).await?;
    let mut faults = Vec::new();
    for ask in asks(workspace, case, stage.scratch()).await? {
        let prepared = load::Prepared::new(&ask, target)?;
        match connection.ask(&prepared).await {
            Verdict::Ok => {}
            Verdict::Wrong(fault) | Verdict::Failed(fault) => {
                faults.push(format!("{} {}: {fault}", ask.method, ask.path));
            }
        }
    }
    stage.clear().await?;
    Ok(faults)
}

/// The case's requests as the generator needs them; bodies are written into `dir`.
async fn asks(workspace: &Workspace, case: &Case, dir: &Path) -> anyhow::Result<Vec<Ask>> {
    let mut asks = Vec::new();
    for (index, request) in case.requests.iter().enumerate() {
        let body = match &request.body {
            None => None,
            Some(source) => {
                let output = Command::new(workspace.binary(&source.bin)?)
                    .args(&source.args)
                    .kill_on_drop(true)
                    .output()
                    .await
                    .with_context(|| format!("cannot start {}", source.bin))?;
                ensure!(
                    output.status.success(),
                    "{} failed: {}",
                    source.bin,
                    String::from_utf8_lossy(&output.stderr).trim()
                );
                let file = dir.join(format!("body-{index}"));
                std::fs::write(&file, output.stdout)
                    .with_context(|| format!("cannot write {}", file.display()))?;
                Some(file)
            }
        };
        let Request { method, path, content_type, status, answer, .. } = request.clone();
        asks.push(Ask { method, path, content_type, body, expected: Expected { status, answer } });
    }
    Ok(asks)
}
