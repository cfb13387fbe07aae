//! `lab compare` on servers that take a port and print nothing.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    process::{Command, Output, Stdio},
};

use lab_system::process::is_alive;

use crate::toy::{
    CALM, SHORT, STAND_IN, Signal, Toy, children, ends, fails, json, says, send_to_group, stderr,
    stdout, wait_until,
};

/// A stand-in that listens on the given port and leaves its process id in the toy's directory.
fn server(toy: &Toy, args: &str) -> String {
    format!("{STAND_IN} --port {{port}} --pid-dir {} {args}", toy.path("pids").display())
}

pub fn compare(toy: &Toy, baseline: &str, candidate: &str, args: &[&str]) -> Output {
    let sides = ["compare", "--baseline", baseline, "--candidate", candidate];
    toy.run(&[&sides[..], &SHORT[..], &CALM[..], args].concat())
}

/// A comparison of a server with itself.
fn with_itself(toy: &Toy, server: &str, args: &[&str]) -> Command {
    let sides = ["compare", "--baseline", server, "--candidate", server, "--get=/"];
    toy.lab(&[&sides[..], &SHORT[..], &CALM[..], args].concat())
}

#[test]
fn json_has_the_verdict_and_its_figures() {
    let toy = Toy::new(&[]);
    let args = ["--get", "/?token=hunter2", "--json", "--metric", "latency-p50"];
    let args = [&args[..], &["--header", "Authorization: hunter2", "--markdown", "it.md"]].concat();
    let output = compare(&toy, &server(&toy, ""), &server(&toy, ""), &args);
    let document = json(&output);
    // Two pairs are too few for a verdict.
    assert_eq!(document["verdict"], "undecided", "{document}");
    ends(&output, 3);
    assert_eq!(document["pairs"], 2);
    assert_eq!(document["metric"], "latency-p50");
    let reason = document["reason"].as_str().unwrap();
    assert!(reason.starts_with("p50 latency: "), "{reason}");
    for side in ["speedup", "aa"] {
        for metric in ["throughput", "cpu_per_request"] {
            assert!(document[side][metric]["estimate"].as_f64().unwrap() > 0.0, "{document}");
        }
    }
    assert!(document["exact"].is_object());
    // Both are read by others.
    for file in [document["record"].as_str().unwrap(), "it.md"] {
        let text = std::fs::read_to_string(toy.path(file)).unwrap();
        assert!(text.contains("Authorization: ***") && !text.contains("hunter2"), "{text}");
    }
    toy.wait_until_all_servers_ended();
}

#[test]
fn the_port_comes_by_argument_or_environment() {
    let toy = Toy::new(&[]);
    let command = format!("{STAND_IN} --answer 7");
    ends(&compare(&toy, &command, &command, &["--get", "/", "--port-arg", "--port"]), 3);
    let script = format!("sh -c 'exec {STAND_IN} --port $THE_PORT'");
    let args = ["--get", "/", "--port-env", "THE_PORT", "--ready", "/health"];
    ends(&compare(&toy, &script, &script, &args), 3);
}

