//! The fix: each connection gets `TCP_NODELAY`, so that no part of a response waits for an acknowledgement.

use std::io;

use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::IntoResponse,
    routing::get,
    serve::ListenerExt as _,
};
use case_probe::net::TcpListener;
use case_server::Stop;

use crate::{Labels, replace};

/// The service's routes.
pub fn routes(labels: Labels) -> Router {
    Router::new().route("/labels/{number}", get(label).put(replace)).with_state(labels)
}

async fn label(
    State(labels): State<Labels>,
    Path(number): Path<usize>,
) -> Result<impl IntoResponse, StatusCode> {
    let label = labels.find(number).ok_or(StatusCode::NOT_FOUND)?;
    let head = [
        (CONTENT_TYPE, HeaderValue::from_static("text/plain")),
        (CONTENT_LENGTH, label.length().into()),
    ];
    Ok((head, Body::from_stream(label.read())))
}

/// Accepts connections and serves the routes on each, until `stop` completes.
pub async fn serve(listener: TcpListener, routes: Router, stop: Stop) -> io::Result<()> {
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, routes).with_graceful_shutdown(stop).await
}
