//! What an instrument answers.

use hyper::StatusCode;

/// A content type and a body, or a status and an error message.
pub(crate) type Report = Result<(&'static str, String), (StatusCode, String)>;

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

#[cfg(feature = "profile")]
pub(crate) fn failed(error: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