#[test]
fn a_candidate_with_other_answers_or_no_start_is_an_error() {
    let toy = Toy::new(&[]);
    for (candidate, message) in [
        ("--answer 7", "the candidate and the baseline answer GET / differently"),
        ("--die-at-start", "| the database is missing"),
    ] {
        fails(
            &compare(&toy, &server(&toy, ""), &server(&toy, candidate), &["--get", "/"]),
            2,
            message,
        );
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn a_request_that_never_gets_an_answer_is_lost() {
    let toy = Toy::new(&[]);
    let candidate = server(&toy, "--hang-at-request 200");
    let output = compare(&toy, &server(&toy, ""), &candidate, &["--get", "/"]);
    ends(&output, 2);
    assert!(stdout(&output).contains("never got an answer"), "{}", stdout(&output));
    let allowed = ["--get", "/", "--allow-unfinished"];
    ends(&compare(&toy, &server(&toy, ""), &candidate, &allowed), 3);
}

#[test]
fn a_connection_that_closes_under_a_request_is_a_note() {
    let toy = Toy::new(&[]);
    let output = with_itself(&toy, &server(&toy, "--close-at-request 50"), &[]).output().unwrap();
    ends(&output, 3);
    let printed = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("candidate: 2 requests sent again over a new"), "{printed}");
}

#[test]
fn requests_come_from_a_file_and_changing_answers_are_checked_by_length() {
    let toy = Toy::new(&[]);
    let requests = "[[request]]\npath = \"/a\"\nheaders = { accept = \"text/plain\" }\n\
                    [[request]]\nmethod = \"DELETE\"\npath = \"/b\"\n";
    std::fs::write(toy.path("requests.toml"), requests).unwrap();
    let counting = server(&toy, "--count");
    let output = compare(&toy, &counting, &counting, &["--requests", "requests.toml"]);
    ends(&output, 3);
    let checked = "only its status, content type and length (1 to 10 bytes) are checked";
    says(&output, checked);
    assert!(stdout(&output).contains("note: the baseline answers"), "{}", stdout(&output));
    let broken = server(&toy, "--count --answer error:the-database-is-missing");
    fails(
        &compare(&toy, &counting, &broken, &["--get", "/"]),
        2,
        "30 bytes instead of 1 to 10: error:the",
    );
}

#[test]
fn a_redirect_is_an_error_unless_it_is_what_you_measure() {
    let toy = Toy::new(&[]);
    let moved = server(&toy, "--status 302");
    let output = compare(&toy, &moved, &moved, &["--get", "/"]);
    ends(&output, 2);
    let message =
        "the baseline answers GET / with a redirect (302) to `/elsewhere`: ask for that path";
    says(&output, message);
    ends(&compare(&toy, &moved, &moved, &["--get", "/", "--compare", "status"]), 3);
}

#[test]
fn bad_options_are_errors_before_a_server_starts() {
    let toy = Toy::new(&[]);
    let good = server(&toy, "");
    for (args, message) in [
        (&["--get", "no-slash"][..], "must start with /"),
        (&["--post", "no-such-file"], "there is no file no-such-file"),
        (&["--requests", "no-such-file"], "cannot read no-such-file"),
        (&["--get", "/", "--header", "no colon"], "must be `Name: value`"),
        (&[], "there is no request: give --get, --post or --requests"),
    ] {
        fails(&compare(&toy, &good, &good, args), 2, message);
    }
    says(&compare(&toy, "unbalanced 'quote", &good, &["--get", "/"]), "unbalanced quotes");
    assert!(toy.started().is_empty());
}

#[test]
fn servers_and_generator_end_when_lab_is_killed_and_the_next_one_tidies_up() {
    let toy = Toy::new(&[]);
    let temporary = toy.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let left = || temporary.read_dir().unwrap().count();
    // A shell between `lab` and the server, as with `npm start`.
    let command = format!("sh -c '{}; true'", server(&toy, ""));
    let sides = ["compare", "--baseline", &command, "--candidate", &command, "--get", "/"];
    let mut lab = toy.lab(&[&sides[..], &["--measurement", "60"]].concat());
    let mut lab = lab.env("TMPDIR", &temporary).process_group(0).spawn().unwrap();
    let children = || children(lab.id());
    // The supervisor of a server, and the generator.
    wait_until("the generator runs", || children().len() == 2);
    let children = children();
    send_to_group(Signal::SIGKILL, lab.id());
    lab.wait().unwrap();
    toy.wait_until_all_servers_ended();
    wait_until("the generator has ended", || !children.iter().any(|pid| is_alive(*pid)));

    assert!(left() > 0, "a killed process cannot remove its temporary directories");
    ends(&toy.lab(&["verify"]).env("TMPDIR", &temporary).output().unwrap(), 0);
    assert_eq!(left(), 0);
}

#[test]
fn every_server_has_ended_when_lab_says_that_it_was_interrupted() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    for (signal, command) in [
        // A closed terminal, and a server that only ends when it is killed.
        (Signal::SIGHUP, format!("sh -c 'trap \"\" HUP TERM; exec {server}'")),
        // One that leaves the process group, and one that leaves the process tree as well.
        (Signal::SIGINT, format!("sh -c 'setsid {server} & exec sleep 60'")),
        (Signal::SIGTERM, format!("sh -c '(setsid {server} &); exec sleep 60'")),
    ] {
        let started = toy.started().len();
        let lab = with_itself(&toy, &command, &[]).process_group(0).spawn().unwrap();
        wait_until("a server runs", || toy.started().len() > started);
        send_to_group(signal, lab.id());
        let output = lab.wait_with_output().unwrap();
        assert!(toy.all_servers_ended(), "{command}: {}", stderr(&output));
        ends(&output, 130);
        let message = "interrupted: the servers are stopped and nothing was written";
        says(&output, message);
    }
}

#[test]
fn nohup_keeps_a_comparison_when_its_terminal_closes() {
    let toy = Toy::new(&[]);
    let lab = with_itself(&toy, &server(&toy, ""), &[]);
    let mut nohup = Command::new("nohup");
    nohup.arg(lab.get_program()).args(lab.get_args()).current_dir(toy.path("."));
    nohup.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let lab = nohup.spawn().unwrap();
    toy.wait_for_a_server();
    send_to_group(Signal::SIGHUP, lab.id());
    ends(&lab.wait_with_output().unwrap(), 3);
}

