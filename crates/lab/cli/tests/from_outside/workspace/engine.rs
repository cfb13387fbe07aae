//! `lab compare --engine`: scripts that keep to the protocol, and some that do not.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::toy::{
    CALM, SHORT, STAND_IN, Signal, Toy, ends, fails, interrupt, json as document, needs_python,
    prints, stderr, stdout,
};

/// Keeps its plan, and prints an outcome. $TROUBLE chooses what goes wrong. Each process leaves its id
/// where the servers leave theirs.
const ENGINE: &str = r#"#!/bin/sh
touch "$PIDS/$$"
[ "$TROUBLE" = missing ] && { echo 'error: there is no tool: install it' >&2; exit 1; }
read -r plan || exit 0
echo "$plan" > "$PIDS/../plan"
case "$TROUBLE" in
    refuses) echo 'note: it was asked' >&2; echo 'error: no visits of two' >&2; exit 1 ;;
    dies) kill -9 $$ ;;
    hangs) sleep 60 & touch "$PIDS/$!" "$PIDS/../hangs"; cat > /dev/null; kill $!; exit 1 ;;
    garbled) echo '{"measured_s": 2}'; exit ;;
    loses-count) sent=7 ;;
    invents-one) more='"fifths": [49, 49],' ;;
    too-long) measured=60 ;;
    paints) notes='\u001b]0;owned\u0007it sees\u001b[2J no bodies'; more='"invalid": "\u001b[31mlate",' ;;
    lost) more='"invalid": "worker-2 was killed by SIGKILL after 3 s, so the load was lighter",' ;;
esac
echo '{"measured_s": '${measured:-0.5}', "sent": '${sent:-100}', "ok": 100, "ok_in_time": 98, '$more' "surplus": 1,
    "engine": {"name": "Mine", "version": "9.8.7", "workers": 2, "notes": ["'"${notes:-it sees no bodies}"'"]}}'
"#;
/// The page of the course that describes the protocol, with an engine in Python.
const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/engines.md"));

fn compare(toy: &Toy, trouble: &str, args: &[&str]) -> Command {
    toy.program("mine", ENGINE);
    let pids = toy.path("pids");
    let command = format!("{STAND_IN} --port {{port}} --pid-dir {}", pids.display());
    let sides = ["compare", &command, &command, "--get", "/"];
    let mut lab = toy.lab(&[&sides[..], &SHORT[..], args].concat());
    lab.env("PIDS", pids).env("TROUBLE", trouble);
    lab
}

fn run(toy: &Toy, trouble: &str, args: &[&str]) -> Output {
    compare(toy, trouble, &[&["--engine=./mine"], args].concat()).output().unwrap()
}

/// The document that `lab` printed, and the case in the record that it names.
fn printed_and_kept(toy: &Toy, output: &Output) -> (Value, Value) {
    let document = document(output);
    let record = toy.read(document["record"].as_str().unwrap());
    let mut record: Value = serde_json::from_str(&record).unwrap();
    (document, record["cases"][0].take())
}

#[test]
fn an_engine_gets_a_plan_and_the_record_has_its_outcome() {
    let toy = Toy::new(&[]);
    let output = run(&toy, "", &["--workers", "2", "--json"]);
    ends(&output, 3);
    let (document, case) = printed_and_kept(&toy, &output);
    let notes = ["it sees no bodies"];
    let engine = json!({ "name": "Mine", "version": "9.8.7", "workers": 2, "notes": notes });
    assert_eq!(document["engine"], engine);
    assert_eq!(document["speedup"]["cpu_per_request"], Value::Null);
    assert_eq!(case["load"], "8 users, without a pause, by Mine 9.8.7 with 2 workers");
    assert_eq!(case["variants"][0]["throughput_rps"], 196.0);
    assert_eq!(case["variants"][0]["latency_ms"]["p50"], Value::Null);

    let plan: Value = serde_json::from_str(&toy.read("plan")).unwrap();
    let users = json!({ "closed_loop": { "users": 8, "think_ms": 0, "connections": 1 } });
    assert_eq!((&plan["arrivals"], &plan["options"]), (&users, &json!({ "workers": 2 })));
    assert_eq!((&plan["warm_up_s"], &plan["measurement_s"]), (&json!(0.1), &json!(0.5)));
    let learned = json!({ "digest": { "bytes": 1, "crc32": crc32fast::hash(b"6") } });
    let expected = json!({ "status": 200, "answer": learned });
    assert_eq!(
        plan["requests"],
        json!([{ "method": "GET", "path": "/", "headers": [], "body_file": null, "expected": expected }])
    );
}

