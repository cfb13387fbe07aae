//! A request as the bytes that go over the wire.

use ::http::{HeaderMap, HeaderValue, Method, Uri, Version, header};
use anyhow::{Context as _, ensure};
use bytes::Bytes;

use lab_protocol::{Expected, Request, Target};
use lab_system::without_secrets;

const NO_LENGTH: &str = "nothing else says where the body ends";

/// A request, serialized once and sent many times.
#[derive(Clone, Debug)]
pub struct WireRequest {
    /// Method and path, for messages.
    pub(crate) name: String,
    /// Head and body in HTTP/1.1; empty in HTTP/2.
    pub(crate) bytes: Vec<u8>,
    pub(crate) http2: Option<Http2Request>,
    /// Whether this is a `HEAD` request, whose answer has no body whatever its head says.
    pub(crate) head_only: bool,
    /// Whether it may be sent twice: its method promises the same effect (RFC 9110, 9.2.2).
    pub(crate) is_idempotent: bool,
    pub(crate) expected: Expected,
}

impl WireRequest {
    /// Reads the body's file and serializes the request to `target`.
    ///
    /// # Errors
    ///
    /// If the body's file cannot be read, or if method, path and headers aren't one valid request.
    pub fn new(request: &Request, target: impl Into<Target>) -> anyhow::Result<Self> {
        Self::with_body(request, &body_of(request)?, target)
    }

    /// [`Self::new`] with a body that is no file.
    pub(crate) fn with_body(
        request: &Request,
        body: &[u8],
        target: impl Into<Target>,
    ) -> anyhow::Result<Self> {
        // The types of `http` reject what would not be one request: a space in the path, a line
        // break in a header.
        let name = format!("{} {}", request.method, without_secrets(&request.path));
        let mut checked =
            ::http::Request::builder().method(request.method.as_str()).uri(&request.path);
        for (name, value) in &request.headers {
            checked = checked.header(name, value);
        }
        let checked =
            checked.body(()).with_context(|| format!("`{name}` is not a valid request"))?;

        let (head_only, is_idempotent) =
            (checked.method() == Method::HEAD, checked.method().is_idempotent());
        let expected = request.expected.clone();
        let target = target.into();
        if target.http2.is_some() {
            let http2 = Some(Http2Request::new(&checked, &target, Bytes::copy_from_slice(body))?);
            let bytes = Vec::new();
            return Ok(Self { name, bytes, http2, head_only, is_idempotent, expected });
        }
        let mut bytes = head(&checked, request, target);
        let codings = checked.headers().get_all(header::TRANSFER_ENCODING);
        let codings: Vec<_> = codings.iter().map(HeaderValue::as_bytes).collect();
        if let Some(last) = codings.last() {
            let is_chunked = last.to_ascii_lowercase().ends_with(b"chunked");
            ensure!(
                is_chunked,
                "{name}: `Transfer-Encoding` has to end with `chunked`: {NO_LENGTH}"
            );
            push_chunked(&mut bytes, body);
        } else {
            if has_length(checked.method(), body) {
                bytes.extend(format!("content-length: {}\r\n", body.len()).into_bytes());
            }
            bytes.extend(b"\r\n");
            bytes.extend(body);
        }
        Ok(Self { name, bytes, http2: None, head_only, is_idempotent, expected })
    }
}

