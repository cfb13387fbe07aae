//! One page load, 19 resources in sequence, through the proxy's handler in process. The site behind it
//! has real sockets and real TLS.
//!
//! A closed connection blocks its port for a minute. This bench closes about ten thousand connections,
//! and Linux has 28,000 ports towards one address. Every run has its own site, on a new port.

use std::process::ExitCode;

use benches::behind_upstream::{self, proxy};
use case_server::InProcess;
use criterion::{Criterion, Throughput, criterion_group};
use per_request_client::{
    fixed, slow,
    steps::{no_reuse, shared_connector},
};
use tls_site::site::{self, Resource};

fn per_request_client(c: &mut Criterion) {
    let runtime = benches::runtime();
    let site = site::resources();

    let mut group = c.benchmark_group("per-request-client");
    let weight: usize = site.iter().map(|resource| resource.body.len()).sum();
    group.throughput(Throughput::Bytes(weight as u64));
    for (variant, proxy) in [
        ("slow", proxy(slow::routes)),
        ("shared-connector", proxy(shared_connector::routes)),
        ("no-reuse", proxy(no_reuse::routes)),
        ("fixed", proxy(fixed::routes)),
    ] {
        let proxy = InProcess::new(proxy);
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
    behind_upstream::run(benches)
}
