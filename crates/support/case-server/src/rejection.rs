//! Plain answers to requests that no warp route takes.

use std::convert::Infallible;

use warp::{
    Rejection, Reply,
    http::StatusCode,
    reject::{InvalidQuery, MethodNotAllowed},
};

/// Turns a rejection into a status and one line of text: `routes.recover(case_server::explain)`.
///
/// The order matters: a route that matched the path and failed later says more than a 404.
pub async fn explain(rejection: Rejection) -> Result<impl Reply, Infallible> {
    let (status, message) = if rejection.is_not_found() {
        (StatusCode::NOT_FOUND, "no such route\n")
    } else if rejection.find::<InvalidQuery>().is_some() {
        (StatusCode::BAD_REQUEST, "the query cannot be read\n")
    } else if rejection.find::<MethodNotAllowed>().is_some() {
        (StatusCode::METHOD_NOT_ALLOWED, "this route does not take that method\n")
    } else {
        (StatusCode::INTERNAL_SERVER_ERROR, "the server failed\n")
    };
    Ok(warp::reply::with_status(message, status))
}
