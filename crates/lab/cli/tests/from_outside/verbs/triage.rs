//! `lab triage`, on a server with one fault.

use crate::toy::{Toy, ends, fails, json, prints, server, stdout};

#[test]
fn a_lock_held_across_a_wait_is_the_first_suspect() {
    let toy = Toy::new(&["--turn-ms", "20"]);
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    assert_eq!(card["limit"], "one-at-a-time", "{card:#}");
    let suspect = &card["suspects"][0]["id"];
    assert!(suspect == "lock" || suspect == "limit" && is_busy(&card), "{card:#}");
    // Each level has its figures, and the page is there.
    let mut levels = card["levels"].as_array().unwrap().iter();
    assert!(levels.all(|level| level["throughput_rps"].as_f64() > Some(0.0)));
    let files = toy.files("target/lab/triage/toy-slow");
    assert!(["index.html", "triage.json"].iter().all(|it| files.iter().any(|file| file == it)));
}

/// The stalls are long, so that a generator that is late on a busy machine makes no tail of its own.
#[test]
fn the_slowest_requests_wait_for_a_lock_that_is_held_now_and_then() {
    let toy = Toy::new(&["--stall-ms", "300"]);
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    let tail = &card["tail"];
    if tail["difference"]["call"] != "futex" && is_busy(&card) {
        return;
    }
    assert_eq!(
        (&tail["difference"]["call"], &tail["company"]),
        (&"futex".into(), &"everyone".into()),
        "{tail:#}"
    );
    assert!(
        tail["difference"]["low"].as_f64() > Some(0.0) && tail["times"].as_u64() >= Some(3),
        "{tail:#}"
    );
    assert!(tail["sentence"].as_str().unwrap().contains(" waited in `futex` "), "{tail:#}");
}

/// Whether other programs needed so much CPU time, as the card says, that nothing about time is certain.
fn is_busy(card: &serde_json::Value) -> bool {
    let mut notes = card["notes"].as_array().unwrap().iter();
    notes.any(|note| ["busy-machine", "starved"].map(|code| note["code"] == code).contains(&true))
}

#[test]
fn memory_that_grows_with_each_request_is_the_first_suspect() {
    let card = card_of_a_server_that_keeps(&[]);
    let leak = &card["suspects"][0];
    assert_eq!(leak["id"], "leak", "{card:#}");
    let memory = &card["memory"];
    assert_eq!(memory["verdict"], "grows", "{memory:#}");
    // 4 KiB of each request, and what the allocator needs for it.
    let [slope, low, high] = [0, 1, 2].map(|at| memory["bytes_per_request"][at].as_f64().unwrap());
    assert!(0.0 < low && low <= slope && slope <= high, "{memory:#}");
    assert!((3_000.0..6_000.0).contains(&slope), "{memory:#}");
    let [before, after] =
        ["memory_before_mib", "memory_after_mib"].map(|key| card["facts"][key].as_f64().unwrap());
    assert!(before < 10.0 && after > before + 8.0, "{before}, {after}");
}

#[test]
fn memory_that_grows_to_a_limit_is_no_suspect() {
    // Some seconds of load reach it.
    let card = card_of_a_server_that_keeps(&["--keep-at-most", "4000"]);
    let mut suspects = card["suspects"].as_array().unwrap().iter();
    assert!(suspects.all(|it| it["id"] != "leak"), "{card:#}");
    assert_eq!(card["memory"]["verdict"], "fills-up", "{card:#}");
    assert!(card["facts"]["memory_after_mib"].as_f64() > Some(16.0), "{card:#}");
}

/// One that keeps 4 KiB of each request, and answers one at a time, so that the tests need little memory.
fn card_of_a_server_that_keeps(args: &[&str]) -> serde_json::Value {
    let toy = Toy::new(&[&["--turn-ms", "1", "--keep", "4"], args].concat());
    let output = toy.run(&["triage", "toy-slow", "--json"]);
    ends(&output, 0);
    json(&output)
}

#[test]
fn a_server_without_a_right_answer_is_an_error_and_leaves_no_page() {
    let toy = Toy::new(&["--answer", "7"]);
    fails(&toy.run(&["triage", "toy-slow"]), 2, "no right answer: ");
    assert!(!toy.path("target/lab/triage/toy-slow").exists());
}

