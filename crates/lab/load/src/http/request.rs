//! A request as the bytes that go over the wire.

use std::net::SocketAddr;

use anyhow::Context as _;
use hyper::{Method, Request, header};

use crate::{Ask, Expected};

/// A request, ready to be sent again and again.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Head and body.
    pub bytes: Vec<u8>,
    /// Whether the answer has no body whatever its head says: the request is a `HEAD`.
    pub head_only: bool,
    /// The right answer.
    pub expected: Expected,
}

impl Prepared {
    /// Reads the body and builds the request that `target` is sent.
    pub fn new(ask: &Ask, target: SocketAddr) -> anyhow::Result<Self> {
        let body = match &ask.body {
            Some(file) => {
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?
            }
            None => Vec::new(),
        };
        // Goes through the types of `http`, which refuse what would not be one request: a space in
        // the path, the end of a line in a header.
        let mut request = Request::builder().method(ask.method.as_str()).uri(&ask.path);
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(())
            .with_context(|| format!("`{} {}` is no HTTP request", ask.method, ask.path))?;

        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let mut bytes = format!("{} {path} HTTP/1.1\r\n", ask.method).into_bytes();
        if !request.headers().contains_key(header::HOST) {
            bytes.extend(format!("host: {target}\r\n").into_bytes());
        }
        for (name, value) in request.headers() {
            // The length is ours to say.
            if name != header::CONTENT_LENGTH {
                bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
            }
        }
        // Servers may wait for a body where a method usually has one, unless they are told.
        let usual = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
        if usual || !body.is_empty() {
            bytes.extend(format!("content-length: {}\r\n", body.len()).into_bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(body);
        let head_only = request.method() == Method::HEAD;
        Ok(Self { bytes, head_only, expected: ask.expected.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Answer;

    fn bytes(method: &str, path: &str, body: Option<&str>) -> anyhow::Result<String> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(&file, body.unwrap_or_default())?;
        let ask = Ask {
            method: method.into(),
            path: path.into(),
            headers: body
                .map(|_| ("content-type".into(), "text/plain".into()))
                .into_iter()
                .collect(),
            body: body.map(|_| file.path().to_owned()),
            expected: Expected { status: 200, answer: Answer::Text(String::new()) },
        };
        let prepared = Prepared::new(&ask, ([127, 0, 0, 1], 80).into())?;
        Ok(String::from_utf8(prepared.bytes)?)
    }

    #[test]
    fn a_request_is_written_down_once_with_all_that_a_server_needs() {
        let get = bytes("GET", "/a?b=c", None).unwrap();
        assert_eq!(get, "GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\n");
        let post = bytes("POST", "/", Some("hello")).unwrap();
        assert!(post.ends_with("content-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"));
        assert!(bytes("POST", "/", None).unwrap().contains("content-length: 0\r\n"));
    }

    #[test]
    fn what_would_not_be_one_request_is_refused() {
        for (method, path) in [("GET", "/a b"), ("G T", "/"), ("GET", "/\r\nx: y")] {
            let error = bytes(method, path, None).unwrap_err().to_string();
            assert!(error.contains("is no HTTP request"), "{error}");
        }
    }
}
