//! `lab bench` from outside: its output, its files and its errors.

use std::process::Command;

use serde_json::Value;

use crate::toy::{SHORT, Signal, Toy, ends, fails, interrupt, json, prints, stderr};

#[test]
fn json_accounts_for_every_request() {
    let toy = Toy::new(&[]);
    toy.git(&["init", "--quiet"]);
    toy.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
    let output = toy.run(&[&["bench", "--json"], &SHORT[..3], &["--open-loop=0.5"]].concat());
    fails(&output, 0, "\n  Report     target/lab/report.html\n");
    assert!(stderr(&output).ends_with("\nall results: target/lab/index.html\n"));
    assert!(toy.read("target/lab/index.html").contains("1 of 1 cases measured"));
    let document = json(&output);
    // The commit that is checked out says nothing of binaries that somebody put in a directory.
    assert_eq!(document["build"]["commit"], Value::Null, "{}", document["build"]);
    assert_eq!(document["build"]["profile"], "unknown");
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
            assert!(variant[key].as_f64() > Some(0.0), "{key}: {variant}");
        }
        // A busy machine may leave too few answers for the higher ones.
        let latencies = ["p50", "p90", "p99"].map(|key| variant["latency_ms"][key].as_f64());
        assert!(latencies[0].is_some() && latencies.into_iter().flatten().is_sorted());
    }
    for metric in ["throughput", "cpu_per_request", "latency_p50"] {
        assert!(case["speedup"][metric]["estimate"].is_number(), "{}", case["speedup"]);
    }
    // Two pairs between two extra runs of the baseline; a coin decides who is first in a pair.
    let runs = case["runs"].as_array().unwrap();
    let pairs: Vec<_> = runs.iter().map(|run| run["pair"].as_u64()).collect();
    assert_eq!(pairs, [None, Some(0), Some(0), Some(1), Some(1), None]);
    assert!([1, 3].into_iter().all(|at| runs[at]["variant"] != runs[at + 1]["variant"]));
    assert!(case["seed"].is_u64());
    assert_eq!(case["control"]["pairs"], 2);

    assert_eq!(toy.results().len(), 1);
    assert!(toy.path("target/lab/report.html").is_file());
    assert_eq!(toy.started().len(), 8, "a fresh server for each run, closed and open");
}

#[test]
fn a_server_that_cannot_be_timed_is_an_error_with_its_last_words() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    for (args, messages) in [
        (
            &["--die-at-start"][..],
            ["toy-slow exited before it listened (exit code 3)", "| the database is missing"],
        ),
        (
            &["--die-at-request", "20"],
            ["toy-slow died under load (exit code 4)", "| out of memory, says the stand-in"],
        ),
        // Its last words are shown, whatever they are.
        (
            &["--noise", "--die-at-request", "20"],
            ["  | \u{fffd}", "| out of memory, says the stand-in"],
        ),
        (&["--busy-with", "counting allocations"], ["counting allocations", "must not be timed"]),
        (&["--busy-with", "profiling"], ["profiling", "must not be timed"]),
        (&["--announce", &port], ["but another process does", &port]),
    ] {
        let toy = Toy::new(args);
        let output = toy.bench(&[]);
        messages.into_iter().for_each(|message| fails(&output, 2, message));
        assert!(toy.results().is_empty());
    }
}

#[test]
fn runs_without_a_right_answer_are_kept_and_decide_nothing() {
    for (args, notes) in [
        (["--answer", "7"], ["slow: 4 runs had no right answer", "`7` instead of `6`"]),
        (
            ["--turn-ms", "60000"],
            ["slow: 4 runs had no right answer in time", "never got an answer"],
        ),
    ] {
        let toy = Toy::new(&args);
        let output = toy.bench(&[]);
        ends(&output, 2);
        notes.into_iter().for_each(|note| prints(&output, note));
        prints(&output, "undecided throughput: some answers were wrong");
        assert_eq!(toy.results().len(), 1);
    }
}

#[test]
fn ctrl_c_stops_the_servers_and_keeps_the_finished_cases() {
    let toy = Toy::new(&[]);
    toy.copy_the_case("crates/toy2");
    // The seventh server is the first of the second case.
    let mut lab = toy.lab(&[&["bench"], &SHORT[..]].concat());
    let output = interrupt(&mut lab, Signal::SIGINT, |_| toy.started().len() >= 7);
    assert!(toy.all_servers_ended());
    fails(&output, 130, "1 finished case kept");
    let [record] = &toy.results()[..] else { panic!("one record is kept") };
    let record: Value = serde_json::from_str(&toy.read(record)).unwrap();
    assert_eq!(record["cases"].as_array().unwrap().len(), 1);
    assert!(!toy.path("target/lab/report.html").exists(), "a report has all cases");
}

#[test]
fn a_soft_limit_is_raised_without_asking() {
    let toy = Toy::new(&[]);
    let bench = toy.lab(&[&["bench", "--users", "60"], &SHORT[..]].concat());
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"ulimit -Sn 40; exec "$@""#, "sh"]).arg(bench.get_program());
    ends(&shell.args(bench.get_args()).current_dir(toy.path(".")).output().unwrap(), 0);
}
