//! Plain answers to requests that no warp route takes.

use std::convert::Infallible;

use warp::{
    Rejection, Reply,
    body::BodyDeserializeError,
    http::StatusCode,
    reject::{
        InvalidQuery, LengthRequired, MethodNotAllowed, PayloadTooLarge, UnsupportedMediaType,
    },
};

/// Turns a rejection into a status and one line of text: `routes.recover(case_server::explain)`.
///
/// The order matters: a route that matched the path and failed later says more than a 404.
pub async fn explain(rejection: Rejection) -> Result<impl Reply, Infallible> {
    let (status, message) = if rejection.is_not_found() {
        (StatusCode::NOT_FOUND, "no such route\n")
    } else if rejection.find::<PayloadTooLarge>().is_some() {
        (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n")
    } else if rejection.find::<LengthRequired>().is_some() {
        (StatusCode::LENGTH_REQUIRED, "the request needs a content-length\n")
    } else if rejection.find::<UnsupportedMediaType>().is_some() {
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, "the content-type must be application/json\n")
    } else if rejection.find::<BodyDeserializeError>().is_some() {
        (StatusCode::BAD_REQUEST, "the body cannot be read as the expected JSON\n")
    } else if rejection.find::<InvalidQuery>().is_some() {
        (StatusCode::BAD_REQUEST, "the query cannot be read\n")
    } else if rejection.find::<MethodNotAllowed>().is_some() {
        (StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method\n")
    } else {
        (StatusCode::INTERNAL_SERVER_ERROR, "the server failed\n")
    };
    Ok(warp::reply::with_status(message, status))
}
