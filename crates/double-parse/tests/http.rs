//! The service as a client sees it: every answer is JSON or one short line of text.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use axum::{
    body::{Body, to_bytes},
    http::Request,
};
use bytes::Bytes;
use case_server::InProcess;
use double_parse::{LARGEST_BODY, VARIANTS, batch::find_reply, routes};
use tower::ServiceExt as _;

/// The answer of every variant, which must be the same.
async fn all_answer(method: &str, path: &str, body: impl Into<Bytes>) -> (u16, String) {
    let body = body.into();
    let mut answers = Vec::new();
    for (_, summarise) in VARIANTS {
        let request = Request::builder().method(method).uri(path).body(body.clone()).unwrap();
        answers.push(InProcess::new(routes(summarise)).ask(request).await);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    let (status, text) = answers.pop().unwrap();
    (status, String::from_utf8(text.into()).unwrap())
}

#[tokio::test]
async fn the_case_file_has_the_right_answer() {
    let (status, summary) = all_answer("POST", "/summary", find_reply(10_000)).await;
    assert_eq!(status, 200);
    let case = include_str!("../case.toml");
    assert!(case.contains(&format!("answer = '{summary}'\n")), "{summary}");
}

#[tokio::test]
async fn an_empty_batch_has_a_summary_too() {
    let (status, summary) = all_answer("POST", "/summary", find_reply(0)).await;
    assert_eq!(status, 200);
    assert!(summary.contains(r#""documents":0,"#) && summary.ends_with(r#""newest":null}"#));
}

/// Parsing 16 kB of documents inside documents would overflow the stack of any variant.
#[tokio::test]
async fn deep_nesting_is_refused_before_it_is_parsed() {
    let mut deep = vec![5, 0, 0, 0, 0];
    while deep.len() < 16_000 {
        let length = u32::try_from(deep.len() + 8).unwrap();
        deep = [&length.to_le_bytes()[..], b"\x03a\0", &deep, b"\0"].concat();
    }
    assert_eq!(all_answer("POST", "/summary", deep).await.0, 400);
}

#[tokio::test]
async fn refusals_are_short() {
    for (method, path, body, status, text) in [
        ("POST", "/summary", vec![], 400, "the body is not the reply to a find\n"),
        ("POST", "/summary", b"{}".to_vec(), 400, "the body is not the reply to a find\n"),
        ("POST", "/summary", vec![0; LARGEST_BODY], 400, "the body is not the reply to a find\n"),
        ("POST", "/summary", vec![0; LARGEST_BODY + 1], 413, "the body is too large\n"),
        ("GET", "/summary", vec![], 405, "this route does not take that method\n"),
        ("GET", "/no-such-route", vec![], 404, "no such route\n"),
        ("POST", "/summary/more", vec![], 404, "no such route\n"),
    ] {
        assert_eq!(all_answer(method, path, body).await, (status, text.to_owned()), "{path}");
    }
}

/// The status and the text of every variant's answer to a body that arrives in `parts`, without a
/// content-length. They must be the same.
async fn all_answer_parts(
    parts: impl Iterator<Item = Result<Bytes, &'static str>> + Clone + Send + 'static,
) -> (u16, Bytes) {
    let mut answers = Vec::new();
    for (_, summarise) in VARIANTS {
        let body = Body::from_stream(futures_util::stream::iter(parts.clone()));
        let request = Request::post("/summary").body(body).unwrap();
        let response = routes(summarise).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        answers.push((status, to_bytes(response.into_body(), 1000).await.unwrap()));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    answers.pop().unwrap()
}

#[tokio::test]
async fn a_body_without_a_content_length_is_limited_too() {
    for (bytes, status) in [(find_reply(1), 200), (vec![0; LARGEST_BODY + 1], 413)] {
        let bytes = Bytes::from(bytes);
        let parts = (0..bytes.len())
            .step_by(60_000)
            .map(move |at| Ok(bytes.slice(at..bytes.len().min(at + 60_000))));
        assert_eq!(all_answer_parts(parts).await.0, status);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let parts = [Ok(Bytes::from("half")), Err("gone")];
    assert_eq!(all_answer_parts(parts.into_iter()).await, (400, "the body broke off\n".into()));
}
