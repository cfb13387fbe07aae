//! `lab load`: a server of a case under load, for programs.
//!
//! Prints where the server is, as a line of JSON. Each line of standard input is then a load plan without what
//! the server and its case decide; it may name an `engine`. The answer is a line with what that engine printed.
//! Its `figures` are the same for every engine, and `limited_by` says why they measure the generator, if so.
//! A line such as `{"visits":3}` asks for visits of one request at a time.
//!
//! With a case in place of a server, it prints what `case.toml` and `counts.toml` say, and ends.

use std::{process::ExitCode, slice, time::Duration};

use anyhow::Context as _;
use lab_cases::{Case, Workspace};
use lab_measure::{bench::Engine, count::visit_in_steps};
use lab_protocol::{Arrivals, LoadPlan, Outcome, Request};
use lab_report::sentence;
use lab_servers::{Launch, Running, current};
use lab_system::{Build, allow_connections, err, out};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};

use super::{Places, interrupted, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The server, such as `lock-scope-slow`; or a case, to describe it
    pub server: String,
    /// The case as `lab count` runs it, with fewer or smaller requests
    #[arg(long)]
    pub counted: bool,
    /// Leave out all but the first request of a visit
    #[arg(long)]
    pub first: bool,
    /// How many connections a line may ask for, if more than the case has
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub connections: usize,
    /// The command of a tool that runs the server
    #[arg(long, value_name = "COMMAND")]
    pub under: Option<String>,
    /// More arguments of the server
    #[arg(last = true)]
    pub args: Vec<String>,
}

/// Serves until standard input closes, which also ends a run.
pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = places.workspace()?;
    let found = workspace.server_named(&options.server)?;
    let Some((case, variant)) = found else {
        for case in workspace.cases_named(slice::from_ref(&options.server))? {
            out!("{}", description(&workspace, &case)?);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let done = interruptible(async {
        let wanted = [(&case, vec![variant.clone()])];
        places
            .build_unless_given(Build::unknown(), current::build_ordinary(&workspace, &wanted))
            .await?;
        let case = if options.counted { case.counted() } else { case.clone() };
        // The server inherits the limit.
        allow_connections(options.connections.max(case.load.users * case.load.connections))?;
        let mut launch = Launch::of_case(&workspace, &case, &variant)?;
        launch.args.extend(options.args.iter().cloned());
        if let Some(under) = &options.under {
            let tool = Launch::of_command("tool", under)?;
            let server = launch.program.display().to_string();
            launch.args = [tool.args, vec![server], launch.args].concat();
            launch.program = tool.program;
            launch.env.extend(tool.env);
        }
        let mut requests = visit(&case);
        requests.truncate(if options.first { 1 } else { usize::MAX });
        Running::ask(&launch, async |running| {
            let names = launch.companions.iter().map(|(name, _)| name);
            let mut servers = vec![json!([launch.name, running.server.studied_pid()?])];
            for (name, server) in names.zip(&running.companions) {
                servers.push(json!([name, server.studied_pid()?]));
            }
            out!("{}", json!({ "url": running.server.url().to_string(), "servers": servers }));
            let mut lines = BufReader::new(stdin()).lines();
            while let Some(line) = lines.next_line().await? {
                let line = serde_json::from_str(&line).context("a line has to be JSON")?;
                tokio::select! {
                    answer = answer(&workspace, running, Arrivals::ClosedLoop(case.load), &requests, line) => out!("{}", answer?),
                    _ = lines.next_line() => break,
                }
            }
            Ok(())
        })
        .await
    })?;
    Ok(if done.is_some() { ExitCode::SUCCESS } else { interrupted("the rest is left out") })
}

/// What a client needs to know of a case, and what it may compare its own counts with.
fn description(workspace: &Workspace, case: &Case) -> anyhow::Result<Value> {
    Ok(json!({
        "case": case.name,
        "variants": case.variants,
        "load": case.load,
        "requests": visit(case),
        "counted_requests": visit(&case.counted()),
        "counts": workspace.counts(case)?.0,
        "tolerance_percent": case.count.tolerance_percent,
    }))
}

/// The requests of a visit. Other clients send the others.
fn visit(case: &Case) -> Vec<Request> {
    let own = case.requests.iter().filter(|request| request.rate_per_s.is_none());
    own.map(|request| request.request.clone()).collect()
}

async fn answer(
    workspace: &Workspace,
    running: &Running,
    usual: Arrivals,
    requests: &[Request],
    mut line: Value,
) -> anyhow::Result<Value> {
    if let Some(visits) = line["visits"].as_u64() {
        visit_in_steps(running, requests, visits.try_into()?).await?;
        return Ok(json!({}));
    }
    running.server.ensure_it_can_be_timed()?;
    let engine = match line["engine"].take() {
        Value::String(name) if name != "lab" => Engine::find(&name, Some(workspace.root()))?,
        _ => Engine::lab()?,
    };
    let plan = LoadPlan {
        server_pid: running.server.studied_pid().ok(),
        ..LoadPlan::new(running.server.target(), requests.to_vec(), usual)
    };
    let options = match line["options"].take() {
        Value::Null => json!({}),
        options => options,
    };
    let mut whole = json!(plan);
    for (key, value) in line.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null())
    {
        whole[key] = value.clone();
    }
    let plan: LoadPlan = serde_json::from_value(whole).context("the load plan is invalid")?;
    let (outcome, mut printed) = engine.run_with(&plan, options, &|note| err!("{note}")).await?;
    printed["figures"] = figures(&outcome, &printed);
    printed["limited_by"] = json!(outcome.limited_by_generator().map(|why| sentence(&why)));
    printed["lost"] = outcome.lost.into();
    printed["panic"] = json!(running.server.panic());
    Ok(printed)
}

/// What a table shows of a run. An engine without a histogram has percentiles of its own. CPU times are in cores.
fn figures(outcome: &Outcome, printed: &Value) -> Value {
    let seconds = outcome.measured.as_secs_f64();
    let cores = |used: Option<Duration>| used.map(|used| used.as_secs_f64() / seconds);
    let quantile = |percent: u8| {
        let own = printed["percentiles_ms"][format!("p{percent}")].as_f64();
        own.or_else(|| outcome.latency.quantile_ms(f64::from(percent)))
    };
    let busiest = cores(outcome.generator_cpu);
    json!({
        "throughput_rps": outcome.throughput(),
        "p50_ms": quantile(50),
        "p99_ms": quantile(99),
        "faults": outcome.wrong + outcome.failed + outcome.lost,
        "server_cores": cores(outcome.server_cpu),
        "generator_cores": printed["total_cpu_s"].as_f64().map(|cpu| cpu / seconds).or(busiest),
        "busiest_cores": busiest,
    })
}
