//! The server as a process: what it prints, and how it ends. All case servers share this shell.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

fn server(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lock-scope-slow"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The line that the server prints once it listens.
fn announcement(server: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

#[test]
fn it_takes_a_free_port_of_the_loopback_and_announces_it() {
    let mut server = server(&["--exit-with-parent"]);
    let line = announcement(&mut server);
    let port = line.strip_prefix("listening on http://127.0.0.1:").unwrap();
    assert_ne!(port.trim_end().parse::<u16>().unwrap(), 0);
    // Its parent's end of the pipe closes here, as it would if the parent died.
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_termination_ends_it_gracefully() {
    for signal in ["-TERM", "-INT"] {
        let mut server = server(&[]);
        announcement(&mut server);
        let pid = server.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        assert!(server.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn a_port_that_is_taken_is_an_error_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = server(&["--addr", &address]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with(&format!("error: cannot listen on {address}; `--addr")), "{error}");
    assert!(error.contains("Address already in use"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn a_downstream_out_of_bounds_is_refused() {
    let output = server(&["--downstream-ms", "10001"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
