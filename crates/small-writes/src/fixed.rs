//! The fix: every connection gets `TCP_NODELAY`, so that no part of an answer waits for an acknowledgement.

use std::io;

use axum::{
    Router,
    extract::{Path, State},
    http::header::{CONTENT_LENGTH, CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
    serve::ListenerExt as _,
};
use case_probe::net::TcpListener;
use case_server::Stop;

use crate::{Failure, Labels, content, replace};

/// The service's routes.
pub fn routes(labels: Labels) -> Router {
    Router::new().route("/labels/{number}", get(label).put(replace)).with_state(labels)
}

async fn label(
    State(labels): State<Labels>,
    Path(number): Path<u32>,
) -> Result<impl IntoResponse, Failure> {
    let reading = case_probe::span("file");
    let (file, length) = labels.file(number).await?;
    let head = [(CONTENT_TYPE, "text/plain".to_owned()), (CONTENT_LENGTH, length.to_string())];
    Ok((head, content(file, reading)))
}

/// Serves the routes on every connection, until `stop` completes.
pub async fn serve(listener: TcpListener, routes: Router, stop: Stop) -> io::Result<()> {
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, routes).with_graceful_shutdown(stop).await
}
