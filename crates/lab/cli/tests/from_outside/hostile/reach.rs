//! How `lab compare` reaches servers that it was told nothing about, and those that run already.

use std::{
    io::{BufRead as _, BufReader},
    net::{TcpListener, TcpStream, UdpSocket},
    process::{Child, Command, Output, Stdio},
};

use lab_system::{free_port, process::pids};
use nix::{sys::signal::kill, unistd::Pid};
use serde_json::Value;

use crate::toy::{
    CALM, SHORT, STAND_IN, Signal, Toy, compare, fails, json, needs_python, says, wait_until,
};

/// Compares a server with one that has another answer. If both are reached, the error says so, and
/// nothing has to be measured.
fn reach(toy: &Toy, server: &str, flags: &[&str]) -> Output {
    let baseline = format!("{STAND_IN} --pid-dir {} {server}", toy.path("pids").display());
    let candidate = format!("{baseline} --answer 7");
    compare(toy, &baseline, &candidate, &[&["--get", "/"], flags].concat())
}

#[test]
fn a_port_that_another_process_has_is_an_error() {
    let toy = Toy::new(&[]);
    let reserved = free_port().unwrap();
    let port = reserved.number;
    let stranger = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let taken = format!("process {} already listens on port {port}", std::process::id());
    let output = reach(&toy, &format!("--port {port}"), &["--port", &port.to_string()]);
    fails(&output, 2, &taken);
    assert!(toy.started().is_empty());
    drop(stranger);
}

#[test]
fn a_server_is_found_whatever_it_prints() {
    let toy = Toy::new(&[]);
    let reserved = free_port().unwrap();
    let port = reserved.number;
    let reached = "the candidate and the baseline answer GET / differently";
    let fixed = port.to_string();
    for (server, flags, message) in [
        // A silent one.
        ("--port 0", &[][..], reached),
        ("--port 0 --noise --say-first 'connecting to localhost:1'", &[], reached),
        (&format!("--port {port} --say-first 'Started server at localhost:{port}'"), &[], reached),
        (
            &format!("--port {port} --listen-twice --say-first 'UP at http://localhost:{port}/!'"),
            &[],
            reached,
        ),
        (&format!("--port {port} --listen-twice"), &[], "baseline: it listens on the ports "),
        (&format!("--port {port} --listen-twice"), &["--port", &fixed], reached),
        (
            &format!("--port {port} --early-port"),
            &[],
            &format!("it also listens on port {port}: name the one to measure with --port N"),
        ),
    ] {
        fails(&reach(&toy, server, flags), 2, message);
        toy.wait_until_all_servers_ended();
    }
}

/// A server that somebody else runs, and its port; killed when dropped, with its children.
struct SomebodysServer(Child, u16);

impl SomebodysServer {
    fn new() -> Self {
        let reserved = free_port().unwrap();
        let port = reserved.number;
        let child = Command::new(STAND_IN).args(["--port", &port.to_string()]).spawn().unwrap();
        wait_until("it listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self(child, port)
    }

    /// One that shares its port with others. With an argument, these are two processes; waits until both
    /// listen.
    fn sharing(port: u16, fork: &[&str]) -> Self {
        let mut server = Command::new("python3");
        server.args(["-c", SHARING, &port.to_string()]).args(fork).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        assert_eq!(lines.take(1 + fork.len()).count(), 1 + fork.len());
        Self(server, port)
    }
}

impl Drop for SomebodysServer {
    fn drop(&mut self) {
        for pid in pids(self.0.id()) {
            kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
        }
        self.0.wait().unwrap();
    }
}

/// Measures two paths of one server that runs already.
fn two_paths(toy: &Toy, port: u16) -> Output {
    let [a, b] = ["a", "b"].map(|path| format!("http://localhost:{port}/{path}"));
    let sides = ["compare", "--json", &a, &b];
    toy.run(&[&sides[..], &SHORT[..], &CALM[..]].concat())
}

#[test]
fn a_running_server_is_measured_and_left_alone() {
    let toy = Toy::new(&[]);
    let mut server = SomebodysServer::new();
    let (pid, port) = (server.0.id(), server.1);
    // This process is older, so it would be the first one with that port.
    let _neighbour = TcpListener::bind(("127.0.0.2", port)).unwrap();
    let output = two_paths(&toy, port);
    fails(&output, 3, "so its caches and heap carry over");
    let document = json(&output);
    assert!(document["speedup"]["cpu_per_request"]["estimate"].is_number(), "{document}");
    let record: Value =
        serde_json::from_str(&toy.read(document["record"].as_str().unwrap())).unwrap();
    for run in record["cases"][0]["runs"].as_array().unwrap() {
        let found = &run["server"];
        assert_eq!(found["address"], format!("127.0.0.1:{port}"), "{found}");
        assert_eq!(found["pid"], pid, "{found}");
        assert!(found["command"].as_str().unwrap().contains("lab-stand-in --port"), "{found}");
        assert!(run["neighbours"]["programs"].is_number(), "{}", run["neighbours"]);
    }

    // The other side may be a command.
    let url = format!("http://localhost:{port}");
    let other = format!("{STAND_IN} --port 0 --answer 7");
    let sides = ["compare", &url, &other, "--get", "/"];
    says(&toy.run(&sides), "answer GET / differently");
    let same = toy.run(&["compare", &url, &url]);
    says(&same, "ask one server for the same");
    assert!(server.0.try_wait().unwrap().is_none(), "it still runs");
}

/// Answers on a port that it shares with others; with another argument, in two processes.
const SHARING: &str = r#"
import os, socket, sys, threading
def serve(stream):
    for line in stream.makefile(newline="\r\n"):
        if line == "\r\n":
            stream.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6")
if sys.argv[2:]:
    os.fork()
server = socket.create_server(("127.0.0.1", int(sys.argv[1])), reuse_port=True)
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
"#;

#[test]
fn processes_that_share_a_port_are_one_server_only_if_they_are_related_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    let reserved = free_port().unwrap();
    let forks = SomebodysServer::sharing(reserved.number, &["fork"]);
    let document = json(&two_paths(&toy, forks.1));
    assert!(document["speedup"]["cpu_per_request"]["estimate"].is_number(), "{document}");
    let _stranger = SomebodysServer::sharing(forks.1, &[]);
    let document = json(&two_paths(&toy, forks.1));
    assert_eq!(document["speedup"]["cpu_per_request"], Value::Null, "{document}");
    let notes = document["notes"].to_string();
    assert!(notes.contains(&format!("both listen on 127.0.0.1:{}", forks.1)), "{notes}");
}

#[test]
fn another_host_needs_permission_and_gets_little_load_with_route() {
    let toy = Toy::new(&[]);
    // An address of this machine that is not loopback stands in for another machine. A UDP socket connects without a packet.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("192.0.2.1:9").expect("this test needs a route to other machines");
    let listener = TcpListener::bind((socket.local_addr().unwrap().ip(), 0)).unwrap();
    let url = &format!("http://{}", listener.local_addr().unwrap());
    let args = ["compare", url, &format!("{url}/b")];
    let permitted = "--allow-remote permits 8 --users and 100 requests";
    fails(&toy.run(&args), 2, permitted);
    fails(&toy.run(&[&args[..], &["--allow-remote", "--users", "9"]].concat()), 2, permitted);
    // A triage watches the process, so it has to be on this machine.
    let output = toy.run(&["triage", "--url", url]);
    fails(&output, 2, "is not on loopback: run `lab triage` on its machine");
}
