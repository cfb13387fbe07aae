//! `lab compare` on servers that know nothing of `lab`: they take a port and say nothing.

use std::process::{Command, Output};

use serde_json::Value;

use crate::toy::{SHORT, Toy, send, stderr, wait_until};

const STAND_IN: &str = env!("CARGO_BIN_EXE_lab-stand-in");

/// A stand-in that listens where it is told, and leaves its process id in the toy's directory.
fn server(toy: &Toy, args: &str) -> String {
    format!("{STAND_IN} --port {{port}} --pid-dir {} {args}", toy.path("pids").display())
}

fn compare(toy: &Toy, baseline: &str, candidate: &str, args: &[&str]) -> Output {
    let sides = ["compare", "--baseline", baseline, "--candidate", candidate];
    toy.lab(&[&sides[..], &SHORT[..], args].concat()).output().unwrap()
}

#[test]
fn json_holds_the_verdict_and_what_it_rests_on() {
    let toy = Toy::new(&[]);
    let output = compare(&toy, &server(&toy, ""), &server(&toy, ""), &["--get", "/", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Two pairs are too few for a verdict, whatever they say.
    assert_eq!(document["verdict"], "too_noisy", "{document}");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(document["pairs"], 2);
    for side in ["speedup", "aa"] {
        for metric in ["throughput", "cpu_per_request"] {
            assert!(document[side][metric]["estimate"].as_f64().unwrap() > 0.0, "{document}");
        }
    }
    assert!(document["exact"].is_object());
    assert!(toy.path(document["record"].as_str().unwrap()).is_file());
    toy.wait_until_all_servers_ended();
}

#[test]
fn a_port_reaches_the_server_by_argument_or_environment() {
    let toy = Toy::new(&[]);
    let command = format!("{STAND_IN} --answer 7");
    let output = compare(&toy, &command, &command, &["--get", "/", "--port-arg", "--port"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let script = format!("sh -c 'exec {STAND_IN} --port $THE_PORT'");
    let args = ["--get", "/", "--port-env", "THE_PORT", "--ready", "/health"];
    let output = compare(&toy, &script, &script, &args);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn a_candidate_that_answers_otherwise_is_no_faster_version() {
    let toy = Toy::new(&[]);
    let output = compare(&toy, &server(&toy, ""), &server(&toy, "--answer 7"), &["--get", "/"]);
    assert_eq!(output.status.code(), Some(2));
    let error = stderr(&output);
    assert!(error.contains("the candidate answers GET / otherwise than the baseline"), "{error}");
    toy.wait_until_all_servers_ended();
}

#[test]
fn answers_that_change_by_themselves_are_held_to_their_status() {
    let toy = Toy::new(&[]);
    let counting = server(&toy, "--count");
    let output = compare(&toy, &counting, &counting, &["--get", "/", "--get", "/again"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("only the status is checked"), "{}", stderr(&output));
}

#[test]
fn a_server_that_does_not_start_is_misuse_and_is_heard() {
    let toy = Toy::new(&[]);
    let output = compare(&toy, &server(&toy, ""), &server(&toy, "--die-at-start"), &["--get", "/"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("| the database is missing"), "{}", stderr(&output));
    toy.wait_until_all_servers_ended();
}

#[test]
fn what_cannot_be_compared_is_told_at_once() {
    let toy = Toy::new(&[]);
    let good = server(&toy, "");
    for (args, message) in [
        (&["--get", "no-slash"][..], "has to start with /"),
        (&["--post", "no-such-file"], "there is no file no-such-file"),
        (&["--requests", "no-such-file"], "cannot read no-such-file"),
        (&["--get", "/", "--header", "no colon"], "has to be `Name: value`"),
        (&[], "nothing is asked: give --get, --post or --requests"),
    ] {
        let output = compare(&toy, &good, &good, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
    let output = compare(&toy, "unbalanced 'quote", &good, &["--get", "/"]);
    assert!(stderr(&output).contains("unbalanced quotes"), "{}", stderr(&output));
    assert!(toy.started().is_empty(), "nothing is started in vain");
}

#[test]
fn requests_come_from_a_file_too() {
    let toy = Toy::new(&[]);
    let requests = "[[request]]\npath = \"/a\"\nheaders = { accept = \"text/plain\" }\n\
                    [[request]]\nmethod = \"DELETE\"\npath = \"/b\"\n";
    std::fs::write(toy.path("requests.toml"), requests).unwrap();
    let good = server(&toy, "");
    let output = compare(&toy, &good, &good, &["--requests", "requests.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn a_foreign_server_ends_when_lab_is_killed_or_interrupted() {
    for (signal, code) in [("KILL", None), ("INT", Some(130))] {
        let toy = Toy::new(&[]);
        // A shell between us and the server, as `npm start` and the like would be.
        let command = format!("sh -c '{}; true'", server(&toy, ""));
        let args = ["compare", "--baseline", &command, "--candidate", &command, "--get", "/"];
        let mut lab = toy.lab(&[&args[..], &["--measurement", "60"]].concat()).spawn().unwrap();
        // Five are started to learn and check the answers or to be measured; the third stays.
        wait_until("the answers are learnt", || toy.started().len() >= 4);
        send(signal, lab.id());
        assert_eq!(lab.wait().unwrap().code(), code);
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn revisions_are_built_from_worktrees_and_compared() {
    let toy = Toy::new(&[]);
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=toy", "-c", "user.email=toy@example.org"];
        let done =
            Command::new("git").args(identity).args(args).current_dir(toy.path(".")).output();
        assert!(done.unwrap().status.success(), "git {args:?}");
    };
    // A server without dependencies, so that it is built offline and in a second.
    std::fs::create_dir_all(toy.path("src")).unwrap();
    std::fs::write(
        toy.path("Cargo.toml"),
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    )
    .unwrap();
    std::fs::write(toy.path("src/main.rs"), include_str!("tiny_server.rs")).unwrap();
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["add", "Cargo.toml", "src"]);
    git(&["commit", "--quiet", "--message", "first"]);
    git(&["commit", "--quiet", "--message", "second", "--allow-empty"]);
    let args = ["compare", "--rev", "main~1", "--rev", "main", "--bin", "tiny", "--get", "/"];
    let args = [&args[..], &SHORT[..], &["--port-arg", "--port"]].concat();
    let output = toy.lab(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("building tiny at main~1"), "{}", stderr(&output));
    // The second time both are there already.
    let again = toy.lab(&args).output().unwrap();
    assert!(!stderr(&again).contains("building"), "{}", stderr(&again));
    let missing = ["compare", "--rev", "main", "--rev", "gone", "--bin", "tiny", "--get", "/"];
    let output = toy.lab(&missing).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no revision `gone`"), "{}", stderr(&output));
}
