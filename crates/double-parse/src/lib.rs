//! Double parsing: the bytes of a database's reply become a generic document, and the document
//! becomes the struct that was wanted all along.
//!
//! Read [`slow`], then `diff src/slow.rs src/fixed.rs`. Two things change at once there; the first
//! of the [`steps`] makes one of them alone, and the second goes on where fixed stops. Here is only
//! what all variants share and the lesson does not touch.

pub mod batch;
pub mod fixed;
pub mod reply;
pub mod shape;
pub mod slow;
pub mod steps;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, rejection::BytesRejection},
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::post,
};

use crate::reply::Summary;

/// The largest body that the service takes, in bytes: five times the case's own.
pub const LARGEST_BODY: usize = 4 * 1024 * 1024;

/// The bytes are not what a database answers to a find.
///
/// It says no more than that, as each variant would notice something else first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAFindReply;

impl From<bson::error::Error> for NotAFindReply {
    fn from(_: bson::error::Error) -> Self {
        Self
    }
}

/// What a variant is: its own way from the bytes of a reply to the summary.
pub type Summarise = fn(&[u8]) -> Result<Summary, NotAFindReply>;

/// `POST /summary`, with the raw BSON of a find reply as its body.
fn routes(summarise: Summarise) -> Router {
    let answer = move |body| async move { answer(summarise, body) };
    Router::new()
        .route("/summary", post(answer))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .fallback(async || (StatusCode::NOT_FOUND, "no such route\n"))
        .method_not_allowed_fallback(async || {
            (StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method\n")
        })
}

/// Blocks its Tokio worker for the milliseconds that parsing takes, in all variants alike.
fn answer(summarise: Summarise, body: Result<Bytes, BytesRejection>) -> Response {
    match body {
        Ok(bytes) => match summarise(&bytes) {
            Ok(summary) => Json(summary).into_response(),
            Err(NotAFindReply) => {
                (StatusCode::BAD_REQUEST, "the body is not the reply to a find\n").into_response()
            }
        },
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n").into_response()
        }
        Err(_) => (StatusCode::BAD_REQUEST, "the body broke off\n").into_response(),
    }
}
