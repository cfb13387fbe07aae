//! One change: the connector is shared, so the certificate authorities are loaded once. Every request
//! still builds a client, and so opens a connection.

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

use crate::{Connector, Failure, Upstream};

/// The proxy's routes: every path is the upstream's.
pub fn routes(upstream: Upstream) -> anyhow::Result<Router> {
    let connector = crate::connector()?;
    Ok(Router::new().fallback(reverse_proxy).with_state((connector, upstream)))
}

#[expect(clippy::disallowed_methods, reason = "half of the fault that this case is about")]
async fn reverse_proxy(
    State((connector, upstream)): State<(Connector, Upstream)>,
    request: Request,
) -> Result<Response, Failure> {
    let client = Client::builder(TokioExecutor::new()).build(connector);
    upstream.forward(&client, request).await
}
