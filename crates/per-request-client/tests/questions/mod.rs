//! The odd things that all variants are asked.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::{
    Request, Version,
    body::{Body, Frame},
    http::request::Builder,
};

const MEBIBYTE: usize = 1024 * 1024;

/// What is asked, and the status that is expected.
pub struct Question {
    pub name: &'static str,
    pub status: u16,
    pub request: Request<Chunks>,
}

/// A body that comes in pieces. Its length is known if a `content-length` says so.
#[derive(Debug, Default)]
pub struct Chunks {
    chunks: VecDeque<Bytes>,
    /// A body that is too large is cut off before it ends; one that went on would meet a closed
    /// connection, and might see that before it sees the answer.
    never_ends: bool,
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.chunks.pop_front() {
            None if self.never_ends => Poll::Pending,
            chunk => Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty() && !self.never_ends
    }
}

/// `body` in chunks.
fn chunked(body: impl Into<Vec<u8>>) -> Chunks {
    let body = Bytes::from(body.into());
    let starts = (0..body.len()).step_by(100_000);
    let chunks = starts.map(|start| body.slice(start..body.len().min(start + 100_000))).collect();
    Chunks { chunks, never_ends: false }
}

/// Everything but the site's resources.
pub fn questions() -> Vec<Question> {
    let ask = |method: &str, target: &str| {
        Request::builder().method(method).uri(target).header("host", "proxy.example")
    };
    let question = |name, status, request: Builder, body: Chunks| {
        let request = request.body(body).unwrap();
        Question { name, status, request }
    };
    let empty = Chunks::default;
    let announced = |length: usize| ask("POST", "/echo").header("content-length", length);
    let hop_by_hop = ask("GET", "/echo")
        .header("connection", "keep-alive, X-Private")
        .header("connection", "x-also-private")
        .header("x-private", "1")
        .header("x-also-private", "1")
        .header("x-public", "1")
        .header("keep-alive", "timeout=5")
        .header("proxy-connection", "keep-alive")
        .header("proxy-authorization", "Basic c2VjcmV0")
        .header("te", "trailers")
        .header("upgrade", "websocket")
        .header("cookie", "a=1")
        .header("cookie", "b=2");
    let too_large = Chunks { never_ends: true, ..chunked(vec![b'x'; MEBIBYTE + 1]) };
    let too_large_from_the_start = Chunks { never_ends: true, ..empty() };
    vec![
        question("unknown path", 404, ask("GET", "/no-such-resource"), empty()),
        question("unknown path, posted to", 404, ask("POST", "/no-such"), chunked("x")),
        question("head", 200, ask("HEAD", "/"), empty()),
        question("head of an unknown path", 404, ask("HEAD", "/no-such-resource"), empty()),
        question("another method", 405, ask("DELETE", "/"), empty()),
        question("an unknown method", 405, ask("BREW", "/"), empty()),
        question("options", 405, ask("OPTIONS", "/"), empty()),
        question("options of no path", 404, ask("OPTIONS", "*"), empty()),
        question("a query", 200, ask("GET", "/echo?a=1&b=%20/../&c=%ff"), empty()),
        question("an empty query", 200, ask("GET", "/echo?"), empty()),
        question("the page with a query", 200, ask("GET", "/?a=1"), empty()),
        question("an encoded path", 404, ask("GET", "/%65cho"), empty()),
        question("an absolute target", 200, ask("GET", "http://elsewhere.example/echo"), empty()),
        question("HTTP/1.0", 200, ask("GET", "/echo").version(Version::HTTP_10), empty()),
        question("hop-by-hop headers", 200, hop_by_hop, empty()),
        question("small body", 200, announced(5), chunked("hello")),
        question("chunked body", 200, ask("POST", "/echo"), chunked("hello")),
        question("largest body", 200, announced(MEBIBYTE), chunked(vec![b'x'; MEBIBYTE])),
        question("largest chunks", 200, ask("POST", "/echo"), chunked(vec![b'x'; MEBIBYTE])),
        question("too large", 413, announced(MEBIBYTE + 1), too_large_from_the_start),
        question("too large in chunks", 413, ask("POST", "/echo"), too_large),
        question("a tunnel", 400, ask("CONNECT", "elsewhere.example:443"), empty()),
        question("still there", 200, ask("GET", "/echo"), empty()),
    ]
}
