//! The smaller verbs, and errors that say what to do.

use std::fs;

use crate::toy::{Toy, ends, fails, json, lab, prints, stdout};

#[test]
fn mistakes_are_explained() {
    let toy = Toy::new(&[]);
    for (args, message) in [
        (&["bench", "tow"][..], "no case is named `tow`; did you mean `toy`?"),
        (&["bench", "--measurement", "0"], "has to be between 0.1 and 3600 seconds"),
        (&["report"], "`lab bench` make them"),
        (&["count", "--check"], "toy-slow: this server does not count its allocations"),
    ] {
        fails(&toy.run(args), 2, message);
    }
    toy.wait_until_all_servers_ended();
    let started = toy.started();
    fs::remove_file(toy.path("target/bin/toy-fixed")).unwrap();
    fails(&toy.bench(&[]), 2, "toy-fixed is missing; build it with `cargo build --release`");
    toy.write("crates/toy/case.toml", "title = \"no more than that\"");
    fails(&toy.run(&["verify"]), 2, "crates/toy/case.toml: ");
    fails(&toy.run(&["verify"]), 2, "missing field");
    assert_eq!(toy.started(), started);

    let mut outside = lab();
    let output = outside.arg("verify").current_dir("/").output().unwrap();
    fails(&output, 2, "run `lab` inside the workspace, or name it with `--root`");
}

#[test]
fn verify_rejects_wrong_answers() {
    ends(&Toy::new(&[]).run(&["verify"]), 0);
    let toy = Toy::new(&["--answer", "7"]);
    let wrong = toy.run(&["verify"]);
    ends(&wrong, 1);
    prints(&wrong, "GET /: `7` instead of `6`");
    assert_eq!(toy.started().len(), 2);
}

#[test]
fn an_exercise_is_verified_only_by_its_name() {
    let toy = Toy::new(&[]);
    toy.copy_the_case("crates/exercises/drill");
    let finds = |args: &[&str]| stdout(&toy.run(args)).contains("drill");
    assert!(finds(&["verify", "drill"]) && !finds(&["verify"]));
    fails(&toy.run(&["verify", "drall"]), 2, "did you mean `drill`?");
}

#[test]
fn doctor_prints_its_findings() {
    let output = Toy::new(&[]).run(&["doctor"]);
    ends(&output, 0);
    prints(&output, "perf rights");
}

#[test]
fn doctor_describes_the_machine_to_programs() {
    let document = json(&Toy::new(&[]).run(&["doctor", "--json"]));
    assert!(document["machine"]["cores"].as_u64().unwrap() > 0, "{document}");
    let findings = document["findings"].as_array().unwrap();
    let rights = findings.iter().find(|it| it["topic"] == "perf rights").unwrap();
    assert!(rights["found"].is_string() && rights.get("fix").is_some(), "{rights}");
}
