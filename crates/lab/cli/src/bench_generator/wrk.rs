//! One run of wrk.

use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use lab_load::process::children_cpu_time;

use super::Run;
use crate::servers::{Server, affinity};

/// Why wrk cannot be measured here, if it cannot.
pub fn missing() -> Option<&'static str> {
    if children_cpu_time().is_none() {
        return Some("this system does not report the CPU time of a child");
    }
    // `-v` prints the version and fails.
    let found = Command::new("wrk").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_err().then_some("wrk is not installed; `apt install wrk` or `brew install wrk`")
}

/// Runs wrk with one thread, like our generator.
pub fn run(server: &Server, connections: usize, seconds: u16) -> anyhow::Result<Run> {
    let mut command = Command::new("wrk");
    command
        .args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s")])
        .arg(server.url().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    let before = children_cpu_time();
    let confined = affinity::to_generator_core();
    let wrk = command.spawn().context("cannot start wrk")?;
    drop(confined);
    let output = wrk.wait_with_output()?;
    let after = children_cpu_time();
    ensure!(output.status.success(), "wrk failed");

    let (requests, throughput) = parse(&String::from_utf8_lossy(&output.stdout))?;
    let cpu = after.zip(before).context("the system does not report the CPU time of a child")?;
    Ok(Run { throughput, cpu_us: (cpu.0 - cpu.1).as_secs_f64() * 1e6 / requests })
}

/// The number of requests, and how many there were per second.
fn parse(report: &str) -> anyhow::Result<(f64, f64)> {
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
    Ok((requests.trim().parse()?, throughput.trim().parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Running 3s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n  \
        209114 requests in 3.10s, 16.95MB read\nRequests/sec:  67456.32\nTransfer/sec:      5.47MB\n";

    #[test]
    fn a_report_is_read() {
        assert_eq!(parse(REPORT).unwrap(), (209_114.0, 67_456.32));
    }

    #[test]
    fn a_report_with_errors_is_no_result() {
        let report = format!("{REPORT}  Non-2xx or 3xx responses: 5\n");
        assert_eq!(
            parse(&report).unwrap_err().to_string(),
            "wrk had trouble: Non-2xx or 3xx responses: 5"
        );
        assert!(parse("").is_err());
    }
}
