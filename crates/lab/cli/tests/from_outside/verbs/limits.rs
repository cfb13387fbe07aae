//! What a shell or the system may deny to `lab`: it measures without it, or says what is missing.

use std::{process::Command, thread::scope};

use serde_json::json;

use crate::toy::{Toy, ends, fails, prints, says, server, short};

/// What a shell does before it becomes `lab compare`; then the exit code, and what is part of the message.
const SHELLS: [(&str, i32, &str); 9] = [
    ("ulimit -f 1;", 2, "json: File too large"),
    ("ulimit -n 24;", 2, "and only 24 are allowed: raise the hard limit"),
    ("ulimit -s 256;", 2, "the stack may have only 256 KiB, and `lab` needs 2048 KiB"),
    ("mkdir gone && cd gone && rmdir ../gone;", 2, "cannot read the current directory"),
    (r"mv crates $(printf 'b\377d') && cd b*d;", 3, "  Results    "),
    ("exec < /dev/null; export HOME=/nowhere TMPDIR=/tmp;", 3, "  Results    "),
    ("exec taskset -c 0", 3, "  Results    "),
    ("exec env -i", 3, "  Results    "),
    ("exec <&- >&-;", 3, "  Results    "),
];

#[test]
fn a_generator_names_a_limit_before_it_opens_a_connection() {
    let toy = Toy::new(&[]);
    let expected = json!({ "status": 200, "answer": "any" });
    let plan = json!({
        "target": { "address": "127.0.0.1:1", "host": "h", "tls": null }, "server_pid": null,
        "arrivals": { "closed_loop": { "users": 60_000, "think_ms": 500, "connections": 1 } },
        "warm_up_s": 0, "measurement_s": 1, "grace_s": 0,
        "requests": [{ "method": "GET", "path": "/", "headers": [], "body_file": null, "expected": expected }],
    });
    toy.write("plan", &format!("{plan}\n"));
    let mut shell = Command::new("sh");
    // A generator whose standard input closes ends without a word.
    let script = r#"ulimit -n 1000; { cat plan; sleep 0.5; } | "$0" generate"#;
    shell.args(["-c", script, env!("CARGO_BIN_EXE_lab")]);
    let output = shell.current_dir(toy.path(".")).output().unwrap();
    fails(&output, 2, "60000 connections need 60100 open files and only 1000 are allowed");
}

#[test]
fn what_a_shell_denies_is_done_without_or_named() {
    let check = |&(prelude, code, message): &(&str, i32, &str)| {
        let toy = Toy::new(&[]);
        let lab = short(&toy, &server(&toy, ""));
        let mut shell = Command::new("sh");
        let script = if prelude.ends_with(';') {
            format!(r#"{prelude} exec "$@""#)
        } else {
            format!(r#"{prelude} "$@""#)
        };
        shell.args(["-c", &script, "sh"]).arg(lab.get_program()).args(lab.get_args());
        let output = shell.current_dir(toy.path(".")).output().unwrap();
        ends(&output, code);
        says(&output, message);
        if prelude.contains("-f") {
            // What cannot be kept is printed.
            prints(&output, "throughput (decides)");
        }
        assert!(toy.all_servers_ended(), "{prelude}");
    };
    scope(|scope| SHELLS.iter().for_each(|shell| drop(scope.spawn(move || check(shell)))));
}