/// The bytes of the body's file.
pub(crate) fn body_of(request: &Request) -> anyhow::Result<Vec<u8>> {
    let Some(file) = &request.body else { return Ok(Vec::new()) };
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// A request as HTTP/2 has it: a head without the headers of a connection, and a body.
#[derive(Clone, Debug)]
pub(crate) struct Http2Request {
    pub(crate) head: ::http::Request<()>,
    pub(crate) body: Bytes,
}

/// Headers that are about a connection, or that HTTP/2 says in another way.
const OF_HTTP_1: [&str; 7] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

impl Http2Request {
    /// A request that was checked, with this body, to `target`.
    ///
    /// # Errors
    ///
    /// If the host of the request can't be that of a URL.
    pub(crate) fn new(
        checked: &::http::Request<()>,
        target: &Target,
        body: Bytes,
    ) -> anyhow::Result<Self> {
        let given = checked.headers();
        let host = given.get(header::HOST).map_or(target.host.as_bytes(), HeaderValue::as_bytes);
        let path = checked.uri().path_and_query().map_or("/", |path| path.as_str());
        let uri = Uri::builder()
            .scheme(if target.tls.is_some() { "https" } else { "http" })
            .authority(host)
            .path_and_query(path);
        let uri = uri.build().with_context(|| {
            format!("the host `{}` is not valid", String::from_utf8_lossy(host).escape_debug())
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            // The only value that HTTP/2 allows, which gRPC sends.
            let is_allowed = name != header::TE || value == "trailers";
            if is_allowed && !OF_HTTP_1.contains(&name.as_str()) {
                headers.append(name, value.clone());
            }
        }
        if has_length(checked.method(), &body) && !given.contains_key(header::TRANSFER_ENCODING) {
            headers.insert(header::CONTENT_LENGTH, body.len().into());
        }
        let mut head = ::http::Request::new(());
        *head.method_mut() = checked.method().clone();
        *head.uri_mut() = uri;
        *head.version_mut() = Version::HTTP_2;
        *head.headers_mut() = headers;
        Ok(Self { head, body })
    }
}

/// Whether the head says how long the body is. Without a length, a server may wait for the body of a method that usually
/// has one.
fn has_length(method: &Method, body: &[u8]) -> bool {
    let usual = [Method::POST, Method::PUT, Method::PATCH].contains(method);
    usual || !body.is_empty()
}

/// The request line and the headers, without the length of the body, which [`WireRequest::new`] adds.
fn head(checked: &::http::Request<()>, request: &Request, target: Target) -> Vec<u8> {
    let path = checked.uri().path_and_query().map_or("/", |path| path.as_str());
    let mut bytes = format!("{} {path} HTTP/1.1\r\n", request.method).into_bytes();
    if !checked.headers().contains_key(header::HOST) {
        bytes.extend(format!("host: {}\r\n", target.host).into_bytes());
    }
    for (name, value) in checked.headers() {
        if name != header::CONTENT_LENGTH {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
    }
    bytes
}

/// Ends the head, and adds the body as one chunk. An empty chunk would end the body, so an empty body has none.
fn push_chunked(bytes: &mut Vec<u8>, body: &[u8]) {
    bytes.extend(b"\r\n");
    if !body.is_empty() {
        bytes.extend(format!("{:x}\r\n", body.len()).into_bytes());
        bytes.extend([body, b"\r\n"].concat());
    }
    bytes.extend(b"0\r\n\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_protocol::{Answer, Http2};

    fn bytes(method: &str, path: &str, body: Option<&str>) -> anyhow::Result<String> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(&file, body.unwrap_or_default())?;
        let request = Request {
            method: method.into(),
            headers: body
                .map(|_| ("content-type".into(), "text/plain".into()))
                .into_iter()
                .collect(),
            body: body.map(|_| file.path().to_owned()),
            ..Request::get(path, Answer::Any)
        };
        let prepared =
            WireRequest::new(&request, std::net::SocketAddr::from(([127, 0, 0, 1], 80)))?;
        Ok(String::from_utf8(prepared.bytes)?)
    }

    #[test]
    fn a_request_has_a_host_and_a_length() {
        let get = bytes("GET", "/a?b=c", None).unwrap();
        assert_eq!(get, "GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:80\r\n\r\n");
        let post = bytes("POST", "/", Some("hello")).unwrap();
        assert!(post.ends_with("content-type: text/plain\r\ncontent-length: 5\r\n\r\nhello"));
        assert!(bytes("POST", "/", None).unwrap().contains("content-length: 0\r\n"));
    }

    #[test]
    fn a_body_is_sent_in_a_chunk_if_a_header_says_so() {
        let of = |body: &str, coding: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, body).unwrap();
            let given = vec![("Transfer-Encoding".to_owned(), coding.to_owned())];
            let body = Some(file.path().to_owned());
            let request = Request {
                method: "POST".into(),
                headers: given,
                body,
                ..Request::get("/", Answer::Any)
            };
            let prepared =
                WireRequest::new(&request, std::net::SocketAddr::from(([127, 0, 0, 1], 80)))?;
            anyhow::Ok(String::from_utf8(prepared.bytes)?)
        };
        for coding in ["chunked", "gzip, Chunked"] {
            let [empty, long] = ["", "a body that is longer"].map(|body| of(body, coding).unwrap());
            let head = format!(
                "POST / HTTP/1.1\r\nhost: 127.0.0.1:80\r\ntransfer-encoding: {coding}\r\n\r\n"
            );
            assert_eq!(empty, format!("{head}0\r\n\r\n"));
            assert_eq!(long, format!("{head}15\r\na body that is longer\r\n0\r\n\r\n"));
        }
        let error = of("x", "gzip").unwrap_err().to_string();
        assert!(error.contains("has to end with `chunked`"), "{error}");
    }

    #[test]
    fn in_http_2_a_request_has_no_headers_of_a_connection() {
        let given = [
            ("Host", "shop.example:81"),
            ("Connection", "close, x"),
            ("Transfer-Encoding", "chunked"),
            ("TE", "gzip"),
            ("TE", "trailers"),
            ("Accept", "a"),
            ("Accept", "b"),
        ];
        let headers =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request =
            Request { method: "POST".to_owned(), headers, ..Request::get("/a?b", Answer::Any) };
        let mut target = Target::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)));
        target.http2 = Some(Http2::default());
        let prepared = WireRequest::new(&request, target.clone()).unwrap();
        assert!(prepared.bytes.is_empty());
        let head = prepared.http2.unwrap().head;
        assert_eq!(head.uri(), "http://shop.example:81/a?b");
        let found =
            head.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
        let found: Vec<_> = found.collect();
        assert_eq!(found, [("te", "trailers"), ("accept", "a"), ("accept", "b")]);
        target.tls = Some("shop.example".to_owned());
        let post = Request { headers: Vec::new(), ..request };
        let head = WireRequest::new(&post, target).unwrap().http2.unwrap().head;
        assert_eq!(head.uri(), "https://127.0.0.1:80/a?b");
        assert_eq!(head.headers()[header::CONTENT_LENGTH], "0");
    }

    #[test]
    fn an_invalid_request_is_rejected() {
        for (method, path) in [("GET", "/a b"), ("G T", "/"), ("GET", "/\r\nx: y")] {
            let error = bytes(method, path, None).unwrap_err().to_string();
            assert!(error.contains("is not a valid request"), "{error}");
        }
    }
}
