//! One run of wrk.

use std::{process::Stdio, time::Duration};

use anyhow::{Context as _, bail, ensure};
use lab_load::process::children_cpu_time;
use tokio::{process::Command, time::timeout};

use super::{Counted, Run, measure};
use crate::servers::{Server, affinity};

/// How much longer than planned wrk may take.
const SLACK: Duration = Duration::from_secs(30);

/// Why wrk cannot be measured here, if it cannot.
pub fn missing() -> Option<&'static str> {
    if children_cpu_time().is_none() {
        return Some("this system does not report the CPU time of a child");
    }
    // `-v` prints the version and fails.
    let found = std::process::Command::new("wrk")
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_err().then_some("wrk is not installed; `apt install wrk` or `brew install wrk`")
}

/// Runs wrk with one thread, like our generator.
pub async fn run(server: &Server, connections: usize, seconds: u16) -> anyhow::Result<Run> {
    measure(server, async {
        // Supervised, so that it ends with this process. Starting that takes about a millisecond of
        // CPU time, as it does for our generator.
        let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
        let mut command = Command::new(lab);
        command
            .args(["supervise", "--", "wrk", "-t1"])
            .args([format!("-c{connections}"), format!("-d{seconds}s"), server.url().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let confined = affinity::to_generator_core();
        let mut wrk = command.spawn().context("cannot start wrk")?;
        drop(confined);
        // wrk ends when this closes.
        let stdin = wrk.stdin.take();
        let limit = Duration::from_secs(seconds.into()) + SLACK;
        let output = timeout(limit, wrk.wait_with_output()).await;
        let output = output
            .ok()
            .with_context(|| format!("wrk did not finish within {} s", limit.as_secs()))??;
        drop(stdin);
        ensure!(output.status.success(), "wrk failed");
        parse(&String::from_utf8_lossy(&output.stdout))
    })
    .await
}

fn parse(report: &str) -> anyhow::Result<Counted> {
    for trouble in ["Non-2xx", "Socket errors"] {
        if let Some(line) = report.lines().find(|line| line.contains(trouble)) {
            bail!("wrk had trouble: {}", line.trim());
        }
    }
    let requests = report.lines().find_map(|line| line.split_once(" requests in "));
    let throughput = report.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    let (Some((requests, _)), Some(throughput)) = (requests, throughput) else {
        bail!("wrk's report has an unknown format:\n{report}");
    };
    Ok(Counted { answers: requests.trim().parse()?, throughput: throughput.trim().parse()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Running 3s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n  \
        209114 requests in 3.10s, 16.95MB read\nRequests/sec:  67456.32\nTransfer/sec:      5.47MB\n";

    #[test]
    fn a_report_is_read() {
        let Counted { answers, throughput } = parse(REPORT).unwrap();
        assert_eq!((answers, throughput), (209_114.0, 67_456.32));
    }

    #[test]
    fn a_report_with_errors_is_no_result() {
        let report = format!("{REPORT}  Non-2xx or 3xx responses: 5\n");
        let error = parse(&report).err().unwrap().to_string();
        assert_eq!(error, "wrk had trouble: Non-2xx or 3xx responses: 5");
        assert!(parse("").is_err());
    }
}
