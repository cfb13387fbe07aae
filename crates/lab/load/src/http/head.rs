//! The head of an answer: its status, and how its body ends.

use std::mem::MaybeUninit;

use anyhow::{Context as _, anyhow, bail, ensure};
use httparse::{Header, ParserConfig, Response, Status};

/// An answer with more header lines is parsed twice.
const USUAL_HEADERS: usize = 100;

pub const IN_TLS: &str = "the server answers in TLS: start it yourself and give its URL, as in \
     https://localhost:PORT, or let it serve plain HTTP";
pub const IN_HTTP2: &str = "the server answers in HTTP/2, and was asked in HTTP/1.1";
/// What is said about a server, a path or a URL after "is".
pub const WEBSOCKET: &str =
    "a WebSocket, and `lab` measures requests that get an answer each: give another path";
/// How some answers in HTTP/1.1 begin: their server copies the status line of another one's answer. `curl` reads them.
const COPIED: &[u8] = b"HTTP/2";
/// How many bytes of what is not HTTP a message shows.
const SHOWN: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the connection may be reused after this answer.
    pub keep_alive: bool,
    /// The body that the head describes. Some answers have no body whatever their heads say.
    pub described: Framing,
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
        let Some(rest) = bytes.strip_prefix(COPIED) else {
            return Self::parse_http_1(bytes, head_only);
        };
        match rest.strip_prefix(b".0").unwrap_or(rest) {
            [] | [b'.'] => Ok(None),
            rest @ [b' ', ..] => {
                let as_http_1 = [&b"HTTP/1.1"[..], rest].concat();
                let parsed = Self::parse_http_1(&as_http_1, head_only)?;
                Ok(parsed.map(|(length, head)| (length + bytes.len() - as_http_1.len(), head)))
            }
            _ => Self::parse_http_1(bytes, head_only),
        }
    }

    fn parse_http_1(bytes: &[u8], head_only: bool) -> anyhow::Result<Option<(usize, Self)>> {
        let mut headers = [const { MaybeUninit::uninit() }; USUAL_HEADERS];
        match Self::parse_into(bytes, head_only, &mut headers) {
            Err(error) if error.downcast_ref() == Some(&httparse::Error::TooManyHeaders) => {}
            parsed => return parsed,
        }
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        Self::parse_into(bytes, head_only, &mut vec![MaybeUninit::uninit(); lines])
    }

    fn parse_into<'b>(
        bytes: &'b [u8],
        head_only: bool,
        headers: &mut [MaybeUninit<Header<'b>>],
    ) -> anyhow::Result<Option<(usize, Self)>> {
        let mut response = Response::new(&mut []);
        let parsed =
            as_curl_reads().parse_response_with_uninit_headers(&mut response, bytes, headers);
        let parsed = parsed.map_err(|error| match error {
            httparse::Error::Version | httparse::Error::Status => anyhow!(not_http(bytes)),
            // [`Self::parse`] has to see which one it is.
            error => anyhow::Error::new(error).context("the answer is not HTTP"),
        })?;
        let Status::Complete(length) = parsed else { return Ok(None) };
        let status = response.code.context("an answer has a status")?;
        if status == 101 {
            let is_upgrade = |header: &&Header| header.name.eq_ignore_ascii_case("upgrade");
            let to = response.headers.iter().find(is_upgrade).map_or(&b""[..], |it| it.value);
            ensure!(!tokens(to).any(|token| is(token, "websocket")), "this is {WEBSOCKET}");
            bail!("the server switches to another protocol");
        }

        let mut keep_alive = response.version == Some(1);
        let (mut content_length, mut coded, mut chunked) = (None, false, false);
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case("content-length") {
                for item in tokens(header.value) {
                    let length = number(item)?;
                    if content_length.is_some_and(|other| other != length) {
                        bail!("the answer has two different lengths");
                    }
                    content_length = Some(length);
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                // `identity`, of an older standard, is no coding. Only the last one determines how the
                // body ends.
                for token in tokens(header.value).filter(|token| !is(token, "identity")) {
                    (coded, chunked) = (true, is(token, "chunked"));
                }
            } else if header.name.eq_ignore_ascii_case("connection") {
                for token in tokens(header.value) {
                    keep_alive = (keep_alive || is(token, "keep-alive")) && !is(token, "close");
                }
            }
        }
        let described = match content_length {
            _ if chunked => Framing::Chunked,
            Some(length) if !coded => Framing::Length(length),
            _ => Framing::ToClose,
        };
        let is_bodiless = head_only || status < 200 || status == 204 || status == 304;
        let framing = if is_bodiless { Framing::Length(0) } else { described };
        keep_alive &= framing != Framing::ToClose;
        Ok(Some((length, Self { status, framing, keep_alive, described })))
    }
}

