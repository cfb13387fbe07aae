//! How `lab compare` reaches servers that it was told nothing about.

use std::{
    net::TcpListener,
    process::{Child, Command},
};

use crate::{
    compare::compare,
    toy::{SHORT, STAND_IN, Toy, ends, fails, json, says, stderr, stdout, wait_until},
};

/// A baseline with these arguments, and a candidate with another answer: the error about the answers
/// shows that both were reached, and nothing has to be measured.
fn is_reached(toy: &Toy, server: &str, args: &[&str]) -> Result<(), String> {
    let pids = toy.path("pids");
    let baseline = format!("{STAND_IN} --pid-dir {} {server}", pids.display());
    let candidate = format!("{baseline} --answer 7");
    let output = compare(toy, &baseline, &candidate, &[&["--get", "/"], args].concat());
    ends(&output, 2);
    toy.wait_until_all_servers_ended();
    let error = stderr(&output);
    if error.contains("the candidate and the baseline answer GET / differently") {
        return Ok(());
    }
    Err(error)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_is_found_whatever_it_prints() {
    let toy = Toy::new(&[]);
    let early = free_port();
    for server in [
        // Silent.
        "--port 0",
        "--port 0 --noise --say-first 'connecting to localhost:1'",
        &format!("--port {early} --say-first 'Started server at localhost:{early}'"),
    ] {
        is_reached(&toy, server, &[]).unwrap();
    }
}

#[test]
fn of_several_ports_none_is_guessed() {
    let toy = Toy::new(&[]);
    let port = free_port().to_string();
    let server = format!("--port {port} --listen-twice");
    let announced = format!("{server} --say-first 'Server UP at http://localhost:{port}/!'");
    is_reached(&toy, &announced, &[]).unwrap();
    let error = is_reached(&toy, &server, &[]).unwrap_err();
    assert!(error.contains("baseline: it listens on the ports "), "{error}");
    is_reached(&toy, &server, &["--port", &port]).unwrap();
}

#[test]
fn a_port_that_appears_after_another_one_was_chosen_is_an_error() {
    let toy = Toy::new(&[]);
    let port = free_port().to_string();
    let server = format!("--port {port} --early-port");
    let error = is_reached(&toy, &server, &[]).unwrap_err();
    let expected = format!("it also listens on port {port}: name the one to measure with --port N");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn a_port_that_somebody_else_has_is_an_error_before_the_start() {
    let toy = Toy::new(&[]);
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let error = is_reached(&toy, &format!("--port {port}"), &["--port", &port]).unwrap_err();
    let expected = format!("process {} already listens on port {port}", std::process::id());
    assert!(error.contains(&expected), "{error}");
    assert!(toy.started().is_empty());
}

#[test]
fn an_error_names_its_own_cause() {
    let toy = Toy::new(&[]);
    let error = is_reached(&toy, "--port 0 --status 502 --answer overloaded", &[]).unwrap_err();
    let expected = "error: the baseline answers GET / with status 502: overloaded\n";
    assert!(error.ends_with(expected) && error.lines().count() == 2, "{error}");
}

#[test]
fn each_side_may_have_requests_of_its_own() {
    let toy = Toy::new(&[]);
    let server = format!("{STAND_IN} --port 0");
    let routes = ["--get", "/", "--baseline-get", "/slow", "--candidate-get", "/fast"];
    let output = compare(&toy, &server, &server, &routes);
    ends(&output, 3);
    assert!(stdout(&output).contains("baseline GET /slow, candidate GET /fast"));

    let error = stderr(&compare(&toy, &server, &server, &routes[..4]));
    assert!(error.contains("each --baseline-get needs a --candidate-get"), "{error}");
}

/// A stand-in that somebody else runs, and its URL; killed when dropped.
pub struct Running(pub Child, pub String);

impl Running {
    pub fn new(args: &[&str]) -> Self {
        let port = free_port().to_string();
        let child = Command::new(STAND_IN).args(["--port", &port]).args(args).spawn().unwrap();
        let address = format!("127.0.0.1:{port}");
        wait_until("the stand-in listens", || std::net::TcpStream::connect(&address).is_ok());
        Self(child, format!("http://localhost:{port}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn running_servers_are_measured_and_left_alone() {
    let toy = Toy::new(&[]);
    let mut server = Running::new(&[]);
    let url = server.1.as_str();
    let (slow, fast) = (format!("{url}/slow"), format!("{url}/fast"));
    let run = |args: &[&str]| toy.run(&[&["compare"], args, &SHORT[..]].concat());
    // Two paths of one server, and a running server against a command.
    let output = run(&["--baseline-url", &slow, "--candidate-url", &fast, "--json"]);
    fails(&output, 3, "so its caches and heap carry over");
    let document = json(&output);
    assert!(document["speedup"]["cpu_per_request"]["estimate"].is_number(), "{document}");
    let command = format!("{STAND_IN} --port 0 --answer 7");
    says(
        &run(&["--baseline-url", url, "--candidate", &command, "--get", "/"]),
        "answer GET / differently",
    );
    assert!(server.0.try_wait().unwrap().is_none(), "it still runs");

    let error = stderr(&run(&["--baseline-url", url, "--candidate-url", url]));
    assert!(error.contains("ask one server for the same"), "{error}");
    drop(server);
}

#[test]
fn another_host_needs_permission_and_gets_little_load() {
    let toy = Toy::new(&[]);
    // An address of this machine that is not loopback stands in for another machine.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let Ok(()) = socket.connect("192.0.2.1:9") else { return };
    let ip = socket.local_addr().unwrap().ip();
    let listener = TcpListener::bind((ip, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let args = ["compare", "--baseline-url", &url, "--candidate-url", &format!("{url}/b")];
    let error = stderr(&toy.run(&args));
    assert!(error.contains("--allow-remote permits 8 --users and 100 requests"), "{error}");
    let output = toy.run(&[&args[..], &["--allow-remote", "--users", "9"]].concat());
    assert_eq!(stderr(&output), error);
}
