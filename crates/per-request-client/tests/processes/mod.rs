//! The real binaries, on real sockets, with a real environment.

use std::{
    convert::Infallible,
    ffi::OsStr,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{Request, body::Body, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Every variant's name and binary.
pub const VARIANTS: [(&str, &str); 4] = [
    ("slow", env!("CARGO_BIN_EXE_per-request-client-slow")),
    ("shared-connector", env!("CARGO_BIN_EXE_per-request-client-shared-connector")),
    ("no-reuse", env!("CARGO_BIN_EXE_per-request-client-no-reuse")),
    ("fixed", env!("CARGO_BIN_EXE_per-request-client-fixed")),
];

/// A server process that ends with this value, and with the test in any case.
pub struct Process {
    child: Child,
    /// `IP:PORT`.
    pub addr: String,
}

impl Process {
    /// Starts `binary`, which trusts the authorities in the file `authorities` alone, and waits
    /// until it listens. The error is what it wrote to standard error before it gave up.
    pub fn start(
        binary: &str,
        args: &[&str],
        authorities: impl AsRef<OsStr>,
    ) -> Result<Self, String> {
        let mut child = Command::new(binary)
            .args(args)
            .arg("--exit-with-parent")
            .env("SSL_CERT_FILE", authorities)
            .env_remove("SSL_CERT_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        match line.trim_end().split_once("://") {
            Some((_, addr)) => Ok(Self { addr: addr.to_owned(), child }),
            None => {
                let mut stderr = String::new();
                child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
                assert!(!child.wait().unwrap().success(), "{stderr}");
                Err(stderr)
            }
        }
    }

    /// What the process answers to `GET path`.
    pub async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).header("host", &self.addr);
        self.ask(request.body(Empty::new()).unwrap()).await
    }

    /// What the process answers to `request`, over a connection of its own.
    pub async fn ask<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let stream = TcpStream::connect(&self.addr).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let (head, body) = sender.send_request(request).await.unwrap().into_parts();
        let mut headers: Vec<_> = head
            .headers
            .iter()
            .filter(|(name, _)| *name != "date")
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        headers.sort_unstable();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: head.status.as_u16(), headers, body }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All of an answer but its date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<String>,
    pub body: Bytes,
}

impl Answer {
    /// Whether the answer has exactly this header.
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|line| line == header)
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
