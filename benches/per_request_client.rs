//! One page load, 19 resources one after the other, through the proxy's handler in process; behind
//! it a real upstream, with real sockets and real TLS.
//!
//! The variants load their certificate authorities as a service does, from where `SSL_CERT_FILE` and
//! `SSL_CERT_DIR` say. So this process starts the upstream, writes the file, and then runs itself
//! again with the variables set: the proxies have a process of their own, as they do in real life.
//!
//! A connection that is closed keeps its port for a while. This bench closes some ten thousand, which
//! is within the 28,000 that Linux has towards one address, and every run has its own upstream.

use std::{env, process::Command, process::ExitCode, time::Duration};

use anyhow::Context as _;
use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group};
use per_request_client::{
    Upstream, fixed, slow,
    steps::{no_reuse, shared_connector},
    upstream::{
        Background, bundle,
        site::{self, Resource},
    },
};

/// Set for the second process: where the upstream of the first one listens.
const UPSTREAM: &str = "PER_REQUEST_CLIENT_UPSTREAM";

fn per_request_client(c: &mut Criterion) {
    let runtime = benches::runtime();
    let url = env::var(UPSTREAM).expect("the first process has set it");
    let upstream = Upstream::new(&url, Duration::from_secs(10)).expect("the upstream runs");
    let routes = |routes: fn(Upstream) -> anyhow::Result<axum::Router>| {
        InProcess::new(routes(upstream.clone()).expect("there are certificate authorities"))
    };
    let site = site::resources();

    let mut group = c.benchmark_group("per-request-client");
    let weight: usize = site.iter().map(|resource| resource.body.len()).sum();
    group.throughput(Throughput::Bytes(weight as u64));
    for (variant, proxy) in [
        ("slow", routes(slow::routes)),
        ("shared-connector", routes(shared_connector::routes)),
        ("no-reuse", routes(no_reuse::routes)),
        ("fixed", routes(fixed::routes)),
    ] {
        group.bench_function(variant, |bencher| {
            bencher.to_async(&runtime).iter(|| load_page(&proxy, &site));
        });
    }
    group.finish();
}

async fn load_page(proxy: &InProcess, site: &[Resource]) {
    for resource in site {
        assert_eq!(proxy.get(resource.path).await, (200, resource.body.clone()));
    }
}

criterion_group! { name = benches; config = benches::criterion(); targets = per_request_client }

fn main() -> anyhow::Result<ExitCode> {
    if env::var_os(UPSTREAM).is_some() {
        benches();
        Criterion::default().configure_from_args().final_summary();
        return Ok(ExitCode::SUCCESS);
    }
    let upstream = Background::start()?;
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let authorities = scratch.path().join("ca-bundle.pem");
    bundle::write(&authorities, bundle::DIRECTORY, upstream.authority())?;
    let again = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .env(UPSTREAM, upstream.url())
        .env("SSL_CERT_FILE", authorities)
        .env("SSL_CERT_DIR", bundle::DIRECTORY)
        .status()
        .context("cannot run the bench again")?;
    Ok(if again.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
