//! `lab bench` from outside: its output, its files and its errors.

use std::process::Command;

use serde_json::Value;

use crate::toy::{SHORT, Signal, Toy, ends, fails, json, says, send, stderr, stdout, wait_until};

#[test]
fn json_accounts_for_every_request_and_the_record_is_kept() {
    let toy = Toy::new(&[]);
    let output = toy.run(&[&["bench", "--json"], &SHORT[..3], &["--open-loop=0.5"]].concat());
    ends(&output, 0);
    let document = json(&output);
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
        assert_eq!(open("sent"), ends, "{open_loop}");
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
    // Two pairs between two extra runs of the baseline; a coin decides who is first in a pair.
    let runs = case["runs"].as_array().unwrap();
    let pairs: Vec<_> = runs.iter().map(|run| run["pair"].as_u64()).collect();
    assert_eq!(pairs, [None, Some(0), Some(0), Some(1), Some(1), None]);
    assert!([1, 3].into_iter().all(|at| runs[at]["variant"] != runs[at + 1]["variant"]));
    assert!(case["seed"].is_u64());
    assert_eq!(case["control"]["pairs"], 2);

    assert_eq!(toy.results().len(), 1);
    assert!(stderr(&output).contains("\n  Report     target/lab/report.html\n"));
    assert!(toy.path("target/lab/report.html").is_file());
    assert_eq!(toy.started().len(), 8, "a fresh server for each run, closed and open");
    toy.wait_until_all_servers_ended();
}

#[test]
fn a_server_that_dies_is_an_error_with_its_last_words() {
    for (args, messages) in [
        (
            &["--die-at-start"][..],
            ["toy-slow exited before it listened (exit code 3)", "| the database is missing"],
        ),
        (
            &["--die-at-request", "20"],
            ["toy-slow died under load (exit code 4)", "| out of memory, says the stand-in"],
        ),
    ] {
        let toy = Toy::new(args);
        let output = toy.bench(&[]);
        ends(&output, 1);
        for message in messages {
            says(&output, message);
        }
        assert!(toy.results().is_empty());
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn runs_without_a_right_answer_are_kept_and_decide_nothing() {
    for (args, notes) in [
        (&["--answer", "7"][..], ["slow: 4 runs had no right answer", "`7` instead of `6`"]),
        (&["--turn-ms=60000"], ["slow: 4 runs had no right answer in time", "never got an answer"]),
    ] {
        let toy = Toy::new(args);
        let output = toy.bench(&[]);
        ends(&output, 2);
        let printed = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        for note in notes {
            assert!(printed.contains(note), "{args:?}: {printed}");
        }
        assert!(printed.contains("undecided throughput: some answers were wrong"), "{printed}");
        assert_eq!(toy.results().len(), 1);
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn a_server_that_must_not_be_timed_is_rejected() {
    for what in ["counting allocations", "profiling"] {
        let output = Toy::new(&["--busy-with", what]).bench(&[]);
        fails(&output, 1, what);
        says(&output, "must not be timed");
    }
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    says(&Toy::new(&["--announce", &port]).bench(&[]), "but another process does");
}

#[test]
fn ctrl_c_stops_the_servers_and_keeps_the_finished_cases() {
    let toy = Toy::new(&[]);
    toy.copy_the_case("toy2");
    let lab = toy.lab(&[&["bench"], &SHORT[..]].concat()).spawn().unwrap();
    // The seventh server is the first of the second case.
    wait_until("the second case is measured", || toy.started().len() >= 7);
    send(Signal::SIGINT, lab.id());
    fails(&lab.wait_with_output().unwrap(), 130, "1 finished case kept");
    assert!(toy.all_servers_ended());
    let [record] = &toy.results()[..] else { panic!("one record is kept") };
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(record["cases"].as_array().unwrap().len(), 1);
    assert!(!toy.path("target/lab/report.html").exists(), "a report has all cases");
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
    ends(&output, 0);
}
