//! The fix: one client, built at start-up and shared by all requests. It loads the certificate
//! authorities once, and its pool keeps connections open.

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
    let client = Client::builder(TokioExecutor::new()).build(crate::connector()?);
    Ok(Router::new().fallback(reverse_proxy).with_state((client, upstream)))
}

async fn reverse_proxy(
    State((client, upstream)): State<(HttpsClient, Upstream)>,
    request: Request,
) -> Result<Response, Failure> {
    upstream.forward(&client, request).await
}
