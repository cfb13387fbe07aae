//! A warehouse's service that hands out the labels of its parcels.
//!
//! Read [`slow`], then run `diff src/slow.rs src/fixed.rs`. Both variants share this file and `labels.rs`.

pub mod fixed;
mod labels;
#[cfg(feature = "mine")]
#[rustfmt::skip]
pub mod mine;
pub mod slow;

use axum::{
    extract::{Path, State},
    http::StatusCode,
};
use case_server::InProcess;

pub use labels::{LABELS, Label, Labels, Options};

/// `PUT /labels/NUMBER` replaces a label.
async fn replace(
    State(labels): State<Labels>,
    Path(number): Path<usize>,
    text: String,
) -> StatusCode {
    if labels.replace(number, text) { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

/// Both variants by name, each with labels of its own, for tests that use no socket.
pub fn variants(options: Options) -> [(&'static str, InProcess); 2] {
    [
        ("slow", InProcess::new(slow::routes(Labels::first(options)))),
        ("fixed", InProcess::new(fixed::routes(Labels::first(options)))),
    ]
}
