//! The server as a process: what it prints, and how it ends.
//!
//! There is no test harness here. Run with [`SERVE`] set, this program is the server under test.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    convert::Infallible,
    env,
    io::{BufRead as _, BufReader, Read as _},
    net::TcpListener,
    process::{Child, Command, ExitCode, Stdio},
};

use bytes::Bytes;
use case_server::{About, NoOptions};
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming};
use tower::service_fn;

const SERVE: &str = "CASE_SERVER_TEST_SERVES";
const CASE: &str = "variants = ['slow']\nrequest = [{ path = '/a', answer = '6' }]";

fn main() -> ExitCode {
    if env::var_os(SERVE).is_some() {
        let answer = async |_: Request<Incoming>| {
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        };
        let about = About { bin: "toy-slow", description: "", case: CASE, dir: "" };
        return case_server::main(about, None, |_: NoOptions| Ok(service_fn(answer)));
    }
    #[cfg(unix)]
    into_a_pipe_it_says_only_where_it_listens_and_a_signal_ends_it_gracefully();
    a_taken_port_is_an_error_that_names_a_fix();
    the_help_ends_with_a_request();
    #[cfg(target_os = "linux")]
    a_server_without_its_threads_exits();
    ExitCode::SUCCESS
}

fn server(args: &[&str]) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(args)
        .env(SERVE, "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
fn into_a_pipe_it_says_only_where_it_listens_and_a_signal_ends_it_gracefully() {
    for signal in ["-TERM", "-INT"] {
        let mut server = server(&[]);
        let mut stdout = BufReader::new(server.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("listening") {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0);
        }
        let port = line.trim_end().strip_prefix("listening on http://127.0.0.1:").unwrap();
        assert_ne!(port.parse::<u16>().unwrap(), 0);
        let pid = server.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "what to try is for a terminal");
        assert!(server.wait().unwrap().success(), "{signal}");
    }
}

/// So many threads have no place in this memory.
#[cfg(target_os = "linux")]
fn a_server_without_its_threads_exits() {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"ulimit -v 2000000; exec "$0""#]).arg(env::current_exe().unwrap());
    shell.env(SERVE, "").env("TOKIO_WORKER_THREADS", "20000");
    let output = shell.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    // The system says it in several ways: the stack of a thread has no place, or that of its signals.
    let starts = "error: cannot start the Tokio runtime: ";
    assert!(error.starts_with(starts) && error.lines().count() == 1, "{error}");
}

fn a_taken_port_is_an_error_that_names_a_fix() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = server(&["--addr", &address]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with(&format!("error: cannot listen on {address}; `--addr")), "{error}");
    assert!(error.contains("os error"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

fn the_help_ends_with_a_request() {
    let output = server(&["--help"]).wait_with_output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let hint =
        "\nTry it in another terminal:\n    curl http://127.0.0.1:PORT/a\nThis prints:\n    6\n";
    assert!(help.ends_with(hint), "{help}");
}
