//! The answer when the proxy cannot forward a request: a status and one line of text.

use std::io;

use axum::{
    http::{self, StatusCode},
    response::{IntoResponse, Response},
};
use hyper_util::client::legacy;
use tokio::time::error::Elapsed;

/// Why a request was not forwarded. The cause goes to standard error only, because visitors must not
/// learn about the network behind the proxy.
#[derive(Debug)]
pub struct Failure(pub(crate) StatusCode, pub(crate) &'static str);

impl From<http::Error> for Failure {
    fn from(_: http::Error) -> Self {
        Self(StatusCode::BAD_REQUEST, "this target cannot be forwarded\n")
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        eprintln!("cannot load the certificate authorities: {error}");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the proxy cannot set up TLS\n")
    }
}

impl From<legacy::Error> for Failure {
    fn from(error: legacy::Error) -> Self {
        eprintln!("cannot ask the upstream: {:#}", anyhow::Error::from(error));
        Self(StatusCode::BAD_GATEWAY, "the upstream cannot be reached\n")
    }
}

impl From<Elapsed> for Failure {
    fn from(_: Elapsed) -> Self {
        Self(StatusCode::GATEWAY_TIMEOUT, "the upstream took too long\n")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
