//! The service as a client sees it: every answer is JSON or one short line of text.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, HttpBody, to_bytes},
    http::Request,
};
use bytes::Bytes;
use case_server::InProcess;
use double_parse::{
    LARGEST_BODY,
    batch::find_reply,
    fixed, slow,
    steps::{borrowed, no_clone},
};
use hyper::body::Frame;
use tower::ServiceExt as _;

fn routers() -> [Router; 4] {
    [slow::routes(), no_clone::routes(), fixed::routes(), borrowed::routes()]
}

/// The answer that all variants have to agree on.
async fn all_answer(method: &str, path: &str, body: impl Into<Bytes>) -> (u16, String) {
    let body = body.into();
    let mut answers = Vec::new();
    for router in routers() {
        let request = Request::builder().method(method).uri(path).body(body.clone()).unwrap();
        answers.push(InProcess::new(router).ask(request).await);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    let (status, text) = answers.pop().unwrap();
    (status, String::from_utf8(text.into()).unwrap())
}

#[tokio::test]
async fn the_case_file_tells_the_right_answer() {
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

/// A body that arrives in parts and does not announce its length.
struct Parts(VecDeque<Result<Bytes, &'static str>>);

impl HttpBody for Parts {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready(self.0.pop_front().map(|part| part.map(Frame::data)))
    }
}

/// The status and the text of all variants' answer to a body of `parts`.
async fn all_answer_parts(
    parts: impl Iterator<Item = Result<Bytes, &'static str>> + Clone,
) -> (u16, Bytes) {
    let mut answers = Vec::new();
    for router in routers() {
        let body = Body::new(Parts(parts.clone().collect()));
        let request = Request::post("/summary").body(body).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        answers.push((status, to_bytes(response.into_body(), 1000).await.unwrap()));
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    answers.pop().unwrap()
}

#[tokio::test]
async fn a_body_that_does_not_announce_its_length_is_limited_too() {
    for (bytes, status) in [(find_reply(1), 200), (vec![0; LARGEST_BODY + 1], 413)] {
        let parts = bytes.chunks(60_000).map(|part| Ok(Bytes::copy_from_slice(part)));
        assert_eq!(all_answer_parts(parts).await.0, status);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let parts = [Ok(Bytes::from("half")), Err("gone")];
    assert_eq!(all_answer_parts(parts.into_iter()).await, (400, "the body broke off\n".into()));
}
