//! Requests that a browser recorded: "Save all as HAR" in its network panel (HAR 1.2).

use anyhow::{Context as _, ensure};
use http::Uri;
use serde::Deserialize;

/// The most requests that one visit has.
const MOST: usize = 200;
/// Headers of the connection, which the generator has its own of, and those that ask for nothing new.
const LEFT_OUT: [&str; 10] = [
    "connection",
    "content-length",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
];

#[derive(Deserialize)]
struct Har {
    log: HarLog,
}

#[derive(Deserialize)]
struct HarLog {
    entries: Vec<HarEntry>,
}

#[derive(Deserialize)]
struct HarEntry {
    request: HarRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarRequest {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<HarHeader>,
    post_data: Option<HarBody>,
}

#[derive(Deserialize)]
struct HarHeader {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct HarBody {
    text: Option<String>,
}

/// A request as a browser sent it.
#[derive(Debug, PartialEq)]
pub struct RecordedRequest {
    pub method: String,
    /// Path and query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
}

/// The requests in a HAR file to the server of the first one, in their order.
///
/// # Errors
///
/// If the file can't be read as HAR, or has no request or too many.
pub fn recorded(text: &str) -> anyhow::Result<Vec<RecordedRequest>> {
    let har: Har = serde_json::from_str(text).context("not a HAR file")?;
    let (mut first, mut requests) = (None, Vec::new());
    for HarEntry { request } in har.log.entries {
        let url: Uri = request.url.parse().with_context(|| format!("the URL `{}`", request.url))?;
        if first.get_or_insert_with(|| url.authority().cloned()) != &url.authority().cloned() {
            continue;
        }
        let is_own = |name: &str| {
            let name = name.to_lowercase();
            !name.starts_with(':') && !LEFT_OUT.contains(&&*name)
        };
        let headers = request.headers.into_iter().filter(|header| is_own(&header.name));
        requests.push(RecordedRequest {
            method: request.method,
            path: url.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            headers: headers.map(|HarHeader { name, value }| (name, value)).collect(),
            body: request.post_data.and_then(|body| body.text),
        });
    }
    ensure!(!requests.is_empty(), "it has no requests");
    ensure!(
        requests.len() <= MOST,
        "it has {} requests to one server, and a visit may have {MOST}: record fewer",
        requests.len()
    );
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_to_one_server_are_taken_without_the_headers_of_their_connection() {
        let har = r#"{"log":{"version":"1.2","entries":[
            {"request":{"method":"POST","url":"https://shop.test/orders?x=1","headers":[
                {"name":":authority","value":"shop.test"},{"name":"Host","value":"shop.test"},
                {"name":"Cookie","value":"sid=1"},{"name":"If-None-Match","value":"a"}],
                "postData":{"mimeType":"application/json","text":"{\"a\":1}"}},"response":{}},
            {"request":{"method":"GET","url":"https://fonts.test/a.woff"}},
            {"request":{"method":"GET","url":"https://shop.test"}}]}}"#;
        let requests = recorded(har).unwrap();
        let [order, start] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!((&*order.method, &*order.path), ("POST", "/orders?x=1"));
        assert_eq!(order.headers, [("Cookie".to_owned(), "sid=1".to_owned())]);
        assert_eq!(order.body.as_deref(), Some(r#"{"a":1}"#));
        assert_eq!((&*start.path, &start.body), ("/", &None));
    }

    #[test]
    fn what_is_no_recording_is_an_error() {
        for (text, error) in [
            ("", "not a HAR file"),
            (r#"{"log":{"entries":[]}}"#, "it has no requests"),
            (r#"{"log":{"entries":[{"request":{"method":"GET","url":"a b"}}]}}"#, "the URL `a b`"),
        ] {
            assert_eq!(recorded(text).unwrap_err().to_string(), error);
        }
    }
}
