//! A warehouse's service that hands out the labels of its parcels, each from a small file.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. Both variants share this file.

pub mod fixed;
mod labels;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;

use axum::{
    body::Body,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use case_probe::Span;
use case_server::InProcess;
use futures_util::StreamExt as _;
use tokio::fs::File;
use tokio_util::io::ReaderStream;

pub use labels::{LABELS, Labels, Options};

/// A label could not be read or written.
#[derive(Debug)]
pub struct Failure(std::io::Error);

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.0.kind() {
            std::io::ErrorKind::NotFound => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, "there is no such label\n").into_response()
    }
}

/// The content of a file as a body, which is sent while it is read. `reading` is the span of that for `just flame`, and
/// ends with the file.
fn content(file: File, reading: Span) -> Body {
    Body::from_stream(ReaderStream::new(file).inspect(move |_| {
        let _ends_with_the_file = &reading;
    }))
}

/// `PUT /labels/NUMBER` replaces a label.
async fn replace(
    State(labels): State<Labels>,
    Path(number): Path<u32>,
    text: String,
) -> Result<StatusCode, Failure> {
    labels.replace(number, text).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Both variants by name, for tests that use no socket.
pub fn variants(labels: &Labels) -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(slow::routes(labels.clone()))),
        ("fixed", InProcess::new(fixed::routes(labels.clone()))),
    ]
}
