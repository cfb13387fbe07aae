//! Which processes `lab` takes for the server.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use lab_system::process::is_alive;
use serde_json::Value;

use crate::{
    reach::Running,
    toy::{CALM, SHORT, Signal, Toy, children, json, send_to_group, wait_until},
};

/// Compares two paths of a server that runs already; returns the document of `--json`.
fn compare(toy: &Toy, url: &str) -> Value {
    let (one, other) = (format!("{url}/a"), format!("{url}/b"));
    let sides = ["compare", "--json", "--baseline-url", &one, "--candidate-url", &other];
    let output = toy.run(&[&sides[..], &SHORT[..], &CALM[..]].concat());
    json(&output)
}

#[test]
fn the_process_at_the_address_is_measured_and_not_another_one_with_its_port() {
    let toy = Toy::new(&[]);
    let server = Running::new(&[]);
    let port: u16 = server.1.rsplit(':').next().unwrap().parse().unwrap();
    // This process is older, so it would be the first one with that port.
    let _neighbour = TcpListener::bind(("127.0.0.2", port)).unwrap();
    let document = compare(&toy, &format!("http://127.0.0.1:{port}"));
    let record = fs::read(document["record"].as_str().map(|path| toy.path(path)).unwrap()).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    for run in record["cases"][0]["runs"].as_array().unwrap() {
        let found = &run["server"];
        assert_eq!(found["address"], format!("127.0.0.1:{port}"), "{found}");
        assert_eq!(found["pid"], server.0.id(), "{found}");
        assert!(found["command"].as_str().unwrap().contains("lab-stand-in --port"), "{found}");
        assert!(run["neighbours"]["programs"].is_number(), "{}", run["neighbours"]);
    }
}

/// Answers on a port that it shares with others; with another argument, in two processes.
const SHARING: &str = r#"
import http.server, os, socket, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "1")
        self.end_headers()
        self.wfile.write(b"6")
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()
if sys.argv[2:]:
    os.fork()
server = Server(("127.0.0.1", int(sys.argv[1])), Answer)
print("listening", flush=True)
server.serve_forever()
"#;

/// Killed when dropped, with its child.
struct Sharing(Child);

impl Sharing {
    /// Waits until as many processes listen as it has.
    fn new(port: u16, fork: &[&str]) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut server = Command::new("python3");
        server.args(["-c", SHARING, &port.to_string()]).args(fork).process_group(0);
        let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        assert_eq!(lines.take(1 + fork.len()).count(), 1 + fork.len());
        Self(server)
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        send_to_group(Signal::SIGKILL, self.0.id());
        self.0.wait().unwrap();
    }
}

#[test]
fn processes_that_share_a_port_are_one_server_only_if_they_are_related() {
    let toy = Toy::new(&[]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    let forks = Sharing::new(free.port(), &["fork"]);
    let document = compare(&toy, &url);
    assert!(document["speedup"]["cpu_per_request"]["estimate"].is_number(), "{document}");
    let stranger = Sharing::new(free.port(), &[]);
    let document = compare(&toy, &url);
    assert_eq!(document["speedup"]["cpu_per_request"], Value::Null, "{document}");
    let notes = document["notes"].to_string();
    assert!(notes.contains(&format!("both listen on {free}")), "{notes}");
    drop((forks, stranger));
}

#[test]
fn what_a_server_puts_into_the_background_stays_in_its_tree_and_ends_with_it() {
    let toy = Toy::new(&[]);
    let file = toy.path("background");
    let file = file.display();
    // In another session, and its parent ends at once.
    let script =
        format!("(setsid sleep 600 & echo $! > {file}.new); mv {file}.new {file}; exec sleep 600");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.args(["supervise", "--", "sh", "-c", &script]).stdin(Stdio::piped());
    let mut lab = lab.spawn().unwrap();
    wait_until("a process is in the background", || toy.path("background").exists());
    let orphan = fs::read_to_string(toy.path("background")).unwrap().trim().parse().unwrap();
    let server = children(lab.id())[0];
    wait_until("the server has adopted it", || children(server).contains(&orphan));
    drop(lab.stdin.take());
    lab.wait().unwrap();
    assert!(!is_alive(orphan) && !is_alive(server));
}
