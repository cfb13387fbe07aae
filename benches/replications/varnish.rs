//! Requests through a reverse proxy, seen from outside: what the article set out to write as `cargo bench`.
//!
//! `just replicate varnish` starts the proxies and names them in `REPLICATE_PROXIES`, as
//! `varnish=http://127.0.0.1:PORT/ nginx=...`. Without it, this bench starts the fixed proxy and a
//! backend in its own process.

mod visitors;

use std::{env, future::pending, thread};

use anyhow::Context as _;
use axum::{Router, http::Uri};
use bytes::Bytes;
use case_server::{Erased, Limits};
use criterion::Throughput;
use per_request_client::{Upstream, fixed};
use tokio::net::TcpListener;
use visitors::{Visitor, Visitors};

const PROXIES: &str = "REPLICATE_PROXIES";

/// The size of the article's page, for the backend in this process.
const PAGE_BYTES: usize = 11_321;

/// A name, and where the server is.
type Server = (String, Uri);

/// Name, visitors, requests in all.
const LOADS: [(&str, usize, usize); 4] = [
    ("1 request", 1, 1),
    ("100 requests", 1, 100),
    ("100 requests, 10 in parallel", 10, 100),
    ("100 requests, 100 in parallel", 100, 100),
];

fn main() -> anyhow::Result<()> {
    let servers = match env::var(PROXIES) {
        Ok(named) => named_servers(&named)?,
        Err(_) => {
            eprintln!(
                "no proxies in {PROXIES}, so this measures only the fixed proxy and a backend, both in \
                 this process; `just replicate varnish` measures all"
            );
            own_servers()?
        }
    };
    let mut criterion = benches::brief_criterion().configure_from_args();
    let runtime = benches::runtime();
    // All servers under one load, then the next load: what is compared is measured close together.
    for (load, count, requests) in LOADS {
        let mut group = criterion.benchmark_group(load);
        group.throughput(Throughput::Elements(requests as u64));
        for (name, url) in &servers {
            let visitors = Visitors::new(count, url);
            let expected = runtime.block_on(Visitor::new(url).ask());
            group.bench_function(name, |bencher| {
                bencher.to_async(&runtime).iter(|| visitors.send(requests, &expected));
            });
        }
    }
    criterion.final_summary();
    Ok(())
}

fn named_servers(named: &str) -> anyhow::Result<Vec<Server>> {
    let parse = |server: &str| {
        let (name, url) = server.split_once('=')?;
        Some((name.to_owned(), url.parse().ok()?))
    };
    named
        .split_whitespace()
        .map(|server| {
            parse(server).with_context(|| format!("{PROXIES}: `{server}` is no NAME=URL"))
        })
        .collect()
}

fn own_servers() -> anyhow::Result<Vec<Server>> {
    let page = Bytes::from(vec![b'x'; PAGE_BYTES]);
    let backend = serve(|| Ok(Router::new().fallback(async move || page.clone())))?;
    let upstream = Upstream { url: backend.parse()? };
    let proxy = serve(|| fixed::routes(upstream))?;
    Ok(vec![("backend".to_owned(), backend.parse()?), ("fixed".to_owned(), proxy.parse()?)])
}

/// Serves `routes` from a thread with a runtime of its own, as a server process would; returns the URL.
fn serve(routes: impl FnOnce() -> anyhow::Result<Router>) -> anyhow::Result<String> {
    let runtime = benches::runtime();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let url = format!("http://{}", listener.local_addr()?);
    let service = {
        let _inside = runtime.enter();
        Erased::new(routes()?)
    };
    thread::spawn(move || {
        runtime.block_on(case_server::serve(
            listener,
            service,
            Limits::default(),
            Box::pin(pending()),
        ));
    });
    Ok(url)
}
