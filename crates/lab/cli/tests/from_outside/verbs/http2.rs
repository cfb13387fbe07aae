//! Servers that speak HTTP/2, and what is said of other protocols.

use crate::toy::{
    STAND_IN, Toy, compare, ends, fails, http2_server, json, prints, says, server, stderr,
};

#[test]
fn a_server_that_speaks_only_http_2_is_measured_without_a_flag() {
    let toy = Toy::new(&[]);
    let server = http2_server(&toy, "");
    let output = compare(&toy, &server, &server, &["--get=/", "--ready=/"]);
    // Two pairs are too few for a verdict.
    ends(&output, 3);
    says(&output, "speaks HTTP/2, and no HTTP/1.1");
    prints(&output, "3 users, 0.002 s between requests, over HTTP/2");
    let other = http2_server(&toy, "--answer 7");
    let output = compare(&toy, &server, &other, &["--get=/"]);
    fails(&output, 2, "the candidate and the baseline answer GET / differently");
}

#[test]
fn each_side_speaks_its_own_protocol() {
    let toy = Toy::new(&[]);
    let output = compare(&toy, &server(&toy, ""), &http2_server(&toy, ""), &["--get=/"]);
    ends(&output, 3);
    prints(&output, "0.002 s between requests, candidate over HTTP/2");
}

#[test]
fn a_server_that_closes_its_connections_in_http_2_is_measured_and_noted() {
    let toy = Toy::new(&[]);
    let server = http2_server(&toy, "--answers 3");
    let output = compare(&toy, &server, &server, &["--get=/"]);
    ends(&output, 3);
    prints(&output, "opened again");
}

#[test]
fn a_call_of_grpc_that_fails_is_an_error_with_its_status() {
    let toy = Toy::new(&[]);
    let server = http2_server(&toy, "--grpc-status 13");
    let output = compare(&toy, &server, &server, &["--get=/"]);
    fails(&output, 2, "GET /: grpc-status 13");
    let server = http2_server(&toy, "--grpc-status 0");
    let output = compare(&toy, &server, &server, &["--get=/", "--http=2x3"]);
    ends(&output, 3);
    prints(&output, "over HTTP/2 with 3 streams a connection");
    ends(&compare(&toy, &server, &server, &["--get=/"]), 3);
}

#[test]
fn http_2_for_a_server_that_speaks_only_http_1_is_an_error() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let output = compare(&toy, &server, &server, &["--get=/", "--http=2"]);
    fails(&output, 2, "is not HTTP/2");
    says(&output, "without --http 2, `lab` speaks HTTP/1.1");
    let output = compare(&toy, &server, &server, &["--get=/", "--http=2x0"]);
    fails(&output, 2, "must be 2, or 2x8 for eight streams in each connection");
    let output = compare(&toy, &server, &server, &["--get=/", "--http=3"]);
    fails(&output, 2, "a server with HTTP/3 also speaks one of them");
}

#[test]
fn another_engine_refuses_http_2_with_python() {
    crate::toy::needs_python();
    let toy = Toy::new(&[]);
    let server = http2_server(&toy, "");
    let engine = concat!(env!("CARGO_MANIFEST_DIR"), "/../measure/engines/wrk");
    toy.program("programs/wrk", "#!/bin/sh\n");
    let mut lab = toy.lab(&[
        "compare",
        &server,
        &server,
        "--get=/",
        "--engine",
        engine,
        "--measurement=1",
        "--warm-up=1",
    ]);
    let output = lab.env("PATH", toy.path_variable()).output().unwrap();
    fails(&output, 2, "wrk does not support `target.http2`: use the engine `lab`");
}

#[test]
fn a_triage_and_a_profile_of_a_server_over_http_2_have_their_figures() {
    let toy = Toy::new(&[]);
    let server = http2_server(&toy, "");
    let output = toy.run(&["triage", &server, "--get=/", "--json"]);
    ends(&output, 0);
    let card = json(&output);
    let mut levels = card["levels"].as_array().unwrap().iter();
    assert!(levels.all(|level| level["throughput_rps"].as_f64() > Some(0.0)), "{card:#}");
    let args = ["flame", "--exec", &server, "--get=/", "--seconds=1", "--users=2"];
    let output = toy.run(&args);
    ends(&output, 0);
    assert!(stderr(&output).contains("speaks HTTP/2"), "{}", stderr(&output));
}

#[test]
fn a_running_server_is_asked_in_http_2() {
    let toy = Toy::new(&[]);
    let reserved = lab_system::free_port().unwrap();
    let port = reserved.number.to_string();
    let mut child = std::process::Command::new(format!("{STAND_IN}-http2"))
        .args(["--port", &port])
        .spawn()
        .unwrap();
    crate::toy::wait_until("it listens", || {
        std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    let [a, b] = ["a", "b"].map(|path| format!("http://localhost:{port}/{path}"));
    let output = compare(&toy, &a, &b, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    ends(&output, 3);
    prints(&output, "over HTTP/2");
}