#[test]
fn the_engine_of_the_course_works_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    let (_, rest) = PAGE.split_once("```python\n").unwrap();
    let (engine, _) = rest.split_once("```").unwrap();
    toy.program("engine", engine);
    let output = compare(&toy, "", &["--engine", "./engine", "--json"]).output().unwrap();
    let (_, case) = printed_and_kept(&toy, &output);
    assert_eq!(case["load"], "8 users, without a pause, by engine");
    let baseline = &case["variants"][0];
    assert!(baseline["ok"].as_u64().unwrap() > 0, "{}", stderr(&output));
    assert!(baseline["latency_ms"]["p50"].as_f64().unwrap() > 0.0, "{baseline}");
    assert!(baseline["cpu_us_per_request"].as_f64().unwrap() > 0.0, "{baseline}");
    assert_eq!((&baseline["wrong"], &baseline["failed"]), (&json!(0), &json!(0)));
}

#[test]
fn a_lost_worker_is_named_and_decides_nothing() {
    let toy = Toy::new(&[]);
    let output = run(&toy, "lost", &["--workers", "2"]);
    ends(&output, 3);
    prints(&output, "worker-2 was killed");
    prints(&output, "limited baseline and candidate");
    prints(&output, "note: it sees no bodies");
}

#[test]
fn a_terminal_obeys_no_word_of_an_engine() {
    let toy = Toy::new(&[]);
    let output = run(&toy, "paints", &[]);
    ends(&output, 3);
    prints(&output, "note: it sees no bodies");
    prints(&output, "limited by the generator: late");
    assert!(!stdout(&output).contains(|it: char| it.is_control() && it != '\n'));
}

#[test]
fn what_an_engine_cannot_do_is_an_error_in_its_own_words() {
    let toy = Toy::new(&[]);
    for (trouble, words) in [
        ("refuses", "the engine `mine` failed: no visits of two"),
        ("dies", "the engine `mine` failed without a word (signal: 9 (SIGKILL))"),
        ("garbled", "the outcome of the engine `mine` cannot be read: missing field `ok_in_time`"),
        ("loses-count", "the outcome of the engine `mine` cannot be true: `sent` is 7, but `ok`,"),
        ("invents-one", "cannot be true: `fifths` has 2 values instead of 5"),
        ("too-long", "cannot be true: `measured_s` is 60, not between 0 and 1."),
    ] {
        let output = run(&toy, trouble, &[]);
        fails(&output, 2, words);
        let is_noted = stderr(&output).contains("note: it was asked");
        assert_eq!(is_noted, trouble == "refuses", "{}", stderr(&output));
    }
}

#[test]
fn a_wrong_engine_is_an_error_before_a_server_starts() {
    let toy = Toy::new(&[]);
    let own = "--engine=./mine";
    for (trouble, args, words) in [
        ("missing", &[own][..], "there is no tool: install it"),
        ("", &[own, "--even-arrivals"], "--engine has no open loop"),
        ("", &["--engine=mien"], "there is no engine `mien`: give the name of one in crates"),
        ("", &["--engine=./mien"], "cannot run the engine `mien`: is it installed?"),
        // Without an end.
        ("", &["--engine=/usr/bin/yes"], "it printed more than 64 MiB"),
        ("", &["--workers=2"], "--workers and --listen need another engine"),
        ("", &["--listen=127.0.0.1"], "--workers and --listen need another engine"),
    ] {
        fails(&compare(&toy, trouble, args).output().unwrap(), 2, words);
    }
    assert_eq!(toy.started().len(), 1, "only the engine that misses its tool");
}

#[test]
fn ctrl_c_ends_an_engine_and_the_tools_that_it_started() {
    let toy = Toy::new(&[]);
    let mut lab = compare(&toy, "hangs", &["--engine=./mine"]);
    ends(&interrupt(&mut lab, Signal::SIGINT, |_| toy.path("hangs").exists()), 130);
}