#[test]
fn an_objective_holds_up_to_a_rate_below_what_the_server_can_answer() {
    // One request at a time, each for at least 40 ms, so no more than 25 a second.
    let toy = Toy::new(&["--turn-ms", "40"]);
    let output = toy.run(&["triage", "toy-slow", "--json", "--objective", "p50 < 80 ms"]);
    ends(&output, 0);
    let card = json(&output);
    let answer = &card["objective"];
    assert_eq!(answer["objective"], "p50 < 80 ms");
    // A run counts by its percentile.
    for run in answer["runs"].as_array().unwrap() {
        let (ms, held) = (run["latency_ms"].as_f64().unwrap(), run["shortfall"].is_null());
        assert!(!held || ms < 80.0, "{run}");
    }
    assert!(answer["low_per_s"].as_f64() < Some(25.0), "{answer:#}");
    // Then the load generator is late before the server is.
    if answer["found"] != "up-to" && is_busy(&card) {
        return;
    }
    assert_eq!(answer["found"], "up-to", "{answer:#}");
    let [low, rate, high] =
        ["low_per_s", "rate_per_s", "high_per_s"].map(|key| answer[key].as_f64().unwrap());
    assert!(1.0 < low && low < rate && rate < high, "{answer:#}");
    let sentence = answer["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("Holds p50 < 80 ms up to "), "{sentence}");
    let beyond = "; beyond: a lock, or a single permit, is held across a wait.";
    assert!(sentence.ends_with(beyond), "{sentence}");
}

#[test]
fn what_is_no_objective_is_an_error_before_a_server_starts() {
    let toy = Toy::new(&[]);
    for (objective, message) in [
        ("p95 < 50 ms", "`p95` is no percentile: write p50, p90, p99 or p99.9"),
        ("fast", "write a percentile and a time: `p99 < 50 ms`"),
    ] {
        fails(&toy.run(&["triage", "toy-slow", "--objective", objective]), 2, message);
    }
    assert!(toy.started().is_empty());
}

#[test]
fn of_several_requests_the_one_that_costs_most_comes_first() {
    let toy = Toy::new(&[]);
    let works = server(&toy, "--work-at /report");
    let output = toy.run(&["triage", &works, "--get=/", "--get=/report", "--get=/news"]);
    ends(&output, 0);
    prints(&output, "GET /report costs most: ");
    prints(&output, "% of the CPU time of one visit (");
    prints(&output, "request req/s p50 p99 CPU/req share ");
    let screen = stdout(&output);
    let mut lines = screen.lines().skip_while(|line| !line.contains(" CPU/req "));
    assert!(lines.nth(1).is_some_and(|first| first.starts_with("  GET /report")), "{screen}");
    let dirs = toy.files("target/lab/triage");
    let card = toy.read(&format!("target/lab/triage/{}/triage.json", dirs[0]));
    let card: serde_json::Value = serde_json::from_str(&card).unwrap();
    let routes = card["routes"].as_array().unwrap();
    let names: Vec<_> = routes.iter().map(|route| route["route"].as_str().unwrap()).collect();
    assert_eq!(names, ["GET /", "GET /report", "GET /news"]);
    let shares: Vec<_> = routes.iter().map(|it| it["cpu_share"].as_f64().unwrap()).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-6 && shares[1] > 0.8, "{shares:?}");
}

/// One of them always sleeps, while the others wait for its lock.
#[test]
fn a_request_that_sleeps_with_a_lock_waits_in_that_call() {
    let toy = Toy::new(&[]);
    let sleeps = server(&toy, "--turn-ms 5");
    let output = toy.run(&["triage", &sleeps, "--get=/", "--get=/news", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    let routes = card["routes"].as_array().unwrap();
    assert_eq!(routes.len(), 2, "{card:#}");
    for route in routes {
        let sleeps = route["time"]["waits-in"] == "clock_nanosleep";
        // A thread that wakes up late, because others have the cores, is ready instead.
        assert!(sleeps || route["time"].is_null() || is_busy(&card), "{route:#}");
    }
}
