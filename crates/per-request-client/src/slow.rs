//! Forwards each request to the upstream, and streams the answer back.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

use crate::{Failure, Upstream};

/// The proxy's routes: every path is the upstream's.
pub fn routes(upstream: Upstream) -> anyhow::Result<Router> {
    Ok(Router::new().fallback(reverse_proxy).with_state(upstream))
}

async fn reverse_proxy(
    State(upstream): State<Upstream>,
    request: Request,
) -> Result<Response, Failure> {
    let client = Client::builder(TokioExecutor::new()).build(crate::connector()?);
    upstream.forward(&client, request).await
}
