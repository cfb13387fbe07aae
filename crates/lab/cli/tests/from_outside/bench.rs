//! `lab bench` from outside: what it prints, what it keeps, and what it does when things go wrong.

use std::process::Command;

use serde_json::Value;

use crate::toy::{SHORT, Toy, has_ended, send, stderr, wait_until};

#[test]
fn json_is_one_document_that_accounts_for_every_request() {
    let toy = Toy::new(&[]);
    let output = toy
        .lab(&[&["bench", "--json"], &SHORT[..3], &["--open-loop=0.5"]].concat())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let case = &document["cases"][0];
    assert_eq!(case["case"], "toy");
    assert_eq!(case["load"], "3 users, without a pause");
    for (variant, name) in case["variants"].as_array().unwrap().iter().zip(["slow", "fixed"]) {
        assert_eq!(variant["variant"], name);
        let count = |key: &str| variant[key].as_u64().unwrap();
        assert!(count("ok") > 0);
        assert_eq!((count("wrong"), count("failed")), (0, 0));
        assert_eq!(count("sent"), count("ok") + count("unfinished"));
        let open_loop = &variant["open_loop"];
        let open = |key: &str| open_loop[key].as_u64().unwrap();
        let ends = open("ok") + open("wrong") + open("failed") + open("unfinished");
        assert_eq!(open("offered"), ends, "{open_loop}");
        for key in ["throughput_rps", "cpu_us_per_request", "peak_rss_mib"] {
            assert!(variant[key].as_f64().unwrap() > 0.0, "{key}: {variant}");
        }
        let latency = |key: &str| variant["latency_ms"][key].as_f64().unwrap();
        assert!(latency("p50") <= latency("p90") && latency("p90") <= latency("p99"));
    }
    for metric in ["throughput", "cpu_per_request", "latency_p50"] {
        let factor = |key: &str| case["speedup"][metric][key].as_f64().unwrap();
        assert!(factor("low") <= factor("estimate") && factor("estimate") <= factor("high"));
    }
    // The runs alternate, A B, B A, between two more of the baseline for the control.
    let order: Vec<_> =
        case["runs"].as_array().unwrap().iter().map(|run| &run["variant"]).collect();
    assert_eq!(order, ["slow", "slow", "fixed", "fixed", "slow", "slow"]);
    assert_eq!(case["control"]["pairs"], 2);
}

#[test]
fn the_result_is_kept_and_the_servers_are_gone() {
    let toy = Toy::new(&[]);
    let output = toy.bench(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("claim: fixed is"), "{table}");
    assert_eq!(toy.results().len(), 1);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("\n  Report     target/lab/report.html\n")
    );
    assert!(toy.path("target/lab/report.html").is_file());
    assert_eq!(toy.started().len(), 6, "a fresh server a run");
    toy.wait_until_all_servers_ended();
}

#[test]
fn a_bench_of_some_cases_leaves_the_report_of_all_alone() {
    let toy = Toy::new(&[]);
    let output = toy.bench(&["toy"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("Report") && !toy.path("target/lab/report.html").exists());
}

#[test]
fn wrong_answers_are_failures_and_are_shown() {
    let toy = Toy::new(&["--answer", "7"]);
    let output = toy.bench(&[]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("`7` instead of `6`"), "{}", stderr(&output));
}

#[test]
fn a_server_that_dies_at_its_start_is_heard() {
    let toy = Toy::new(&["--die-at-start"]);
    let output = toy.bench(&[]);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("toy-slow ended before it listened (exit code 3)"), "{stderr}");
    assert!(stderr.contains("| the database is missing"), "{stderr}");
    assert!(toy.results().is_empty());
}

#[test]
fn a_server_that_dies_under_load_is_heard() {
    let toy = Toy::new(&["--die-at-request", "20"]);
    let output = toy.bench(&[]);
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("toy-slow died under load (exit code 4)"), "{stderr}");
    assert!(stderr.contains("| out of memory, says the stand-in"), "{stderr}");
    assert!(toy.results().is_empty());
}

#[test]
fn a_server_that_never_answers_is_an_error_and_not_a_figure() {
    let toy = Toy::new(&["--stall"]);
    let output = toy.bench(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("toy: a run of slow had no right answer in time"),
        "{}",
        stderr(&output)
    );
    assert!(toy.results().is_empty());
    toy.wait_until_all_servers_ended();
}

#[test]
fn a_server_that_counts_or_is_profiled_is_not_timed() {
    for busy_with in ["counting allocations", "profiling"] {
        let output = Toy::new(&["--busy-with", busy_with]).bench(&[]);
        assert_eq!(output.status.code(), Some(1));
        let refusal = format!("says that it is {busy_with}, and must not be timed");
        assert!(stderr(&output).contains(&refusal), "{}", stderr(&output));
    }
}

#[test]
fn a_listener_that_is_not_the_child_is_refused() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let output = Toy::new(&["--announce", &port]).bench(&[]);
    assert!(stderr(&output).contains("but another process does"), "{}", stderr(&output));
}

#[test]
fn ctrl_c_stops_the_servers_and_keeps_no_result() {
    let toy = Toy::new(&[]);
    let lab = toy.lab(&["bench", "--measurement", "60"]).spawn().unwrap();
    toy.wait_for_a_server();
    send("INT", lab.id());
    let output = lab.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).contains("nothing was written"), "{}", stderr(&output));
    toy.wait_until_all_servers_ended();
    assert!(toy.results().is_empty());
}

#[test]
fn servers_and_generator_end_when_lab_is_killed() {
    let toy = Toy::new(&[]);
    let mut lab = toy.lab(&["bench", "--measurement", "60"]).spawn().unwrap();
    toy.wait_for_a_server();
    // The generator is the one child of `lab` that is no server.
    let children = format!("/proc/{0}/task/{0}/children", lab.id());
    let children = || std::fs::read_to_string(&children).unwrap_or_default();
    wait_until("the generator runs", || children().split_whitespace().count() == 2);
    let children: Vec<_> = children().split_whitespace().map(str::to_owned).collect();
    send("KILL", lab.id());
    lab.wait().unwrap();
    toy.wait_until_all_servers_ended();
    wait_until("the generator has ended", || children.iter().all(|pid| has_ended(pid)));
}

#[test]
fn too_few_open_files_are_told_with_the_remedy() {
    let toy = Toy::new(&[]);
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -n 80; exec "$@""#, "sh"])
        .arg(env!("CARGO_BIN_EXE_lab"))
        .args(["bench", "--bin-dir", "target/bin"])
        .current_dir(toy.path("."))
        .output()
        .unwrap();
    assert!(stderr(&output).contains("ulimit -Hn 106"), "{}", stderr(&output));
}

#[test]
fn a_soft_limit_is_raised_without_asking() {
    let toy = Toy::new(&[]);
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -Sn 40; exec "$@""#, "sh"])
        .arg(env!("CARGO_BIN_EXE_lab"))
        .args(["bench", "--bin-dir", "target/bin", "--users", "60"])
        .args(SHORT)
        .current_dir(toy.path("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}