/// Says which protocol it is, if these bytes are not the begin of an answer in HTTP/1.
pub fn other_protocol(bytes: &[u8]) -> Option<anyhow::Error> {
    // A record of TLS is an alert or a handshake, in some version 3. The first frame of HTTP/2 has settings or
    // says goodbye, for stream 0.
    match bytes {
        [0x15 | 0x16, 3, ..] => Some(anyhow!(IN_TLS)),
        [0, _, _, 4 | 7, _, 0, 0, 0, 0, ..] => Some(anyhow!(IN_HTTP2)),
        _ if bytes.starts_with(b"HTTP/1.") => None,
        _ => Some(anyhow!(not_http(bytes))),
    }
}

/// The error for an answer that isn't HTTP. It shows the first bytes, so that the user can recognize the protocol.
fn not_http(bytes: &[u8]) -> String {
    let begin = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    format!("the answer is not HTTP/1: it begins with `{}`", begin.escape_debug())
}

/// Folded lines, a space before a colon, several before a status, and characters that a header must not have: browsers
/// and `curl` read them all.
fn as_curl_reads() -> ParserConfig {
    let mut config = ParserConfig::default();
    config
        .allow_multiple_spaces_in_response_status_delimiters(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    config
}

/// Digits only: Rust's own parser takes a sign, too.
fn number(value: &[u8]) -> anyhow::Result<u64> {
    let text = String::from_utf8_lossy(value);
    let digits = Some(&*text).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|digits| digits.parse().ok())
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
        let identity = "Transfer-Encoding: identity\r\nContent-Length: 5, 5\r\n";
        assert_eq!(framing("200 OK", identity), Framing::Length(5));
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
            .map(|length| format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n"));
        let upgrade = "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n";
        for text in ["SSH-2.0-OpenSSH\r\n\r\n", lengths, &signed, &plus, &long, upgrade] {
            assert!(Head::parse(text.as_bytes(), false).is_err(), "{text}");
        }
    }

    #[test]
    fn a_websocket_is_named() {
        let text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c, WebSocket\r\n\r\n";
        let error = Head::parse(text.as_bytes(), false).unwrap_err().to_string();
        assert!(error.starts_with("this is a WebSocket"), "{error}");
    }

    #[test]
    fn no_status_but_those_of_the_standard_changes_how_a_body_ends() {
        let framings = [
            ("content-length: 5", Framing::Length(5)),
            ("transfer-encoding: chunked", Framing::Chunked),
            ("transfer-encoding: identity\r\ncontent-length: 5", Framing::Length(5)),
            ("transfer-encoding: gzip", Framing::ToClose),
            ("x: y", Framing::ToClose),
        ];
        for status in (100..600).filter(|status| *status != 101) {
            for (headers, framing) in framings {
                let found = head(&format!("HTTP/1.1 {status} X\r\n{headers}\r\n\r\n"));
                let is_bodiless = status < 200 || [204, 304].contains(&status);
                let wanted = if is_bodiless { Framing::Length(0) } else { framing };
                assert_eq!((found.status, found.framing), (status, wanted), "{headers}");
                assert_eq!(found.described, framing, "{status}");
            }
        }
    }

    #[test]
    fn status_lines_are_read_as_curl_reads_them() {
        for line in [
            "HTTP/1.1 200 OK",
            "HTTP/1.1 200",
            "HTTP/1.1  200 OK",
            "HTTP/2 200",
            "HTTP/2 200 ",
            "HTTP/2.0 200 OK",
        ] {
            let text = format!("{line}\r\ncontent-length: 5\r\n\r\n");
            let found = head(&text);
            assert!((found.status, found.keep_alive) == (200, true), "{line}");
            assert_eq!(found.framing, Framing::Length(5), "{line}");
            for end in 0..text.len() {
                let begin = &text[..end];
                assert_eq!(Head::parse(begin.as_bytes(), false).unwrap(), None, "{begin}");
            }
        }
        for line in
            ["HTTP/1.2 200 OK", "HTTP/2.5 200 OK", "HTTP/22 200", "HTTP/3 200", "HTTP/1.1 20"]
        {
            let text = format!("{line}\r\ncontent-length: 5\r\n\r\n");
            let error = Head::parse(text.as_bytes(), false).unwrap_err().to_string();
            assert!(error.contains(&format!("it begins with `{line}")), "{error}");
        }
    }

    #[test]
    fn heads_are_read_as_curl_reads_them() {
        let crowd = "set-cookie: a=1\r\n".repeat(3 * USUAL_HEADERS);
        let long = format!("content-security-policy: {}\r\n", "x".repeat(100_000));
        let odd = [
            "x-policy: default-src 'self';\r\n  img-src *\r\n",
            "x-policy: a\r\n\tb\r\n \r\n",
            "server : old\r\n",
            "x_bad(1): 1\r\n",
            "x-control: a\u{1}b\r\n",
            "x-name: Zo\u{eb}\r\n",
            &crowd,
            &long,
        ];
        for headers in odd {
            for end in ["\r\n", "\n"] {
                let text = format!("HTTP/1.1 200 OK\r\n{headers}content-length: 5\r\n\r\n");
                let found = head(&text.replace("\r\n", end));
                assert_eq!(found.framing, Framing::Length(5), "{headers}");
            }
        }
    }
}
