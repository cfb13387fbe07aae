//! A service that sums up the reply of a database to a find.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. The diff makes two changes at once:
//! [`steps::no_clone`] makes only the first, and [`steps::borrowed`] goes beyond the fix. All variants
//! share this file.

pub mod batch;
pub mod fixed;
pub mod reply;
pub mod shape;
pub mod slow;
pub mod steps {
    //! Single changes, each measured alone.

    pub mod borrowed;
    pub mod no_clone;
}

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequest, Request},
    http::StatusCode,
    routing::post,
};

use crate::reply::Summary;

/// The largest body that the service accepts, in bytes: five times the case's own.
pub const LARGEST_BODY: usize = 4 * 1024 * 1024;

/// The bytes are not what a database answers to a find.
///
/// It has no detail, because each variant notices a different problem first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAFindReply;

impl From<bson::error::Error> for NotAFindReply {
    fn from(_: bson::error::Error) -> Self {
        Self
    }
}

/// A variant: its way from the bytes of a reply to the summary.
pub type Summarise = fn(&[u8]) -> Result<Summary, NotAFindReply>;

/// Every variant by name, for tests and benches.
pub const VARIANTS: [(&str, Summarise); 4] = [
    ("slow", slow::summarise),
    ("no-clone", steps::no_clone::summarise),
    ("fixed", fixed::summarise),
    ("borrowed", steps::borrowed::summarise),
];

/// `POST /summary`, with the raw BSON of a find reply as its body.
///
/// The handler blocks its Tokio worker for the milliseconds that parsing takes, in every variant.
pub fn routes(summarise: Summarise) -> Router {
    let answer =
        async move |Body(bytes): Body| summarise(&bytes).map(Json).map_err(|_| NOT_A_FIND_REPLY);
    Router::new()
        .route("/summary", post(answer))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .fallback(async || (StatusCode::NOT_FOUND, "no such route\n"))
        .method_not_allowed_fallback(async || {
            (StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method\n")
        })
}

type Refusal = (StatusCode, &'static str);

const NOT_A_FIND_REPLY: Refusal =
    (StatusCode::BAD_REQUEST, "the body is not the reply to a find\n");

/// A body that is safe to parse, because its shape has been checked.
struct Body(Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let bytes =
            Bytes::from_request(request, state).await.map_err(|rejection| {
                match rejection.status() {
                    status @ StatusCode::PAYLOAD_TOO_LARGE => (status, "the body is too large\n"),
                    _ => (StatusCode::BAD_REQUEST, "the body broke off\n"),
                }
            })?;
        shape::check(&bytes).map_err(|_| NOT_A_FIND_REPLY)?;
        Ok(Self(bytes))
    }
}
