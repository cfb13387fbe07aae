//! The head of an answer: its status, and how its body ends.

use std::mem::MaybeUninit;

use anyhow::{Context as _, bail, ensure};
use httparse::{ParserConfig, Response, Status};

const MOST_HEADERS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the connection may be reused after this answer.
    pub keep_alive: bool,
}

/// How to find the end of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Framing {
    Length(u64),
    Chunked,
    /// The body ends with the connection.
    ToClose,
}

impl Head {
    /// The head at the start of `bytes` and its length, or `None` if it is not complete yet.
    ///
    /// `head_only`: the request was a `HEAD`, whose answer describes a body that is not sent.
    pub fn parse(bytes: &[u8], head_only: bool) -> anyhow::Result<Option<(usize, Self)>> {
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut response = Response::new(&mut []);
        let parsed = ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            bytes,
            &mut headers,
        );
        let Status::Complete(length) = parsed.context("the answer is not HTTP")? else {
            return Ok(None);
        };
        let status = response.code.context("an answer has a status")?;
        ensure!(status != 101, "the server switches to another protocol");

        let mut keep_alive = response.version == Some(1);
        let (mut content_length, mut coded, mut chunked) = (None, false, false);
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case("content-length") {
                let length = number(header.value)?;
                if content_length.is_some_and(|other| other != length) {
                    bail!("the answer has two different lengths");
                }
                content_length = Some(length);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                coded = true;
                // Only the last coding determines how the body ends.
                chunked = tokens(header.value).last().is_some_and(|last| is(last, "chunked"));
            } else if header.name.eq_ignore_ascii_case("connection") {
                for token in tokens(header.value) {
                    keep_alive = (keep_alive || is(token, "keep-alive")) && !is(token, "close");
                }
            }
        }
        let framing = match content_length {
            _ if head_only || status < 200 || status == 204 || status == 304 => Framing::Length(0),
            _ if chunked => Framing::Chunked,
            Some(length) if !coded => Framing::Length(length),
            _ => Framing::ToClose,
        };
        keep_alive &= framing != Framing::ToClose;
        Ok(Some((length, Self { status, framing, keep_alive })))
    }
}

/// Digits only: Rust's own parser takes a sign, too.
fn number(value: &[u8]) -> anyhow::Result<u64> {
    let text = String::from_utf8_lossy(value);
    let digits = Some(&*text).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|it| it.parse().ok())
        .with_context(|| format!("the content-length `{}` is not a number", text.escape_debug()))
}

/// The items of a comma-separated header.
fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn is(token: &[u8], word: &str) -> bool {
    token.eq_ignore_ascii_case(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        let (length, head) = Head::parse(text.as_bytes(), false).unwrap().unwrap();
        assert_eq!(length, text.len());
        head
    }

    #[test]
    fn the_end_of_a_body_follows_the_standard() {
        let framing =
            |status, headers| head(&format!("HTTP/1.1 {status}\r\n{headers}\r\n")).framing;
        let length = "Content-Length: 5\r\n";
        assert_eq!(framing("200 OK", length), Framing::Length(5));
        assert_eq!(framing("200 OK", "transfer-encoding: gzip, Chunked\r\n"), Framing::Chunked);
        let both = "content-length: 5\r\ntransfer-encoding: chunked\r\n";
        assert_eq!(framing("200 OK", both), Framing::Chunked);
        let not_chunked = "content-length: 5\r\ntransfer-encoding: gzip\r\n";
        assert_eq!(framing("200 OK", not_chunked), Framing::ToClose);
        assert_eq!(framing("200 OK", ""), Framing::ToClose);
        for bodiless in ["100 Continue", "204 No Content", "304 Not Modified"] {
            assert_eq!(framing(bodiless, length), Framing::Length(0));
        }
    }

    #[test]
    fn a_connection_stays_open_unless_the_answer_closes_it() {
        let keeps = |version: &str, connection: &str| {
            head(&format!("HTTP/{version} 200 OK\r\ncontent-length: 0\r\n{connection}\r\n"))
                .keep_alive
        };
        assert!(keeps("1.1", ""));
        assert!(!keeps("1.1", "Connection: x, Close\r\n"));
        assert!(!keeps("1.0", ""));
        assert!(keeps("1.0", "connection: Keep-Alive\r\n"));
        assert!(!head("HTTP/1.1 200 OK\r\n\r\n").keep_alive, "its body ends with the connection");
    }

    #[test]
    fn a_malformed_head_is_rejected() {
        let lengths = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n";
        let [signed, plus, long] = ["-1", "+5", "99999999999999999999"]
            .map(|it| format!("HTTP/1.1 200 OK\r\ncontent-length: {it}\r\n\r\n"));
        let crowd = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(MOST_HEADERS + 1));
        let upgrade = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
        for text in ["SSH-2.0-OpenSSH\r\n\r\n", lengths, &signed, &plus, &long, &crowd, upgrade] {
            assert!(Head::parse(text.as_bytes(), false).is_err(), "{text}");
        }
    }
}
