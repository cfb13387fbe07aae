//! What a visitor is told when the proxy cannot forward: a status and one line of text.

use std::{error::Error, io};

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use http_body_util::LengthLimitError;
use hyper_util::client::legacy;

/// Why a request got no answer from the upstream.
#[derive(Debug)]
pub enum Failure {
    /// The request's target is none that can be asked of an upstream.
    Target,
    /// The body is larger than the proxy forwards.
    TooLarge,
    /// The certificate authorities cannot be loaded, so that no upstream can be trusted.
    Connector(io::Error),
    /// No connection, no trust, or a connection that broke off.
    Unreachable(legacy::Error),
    /// No answer in time.
    TooSlow,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Connector(error)
    }
}

impl From<legacy::Error> for Failure {
    /// The client wraps what went wrong several times over; the innermost causes tell it.
    fn from(error: legacy::Error) -> Self {
        if causes(&error).any(|cause| cause.is::<LengthLimitError>()) {
            return Self::TooLarge;
        }
        let io = causes(&error).filter_map(|cause| cause.downcast_ref::<io::Error>());
        if io.map(io::Error::kind).any(|kind| kind == io::ErrorKind::TimedOut) {
            return Self::TooSlow;
        }
        Self::Unreachable(error)
    }
}

impl IntoResponse for Failure {
    /// The cause goes to the operator: a visitor has no business with the network behind a proxy.
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::Target => (StatusCode::BAD_REQUEST, "this target cannot be forwarded\n"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n"),
            Self::Connector(error) => {
                eprintln!("cannot load the certificate authorities: {error}");
                (StatusCode::INTERNAL_SERVER_ERROR, "the proxy cannot set up TLS\n")
            }
            Self::Unreachable(error) => {
                eprintln!("cannot ask the upstream: {}", chain(&error));
                (StatusCode::BAD_GATEWAY, "the upstream cannot be reached\n")
            }
            Self::TooSlow => (StatusCode::GATEWAY_TIMEOUT, "the upstream took too long\n"),
        };
        (status, message).into_response()
    }
}

fn chain(error: &legacy::Error) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The error, what caused it, what caused that, and so on.
fn causes(error: &legacy::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &dyn Error), |&error| error.source())
}