#[test]
fn figures_are_printed_even_if_they_cannot_be_kept() {
    let toy = Toy::new(&[]);
    let lab = with_itself(&toy, &server(&toy, ""), &[]).spawn().unwrap();
    toy.wait_for_a_server();
    let runs = toy.path("target/lab/runs");
    std::fs::remove_dir(&runs).unwrap();
    std::fs::write(&runs, "in the way").unwrap();
    let output = lab.wait_with_output().unwrap();
    ends(&output, 2);
    assert!(stdout(&output).contains("throughput (decides)"), "{}", stderr(&output));
    says(&output, "target/lab/runs: ");
}

#[test]
fn a_result_that_could_not_be_written_is_an_error_before_a_server_starts() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let output = compare(&toy, &server, &server, &["--get", "/", "--markdown", "pids"]);
    says(&output, "pids is a directory: name a file");
    std::fs::remove_dir_all(toy.path("target/lab")).unwrap();
    std::fs::write(toy.path("target/lab"), "in the way").unwrap();
    for output in [compare(&toy, &server, &server, &["--get", "/"]), toy.bench(&[])] {
        assert!(matches!(output.status.code(), Some(1 | 2)), "{}", stderr(&output));
        says(&output, "start `lab` elsewhere");
    }
    assert!(toy.started().is_empty());
    assert_eq!(std::fs::read_to_string(toy.path("target/lab")).unwrap(), "in the way");
}

#[test]
fn the_name_of_the_comment_need_not_be_text() {
    let toy = Toy::new(&[]);
    let name = OsStr::from_bytes(b"\xff.md");
    let mut lab = with_itself(&toy, &server(&toy, ""), &[]);
    ends(&lab.arg("--markdown").arg(name).output().unwrap(), 3);
    assert!(toy.path(".").join(name).is_file());
}

#[test]
fn a_server_may_print_what_it_likes() {
    let toy = Toy::new(&["--noise"]);
    let output = toy.bench(&[]);
    ends(&output, 0);
    // Nobody waits for a line of a server that is given its port. Its output is read all the same.
    let noisy = server(&toy, "--noise");
    ends(&compare(&toy, &noisy, &noisy, &["--get", "/"]), 3);
    // Its last words are shown, whatever they are.
    let output = Toy::new(&["--noise", "--die-at-request", "20"]).bench(&[]);
    let lines = stderr(&output);
    assert!(lines.contains("  | \u{fffd}") && lines.contains("| out of memory"), "{lines}");
}

/// Like `perf stat`: it answers commands, waits for the end of its processes and reports a count, here
/// $CALLS or else a number that differs each time. Leaves its arguments in the file `attached`.
const PERF: &str = r#"#!/bin/sh
echo "$@" >> attached
calls=${CALLS:-$(wc -l < attached)}
for command in disable enable disable; do read line && [ "$line" = $command ] && echo ack; done
for last; do :; done
while kill -0 $(echo $last | tr , ' ') 2> /dev/null; do sleep 0.02; done
echo "$calls,,raw_syscalls:sys_enter,1,100.00,," >&2
"#;

#[test]
fn system_calls_are_those_of_all_processes_and_exact_only_if_they_repeat() {
    let toy = Toy::new(&[]);
    toy.program("perf", PERF);
    // The shell only waits; its child answers.
    let command = format!("sh -c '{}; true'", server(&toy, ""));
    let args = ["compare", "--baseline", &command, "--candidate", &command, "--get", "/", "--json"];
    let run = |calls: &[(&str, &str)]| {
        let mut lab = toy.lab(&[&args[..], &SHORT[..]].concat());
        lab.env("PATH", toy.path_variable()).envs(calls.iter().copied()).output().unwrap()
    };
    let output = run(&[("CALLS", "250")]);
    let document = json(&output);
    assert_eq!(document["exact"]["candidate"]["system_calls"], 10.0, "{}", stderr(&output));

    let servers: Vec<_> = toy.started().iter().map(u32::to_string).collect();
    for arguments in std::fs::read_to_string(toy.path("attached")).unwrap().lines() {
        let pids: Vec<_> = arguments.rsplit(' ').next().unwrap().split(',').collect();
        assert_eq!(pids.len(), 2, "the shell and the server: {arguments}");
        assert!(servers.iter().any(|server| server == pids[1]), "{arguments}");
    }

    let output = run(&[]);
    let document = json(&output);
    assert_eq!(document["exact"]["candidate"], serde_json::json!({}), "{}", stderr(&output));
    says(&output, "so they are not exact");
}
