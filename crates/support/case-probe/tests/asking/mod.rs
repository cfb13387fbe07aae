//! Requests to the probe, without a server.

use http_body_util::BodyExt as _;

/// The status and the body of the answer to `GET target`.
pub async fn ask(target: &str) -> (u16, String) {
    let answer = case_probe::answer(&target.parse().unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.into()).unwrap())
}
