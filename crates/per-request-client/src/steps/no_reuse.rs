//! A control: the client is shared as in fixed, but its pool keeps no connection. The difference from
//! `shared_connector` is the cost of building a client.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

use crate::{Failure, HttpsClient, Upstream};

/// The proxy's routes: every path is the upstream's.
#[expect(clippy::disallowed_methods, reason = "once, at start-up")]
pub fn routes(upstream: Upstream) -> anyhow::Result<Router> {
    let mut builder = Client::builder(TokioExecutor::new());
    let client = builder.pool_max_idle_per_host(0).build(crate::connector()?);
    Ok(Router::new().fallback(reverse_proxy).with_state((client, upstream)))
}

async fn reverse_proxy(
    State((client, upstream)): State<(HttpsClient, Upstream)>,
    request: Request,
) -> Result<Response, Failure> {
    upstream.forward(&client, request).await
}
