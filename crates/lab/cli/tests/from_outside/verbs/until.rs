//! A comparison that ends when it knows, or at a limit, and goes on later.

use std::fs;

use crate::toy::{CALM, Toy, ends, fails, json, prints, says, server, stderr};

const RUNS: [&str; 4] = ["--get=/", "--measurement=0.2", "--warm-up=0.1", "--open-loop=0"];

fn with(sides: [&str; 2], more: &[&str]) -> Vec<String> {
    let args = [&["compare"], &sides[..], &RUNS, &CALM, more].concat();
    args.into_iter().map(str::to_owned).collect()
}

fn run(toy: &Toy, sides: [&str; 2], more: &[&str]) -> std::process::Output {
    let args = with(sides, more);
    toy.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_clear_difference_ends_at_one_of_the_first_looks() {
    let toy = Toy::new(&[]);
    let [fast, slow] = ["", "--turn-ms 20"].map(|args| server(&toy, args));
    let output = run(&toy, [&fast, &slow], &["--json"]);
    ends(&output, 1);
    says(&output, "  6 pairs: ");
    let document = json(&output);
    assert_eq!(document["sequential"], true);
    // On a busy machine, the first look may show too little.
    let pairs = document["pairs"].as_u64().unwrap();
    assert!([6, 8, 11].contains(&pairs), "{pairs}");
    let record = toy.read(document["record"].as_str().unwrap());
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["cases"][0]["runs"].as_array().unwrap().len() as u64, 2 * pairs);
}

#[test]
fn a_limit_before_the_first_look_leaves_no_verdict() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let output = run(&toy, [&server, &server], &["--limit=1s", "--json"]);
    ends(&output, 3);
    assert_eq!(json(&output)["reason"]["code"], "few-pairs");
    for (limit, message) in
        [("0s", "has to be between 1s and a day"), ("soon", "not a time such as 60s")]
    {
        fails(&run(&toy, [&server, &server], &["--limit", limit]), 2, message);
    }
    fails(&run(&toy, [&server, &server], &["--limit=9s", "--pairs=6"]), 2, "cannot be used with");
}

#[test]
fn the_same_command_goes_on_with_more() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let script = format!("#!/bin/sh\nexec {}\n", server.replace("{port}", "$1"));
    toy.program("server", &script);
    let sides = ["./server {port}"; 2];
    // Nothing is that narrow.
    let narrow = ["--interval=0.1%", "--limit=8s"];
    let first = run(&toy, sides, &narrow);
    // On a busy machine, the limit comes before the first look.
    prints(&first, "the same command with --more");
    // The newest record.
    let pairs = || {
        let record = toy.read(&toy.results().pop().unwrap());
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        record["cases"][0]["pairs"].as_u64().unwrap()
    };
    let before = pairs();
    let more = run(&toy, sides, &[&["--more"], &narrow[..]].concat());
    assert!(pairs() > before, "{before} {}", stderr(&more));
    let none = "no comparison of the last hour has this command";
    fails(&run(&toy, ["./server {port}", "a=./server {port}"], &["--more"]), 2, none);
    toy.program("server", &script.replace("exec", "exec  "));
    fails(&run(&toy, sides, &["--more"]), 2, "the baseline has changed since");
    fs::remove_dir_all(toy.path("target/lab/runs")).unwrap();
    fails(&run(&toy, sides, &["--more"]), 2, none);
}
