//! `lab compare --objective`: at how many times the rate does the other server hold it?

use crate::toy::{Toy, ends, fails, json, server};

/// Runs are short if the limit is, and a median needs few answers.
const OBJECTIVE: &str = "p50 < 40 ms";

#[test]
fn a_server_that_holds_a_far_lower_rate_is_slower() {
    let toy = Toy::new(&[]);
    // One request at a time, so at most 1,000 and 100 a second: no neighbour makes up that factor.
    let [fast, slow] = ["--turn-ms 1", "--turn-ms 10"].map(|args| server(&toy, args));
    let args = ["--get=/", "--objective", OBJECTIVE, "--json"];
    let output = toy.run(&[&["compare", &*fast, &*slow], &args[..]].concat());
    let found = json(&output);
    assert_eq!(found["objective"], OBJECTIVE);
    // On a machine that is busy all the time, no rate may be found.
    if found["verdict"] == "undecided" {
        return ends(&output, 3);
    }
    assert_eq!(found["verdict"], "slower", "{found:#}");
    ends(&output, 1);
    assert!(found["ratio"]["high"].as_f64() < Some(0.9), "{found:#}");
    let slowest = &found["candidate"];
    assert!(slowest["low_per_s"].as_f64() < Some(100.0), "{found:#}");
    for side in ["baseline", "candidate"] {
        let runs = found[side]["runs"].as_array().unwrap();
        // A run counts by its percentile.
        for run in runs.iter().filter(|run| run["shortfall"].is_null()) {
            assert!(run["latency_ms"].as_f64() < Some(40.0), "{run}");
        }
    }
    // No record is kept, and `lab report` would have nothing to show.
    assert!(toy.results().is_empty());
}

#[test]
fn wrong_answers_are_an_error_and_no_lower_rate() {
    let toy = Toy::new(&[]);
    let [good, wrong] = ["", "--wrong-at-request 30"].map(|args| server(&toy, args));
    let args = ["--get=/", "--objective", OBJECTIVE];
    let output = toy.run(&[&["compare", &*good, &*wrong], &args[..]].concat());
    fails(&output, 2, "candidate: some answers were wrong or missing");
    assert!(output.stdout.is_empty());
}

#[test]
fn what_does_not_go_with_an_objective_is_refused_before_a_server_starts() {
    let toy = Toy::new(&[]);
    let good = server(&toy, "");
    for (args, message) in [
        (&["--pairs=6"][..], "'--objective <OBJECTIVE>' cannot be used with '--pairs <N>'"),
        (&["--engine=oha"], "cannot be used with '--engine <NAME|PATH>'"),
        (&["--interval=3%"], "cannot be used with '--interval <PERCENT>'"),
        (&["--more"], "cannot be used with '--more'"),
        (&["--users=4"], "cannot be used with '--users <N>'"),
        (&["--quick"], "cannot be used with '--quick'"),
        (&["--allow-remote"], "run it on the server's own machine, without --allow-remote"),
        (&[&*good], "--objective compares two servers: give one candidate, not 2"),
    ] {
        let command = ["compare", &*good, &*good, "--get=/", "--objective", OBJECTIVE];
        fails(&toy.run(&[&command[..], args].concat()), 2, message);
    }
    let no_objective = toy.run(&["compare", &*good, &*good, "--get=/", "--objective", "p95 < 1 s"]);
    fails(&no_objective, 2, "`p95` is no percentile: write p50, p90, p99 or p99.9");
    let bench = ["compare", "--bench-command=a", "--bench-command=b", "--objective", OBJECTIVE];
    fails(&toy.run(&bench), 2, "cannot be used with '--objective <OBJECTIVE>'");
    assert!(toy.started().is_empty());
}
