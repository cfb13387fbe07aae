//! Locust as the load engine: one run of a closed loop by a master and its workers, or by one process.
//!
//! `lab` writes the locustfile and its plan into a temporary directory. Locust measures its own window
//! and writes the result; `lab` reads the server's CPU time when Locust says that the window opens and
//! when it closes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use futures_util::future::{join_all, select_all};
use lab_load::{
    Answer, Answers, Arrivals, Ask, Engine, Load, LoadPlan, Outcome,
    process::{CpuTime, peak_rss_mib},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::servers::{Output, Scratch, free_port};

/// `just locust` uses the same file.
const LOCUSTFILE: &str = include_str!("locustfile.py");
/// Names the program, if it is neither in the workspace nor on the path.
const VARIABLE: &str = "LAB_LOCUST";
/// Locust warns of more users per second and process than this.
const RAMP: usize = 100;
/// How long Locust takes to start and to stop, without the ramp.
const START: Duration = Duration::from_secs(4);
/// How much longer than planned a run may take.
const SLACK: Duration = Duration::from_secs(120);
/// How long a worker may take to stop.
const STOP: Duration = Duration::from_secs(5);

/// An installed Locust.
#[derive(Clone, Debug)]
pub struct Locust {
    program: PathBuf,
    workers: Option<u16>,
}

impl Locust {
    /// Finds the program: named by the environment, in a workspace's `target/locust`, or on the path.
    pub fn find(workspace: Option<&Path>, workers: Option<u16>) -> anyhow::Result<Self> {
        let named = std::env::var_os(VARIABLE).map(PathBuf::from);
        let own = workspace.map(|root| root.join("target/locust/bin/locust"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|dir| dir.join("locust"));
        // A wrong name must not silently run another Locust.
        let mut candidates: Box<dyn Iterator<Item = PathBuf>> = match named {
            Some(named) => Box::new(std::iter::once(named)),
            None => Box::new(own.into_iter().chain(on_path)),
        };
        let program = candidates.find(|program| program.is_file()).with_context(|| {
            format!(
                "there is no program `locust`: install it with `pip install locust==2.47.0`, or name it in \
                 the environment variable {VARIABLE}"
            )
        })?;
        Ok(Self { program: std::path::absolute(program)?, workers })
    }

    /// New users per second.
    fn rate(&self, users: usize) -> usize {
        users.min(RAMP * usize::from(self.workers.unwrap_or(1)))
    }

    /// How long a run takes besides its warm-up and measurement.
    pub fn start_time(&self, users: usize) -> Duration {
        START + Duration::from_secs((users / self.rate(users)) as u64)
    }

    /// Puts the load of `plan` on its server. Dropping the future ends all processes.
    pub async fn run(&self, plan: &LoadPlan) -> anyhow::Result<Outcome> {
        let Arrivals::ClosedLoop(load) = plan.arrivals else { bail!("Locust has no open loop") };
        let scratch = Scratch::new()?;
        let dir = scratch.path();
        std::fs::write(dir.join("locustfile.py"), LOCUSTFILE)?;
        std::fs::write(dir.join("plan.json"), document(plan, load)?.to_string())?;
        let limit = self.start_time(load.users) + plan.warm_up + plan.measurement + plan.grace;
        let limit = limit + SLACK;
        let window = timeout(limit, self.load(dir, plan, load)).await.ok();
        let window = window.with_context(|| {
            format!("Locust did not finish within {} s and was stopped", limit.as_secs())
        })??;
        let report = std::fs::read(dir.join("result.json")).context("Locust wrote no result")?;
        let report: Report =
            serde_json::from_slice(&report).context("Locust's result cannot be read")?;
        report.outcome(self.workers, window)
    }

    /// Starts the processes, meters the server in the window, and waits until Locust is done.
    async fn load(&self, dir: &Path, plan: &LoadPlan, load: Load) -> anyhow::Result<Window> {
        let text = |number: usize| number.to_string();
        let (host, port) = (format!("http://{}", plan.target.address), free_port()?.to_string());
        let (users, rate) = (text(load.users), text(self.rate(load.users)));
        let mut args = vec!["--headless", "--only-summary", "--exit-code-on-error", "0"];
        args.extend(["--host", &host, "--users", &users, "--spawn-rate", &rate]);
        let workers = usize::from(self.workers.unwrap_or_default());
        let expected = text(workers);
        if workers > 0 {
            args.extend([
                "--master",
                "--master-bind-host",
                "127.0.0.1",
                "--expect-workers",
                &expected,
            ]);
            args.extend(["--master-bind-port", &port]);
        }
        let mut master = Process::start(self, dir, &args)?;
        let args = ["--worker", "--master-host", "127.0.0.1", "--master-port", &port];
        let started = (0..workers).map(|_| Process::start(self, dir, &args));
        let mut workers = started.collect::<anyhow::Result<Vec<_>>>()?;

        let mut window = Window::default();
        loop {
            // Once the window is open, the run survives the loss of a worker; Locust reports it.
            let may_fail = window.opened.is_none() && !workers.is_empty();
            let exits = workers.iter_mut().map(|it| Box::pin(it.child.wait()));
            let dead = async {
                let (status, index, _) = select_all(exits).await;
                (index, status)
            };
            let heard = tokio::select! {
                line = master.lines.next_line() => Ok(line?),
                dead = dead, if may_fail => Err(dead),
            };
            match heard {
                Ok(None) => break,
                Ok(Some(line)) => match line.as_str() {
                    "window opens" => window.open(plan.server_pid),
                    "window closes" => window.close(plan.server_pid),
                    _ => {}
                },
                Err((index, status)) => {
                    let (status, words) = (status?, workers[index].tail.words().await);
                    bail!("a worker of Locust ended before the load began ({status}){words}")
                }
            }
        }
        let status = master.child.wait().await?;
        ensure!(status.success(), "Locust failed ({status}){}", master.tail.words().await);
        workers.iter_mut().for_each(|worker| drop(worker.stdin.take()));
        join_all(workers.iter_mut().map(|worker| timeout(STOP, worker.child.wait()))).await;
        Ok(window)
    }
}

/// One process of Locust, supervised: it ends when `stdin` closes.
struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    tail: Output,
}

impl Process {
    fn start(locust: &Locust, dir: &Path, args: &[&str]) -> anyhow::Result<Self> {
        let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
        let mut child = Command::new(lab)
            .args(["supervise", "--"])
            .arg(&locust.program)
            .args(["--locustfile", "locustfile.py", "--skip-log-setup"])
            .args(args)
            // Not where the user is: Locust also reads the options in a `locust.conf`.
            .current_dir(dir)
            .env("LOCUST_PLAN", dir.join("plan.json"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start Locust")?;
        let stdout = child.stdout.take().context("stdout is a pipe")?;
        let mut tail = Output::default();
        tail.follow(child.stderr.take().context("stderr is a pipe")?);
        Ok(Self { stdin: child.stdin.take(), lines: BufReader::new(stdout).lines(), child, tail })
    }
}

/// The plan as the locustfile reads it.
fn document(plan: &LoadPlan, load: Load) -> anyhow::Result<Value> {
    let request = |ask: &Ask| {
        let mut headers = BTreeMap::<_, String>::new();
        for (name, value) in &ask.headers {
            let together = headers.entry(name.to_lowercase()).or_default();
            *together =
                if together.is_empty() { value.clone() } else { format!("{together}, {value}") };
        }
        let (text, bytes, crc32) = match &ask.expected.answer {
            Answer::Any => (None, None, None),
            Answer::Text(text) => (Some(text), None, None),
            Answer::Digest { bytes, crc32 } => (None, Some(bytes), Some(format!("{crc32:08x}"))),
        };
        let body = ask.body.as_ref().map(std::path::absolute).transpose()?;
        anyhow::Ok(json!({
            "method": ask.method, "path": ask.path, "headers": headers, "body_file": body,
            "status": ask.expected.status, "answer": text, "bytes": bytes, "crc32": crc32,
        }))
    };
    let requests = plan.asks.iter().map(request).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(json!({
        "requests": requests,
        "think_ms": load.think_ms,
        "connections": load.connections,
        "fast": true,
        "warm_up_seconds": plan.warm_up.as_secs_f64(),
        "window_seconds": plan.measurement.as_secs_f64(),
        "grace_seconds": plan.grace.as_secs_f64(),
        "result": "result.json",
        // `lab` meters the server and supervises Locust itself.
        "server_pid": null,
        "parent_pid": null,
    }))
}

/// What `lab` reads about the server while Locust measures.
#[derive(Debug, Default)]
struct Window {
    opened: Option<(Instant, Option<CpuTime>)>,
    length: Duration,
    server_cpu: Option<Duration>,
    server_peak_rss_mib: Option<f64>,
}

impl Window {
    fn open(&mut self, server: Option<u32>) {
        self.opened = Some((Instant::now(), server.and_then(CpuTime::of)));
    }

    fn close(&mut self, server: Option<u32>) {
        let Some((opened, before)) = &self.opened else { return };
        let now = server.and_then(CpuTime::of);
        self.length = opened.elapsed();
        self.server_cpu = now.zip(before.as_ref()).and_then(|(now, before)| now.since(before));
        self.server_peak_rss_mib = server.and_then(peak_rss_mib);
    }
}

/// The part of Locust's result that `lab` uses.
#[derive(Deserialize)]
struct Report {
    locust: String,
    seconds: f64,
    processes: Vec<Busy>,
    lost_workers: Vec<String>,
    unfinished_ages_ms: Vec<f64>,
    visits: Visits,
}

/// Shares of one core.
#[derive(Clone, Copy, Deserialize)]
struct Busy {
    cores: f64,
    waited: f64,
}

#[derive(Deserialize)]
struct Visits {
    ok: u64,
    ok_in_time: u64,
    wrong: u64,
    failed: u64,
    late: u64,
    longest_ms: f64,
    grace_seconds: f64,
    first_fault: Option<String>,
    latency_ms: BTreeMap<String, u64>,
}

impl Report {
    fn outcome(self, workers: Option<u16>, window: Window) -> anyhow::Result<Outcome> {
        let Self { visits, .. } = self;
        let seconds = |seconds| Duration::try_from_secs_f64(seconds).context("Locust's result");
        let ms = |ms: f64| seconds(ms / 1e3);
        let measured = seconds(self.seconds)?;
        let share = |share: f64| measured.mul_f64(share.max(0.0));
        let ages = self.unfinished_ages_ms.iter().map(|age| ms(*age));
        let ages = ages.collect::<anyhow::Result<Vec<_>>>()?;
        // Each process has one thread, so the one with the least time left is the limit.
        let total = |it: &Busy| it.cores + it.waited;
        let busiest =
            self.processes.iter().max_by(|one, other| total(one).total_cmp(&total(other)));
        let unfinished = ages.len() as u64;
        let ended = visits.ok + visits.wrong + visits.failed;
        let mut outcome = Outcome {
            measured,
            ok_in_time: visits.ok_in_time,
            sent: ended + unfinished,
            ok: visits.ok,
            wrong: visits.wrong,
            failed: visits.failed,
            unfinished,
            first_fault: visits.first_fault,
            youngest_unfinished: ages.iter().min().copied(),
            // `lab` notices the ends of the window a moment later than Locust.
            server_cpu: window
                .server_cpu
                .filter(|_| !window.length.is_zero())
                .map(|used| used.mul_f64(measured.as_secs_f64() / window.length.as_secs_f64())),
            server_peak_rss_mib: window.server_peak_rss_mib,
            generator_cpu: busiest.map(|it| share(it.cores)),
            generator_waited: busiest.map(|it| share(it.waited)),
            engine: Some(Engine { name: "Locust".to_owned(), version: self.locust, workers }),
            ..Outcome::default()
        };
        for (latency, requests) in &visits.latency_ms {
            outcome.latency.record_n(ms(latency.parse()?)?, *requests);
        }
        ages.iter().for_each(|age| outcome.latency.record(*age));
        let (count, longest) = (ended, ms(visits.longest_ms)?);
        let grace = seconds(visits.grace_seconds)?;
        let patience = Answers { count, late: visits.late, longest }.patience(
            ages.len(),
            measured + grace,
            grace,
        );
        outcome.lost = ages.iter().filter(|age| **age > patience).count() as u64;
        let lost = self.lost_workers.len();
        outcome.invalid = (lost > 0).then(|| {
            format!(
                "Locust lost {lost} of its workers in mid-run, so the load was lighter than planned"
            )
        });
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ages: &[f64], lost: &[&str]) -> Report {
        let report = json!({
            "locust": "2.47.0", "seconds": 2.0, "lost_workers": lost, "unfinished_ages_ms": ages,
            "processes": [{"cores": 0.7, "waited": 0.0}, {"cores": 0.5, "waited": 0.45}],
            "visits": {
                "ok": 40, "ok_in_time": 38, "wrong": 1, "failed": 1, "late": 2, "longest_ms": 30.0,
                "grace_seconds": 1.0, "first_fault": "status 503", "latency_ms": {"0.5": 20, "30": 20},
            },
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn an_outcome_accounts_for_all_that_locust_counted() {
        let window = Window {
            length: Duration::from_secs(4),
            server_cpu: Some(Duration::from_secs(1)),
            ..Window::default()
        };
        let outcome = report(&[200.0, 900.0], &[]).outcome(Some(2), window).unwrap();
        assert_eq!((outcome.sent, outcome.ok, outcome.wrong, outcome.failed), (44, 40, 1, 1));
        assert_eq!((outcome.unfinished, outcome.throughput()), (2, 19.0));
        assert_eq!(outcome.youngest_unfinished, Some(Duration::from_millis(200)));
        assert_eq!(outcome.latency.count(), 42);
        assert!((outcome.latency.percentile_ms(40.0).unwrap() - 0.5).abs() < 0.01);
        // The server's CPU time is of the same length as the measurement.
        assert_eq!(outcome.server_cpu, Some(Duration::from_millis(500)));
        // 14 answers a second: four requests take 0.3 s, and 0.6 s is too long.
        assert_eq!(outcome.lost, 1);
        assert_eq!(outcome.engine.as_ref().unwrap().to_string(), "Locust 2.47.0 with 2 workers");
    }

    #[test]
    fn the_busiest_process_and_a_lost_worker_limit_a_run() {
        let limited =
            |it: Report| it.outcome(None, Window::default()).unwrap().limited_by_generator();
        let busy = limited(report(&[], &[])).unwrap();
        let start = "the busiest process of Locust used 50 % of a core and waited 45 % of the time";
        assert!(busy.starts_with(start), "{busy}");
        let mut idle = report(&[], &["worker-1"]);
        idle.processes.pop();
        assert!(limited(idle).unwrap().starts_with("Locust lost 1 of its workers"));
    }
}