/// Our own generator, which it stops for a while in the runs of the server that is asked for `/b`.
const STOPPER: &str = r#"#!/usr/bin/env python3
import signal, subprocess, sys, time
if plan := sys.stdin.readline():
    generator = subprocess.Popen(["LAB", "generate"], stdin=subprocess.PIPE, text=True)
    generator.stdin.write(plan)
    generator.stdin.flush()
    time.sleep(1)
    if '"/b"' in plan:
        generator.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        generator.send_signal(signal.SIGCONT)
    sys.exit(generator.wait())
"#;

#[test]
fn a_generator_that_is_stopped_in_the_runs_of_one_side_decides_nothing_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    toy.program("stopper", &STOPPER.replace("LAB", env!("CARGO_BIN_EXE_lab")));
    let server = format!("{STAND_IN} --port {{port}} --pid-dir {}", toy.path("pids").display());
    let [one, other] = ["/a", "/b"].map(|path| format!("{server} GET {path}"));
    let sides = ["compare", &one, &other];
    let paths = ["--engine=./stopper", "--json"];
    let runs = ["--pairs=2", "--measurement=2", "--warm-up=0.1"];
    let output = toy.run(&[&sides[..], &paths, &runs, &CALM].concat());
    ends(&output, 3);
    let document = document(&output);
    let reason = &document["reason"];
    assert_eq!(
        (&reason["code"], &reason["variant"]),
        (&json!("standstill-decides"), &json!("candidate"))
    );
    let notes = document["notes"].as_array().unwrap();
    let note = notes.iter().find(|note| note["code"] == "standstill").unwrap();
    assert_eq!(note["in_runs"], 2, "{note}");
}

#[test]
fn a_program_loads_a_server_of_a_case_as_often_as_it_wants() {
    let toy = Toy::new(&[]);
    toy.program("mine", ENGINE);
    let mut lab = toy.lab(&["load", "toy-slow"]);
    lab.env("PIDS", toy.path("pids")).stdin(Stdio::piped());
    let mut lab = lab.spawn().unwrap();
    let (mut stdin, stdout) = (lab.stdin.take().unwrap(), lab.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    let mut answer = || serde_json::from_str::<Value>(&answers.next().unwrap().unwrap()).unwrap();
    let about = answer();
    assert!(about["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{about}");
    assert_eq!(about["servers"][0][0], "toy-slow");
    let mut ask = |line: Value| {
        writeln!(stdin, "{line}").unwrap();
        answer()
    };
    let options = json!({ "own": 1 });
    let outcome = ask(json!({ "engine": "./mine", "measurement_s": 0.5, "options": options }));
    assert_eq!((&outcome["surplus"], &outcome["lost"]), (&json!(1), &json!(0)));
    let figures = &outcome["figures"];
    assert_eq!((&figures["throughput_rps"], &figures["p99_ms"]), (&json!(196.0), &Value::Null));
    assert_eq!(outcome["limited_by"], Value::Null);
    let plan: Value = serde_json::from_str(&toy.read("plan")).unwrap();
    assert_eq!((&plan["options"], &plan["requests"][0]["path"]), (&options, &json!("/")));
    assert_eq!(ask(json!({ "visits": 2 })), json!({}));
    drop(stdin);
    assert!(lab.wait().unwrap().success());
}

#[test]
fn a_program_learns_what_a_case_is() {
    let toy = Toy::new(&[]);
    let case = document(&toy.run(&["load", "toy"]));
    assert_eq!((&case["case"], &case["load"]["users"]), (&json!("toy"), &json!(3)));
    assert_eq!(case["requests"], case["counted_requests"]);
    assert!(case["variants"].as_array().unwrap().contains(&json!("slow")), "{case}");
}

#[test]
fn a_program_learns_how_much_load_is_possible() {
    let toy = Toy::new(&[]);
    let many = toy.run(&["load", "toy-slow", "--connections", "1099511627776"]);
    fails(&many, 2, "open files and only");
    assert!(toy.started().is_empty(), "neither needs a server");
    fails(&toy.run(&["load", "toy-slaw"]), 2, "no case is named `toy-slaw`");
}
