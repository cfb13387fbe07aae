//! A client per request, and what can be shared instead. Loads one page as a browser does: the page
//! first, then its 18 files, six at a time.
//!
//! HTTP/2 is missing, because the site of the case speaks only HTTP/1.1.

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use benches::behind_upstream::{self, proxy};
use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use per_request_client::{
    Connector, Failure, HttpsClient, Upstream, slow, steps::shared_connector,
};
use rustls::{ClientConfig, client::Resumption};
use tls_site::site::{self, Resource};
use tokio::task::JoinSet;

/// How many requests a browser sends to one HTTP/1.1 site at a time.
const AT_ONCE: usize = 6;

/// The fixed proxy with a pool that keeps this many idle connections.
///
/// Six are too few for six requests at once. A request that finds no idle connection opens one, but may
/// take another that becomes idle first. The pool then has no room for the new one.
#[expect(clippy::disallowed_methods, reason = "once, at start-up")]
fn pool<const IDLE: usize>(upstream: Upstream) -> anyhow::Result<Router> {
    let mut builder = Client::builder(TokioExecutor::new());
    let client = builder.pool_max_idle_per_host(IDLE).build(per_request_client::connector()?);
    Ok(Router::new().fallback(forward).with_state((client, upstream)))
}

async fn forward(
    State((client, upstream)): State<(HttpsClient, Upstream)>,
    request: Request,
) -> Result<Response, Failure> {
    upstream.forward(&client, request).await
}

/// The shared connector without tickets: every connection starts with a full handshake.
fn no_resumption(upstream: Upstream) -> anyhow::Result<Router> {
    let mut tls = ClientConfig::builder().with_native_roots()?.with_no_client_auth();
    tls.resumption = Resumption::disabled();
    // The rest is as in the case's own connector.
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1();
    Ok(Router::new().fallback(forward_anew).with_state((tls.wrap_connector(http), upstream)))
}

#[expect(clippy::disallowed_methods, reason = "half of the fault that is measured")]
async fn forward_anew(
    State((connector, upstream)): State<(Connector, Upstream)>,
    request: Request,
) -> Result<Response, Failure> {
    let client = Client::builder(TokioExecutor::new()).build(connector);
    upstream.forward(&client, request).await
}

async fn load_page(proxy: &InProcess, site: &Arc<[Resource]>) {
    ask(proxy, &site[0]).await;
    let next = Arc::new(AtomicUsize::new(1));
    let mut lanes = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (proxy, site, next) = (proxy.clone(), site.clone(), next.clone());
        lanes.spawn(async move {
            while let Some(resource) = site.get(next.fetch_add(1, Relaxed)) {
                ask(&proxy, resource).await;
            }
        });
    }
    lanes.join_all().await;
}

async fn ask(proxy: &InProcess, resource: &Resource) {
    assert_eq!(proxy.get(resource.path).await, (200, resource.body.clone()));
}

fn per_request_client(c: &mut Criterion) {
    let runtime = benches::two_workers();
    let site: Arc<[Resource]> = site::resources().into();

    let mut group = c.benchmark_group("alternatives-per-request-client");
    group.throughput(Throughput::Elements(site.len() as u64));
    for (alternative, proxy) in [
        ("client-per-request", proxy(slow::routes)),
        ("shared-connector-full-handshakes", proxy(no_resumption)),
        ("shared-connector", proxy(shared_connector::routes)),
        ("pool-1", proxy(pool::<1>)),
        ("pool-6", proxy(pool::<6>)),
        ("pool-12", proxy(pool::<12>)),
        ("pool-default", proxy(pool::<{ usize::MAX }>)),
    ] {
        let proxy = InProcess::new(proxy);
        group.bench_function(alternative, |bencher| {
            bencher.to_async(&runtime).iter(|| load_page(&proxy, &site));
        });
    }
}

criterion_group! { name = benches; config = benches::brief_criterion(); targets = per_request_client }

fn main() -> anyhow::Result<ExitCode> {
    if benches::ran_each_alone()? {
        return Ok(ExitCode::SUCCESS);
    }
    behind_upstream::run(benches)
}
