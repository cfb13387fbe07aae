//! The stock service, on a thread of its own, and the client that asks it.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex as StdMutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use axum::{Router, extract::Path, routing::get, serve::ListenerExt as _};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::sync::{Mutex, Semaphore};

use crate::faults::Fault;

type HttpClient = Client<HttpsConnector<HttpConnector>, Empty<Bytes>>;

/// What the stock service saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicUsize,
    pub at_once: AtomicUsize,
    pub most_at_once: AtomicUsize,
}

/// Somebody else's service, which takes `wait` for an answer.
pub struct StockService {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
}

impl StockService {
    /// Starts it; it runs until the process ends.
    pub fn start(wait: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        listener.set_nonblocking(true)?;
        let (address, seen) = (listener.local_addr()?, Arc::new(Seen::default()));
        let listener = {
            let _within = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let [connections, requests] = [seen.clone(), seen.clone()];
        let listener = listener.tap_io(move |stream| {
            connections.connections.fetch_add(1, Relaxed);
            let _ = stream.set_nodelay(true);
        });
        let answer = async move |Path(id): Path<u32>| {
            let now = requests.at_once.fetch_add(1, Relaxed) + 1;
            requests.most_at_once.fetch_max(now, Relaxed);
            tokio::time::sleep(wait).await;
            requests.at_once.fetch_sub(1, Relaxed);
            (id * 37 % 100).to_string()
        };
        let routes = Router::new().route("/stock/{id}", get(answer));
        let serve = async { axum::serve(listener, routes).await };
        std::thread::Builder::new()
            .name("stock".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        Ok(Self { address, seen })
    }
}

/// Asks the stock service.
pub struct Stock {
    address: SocketAddr,
    client: HttpClient,
    permits: Semaphore,
    /// The level that was seen last, by order.
    levels: Mutex<HashMap<u32, u32>>,
    idle: StdMutex<Vec<TcpStream>>,
    faults: Vec<Fault>,
}

impl Stock {
    pub fn new(address: SocketAddr, faults: &[Fault]) -> anyhow::Result<Self> {
        Ok(Self {
            address,
            client: client()?,
            permits: Semaphore::new(if faults.contains(&Fault::Pool) { 2 } else { 64 }),
            levels: Mutex::default(),
            idle: StdMutex::default(),
            faults: faults.to_vec(),
        })
    }

    fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// How many pieces there are for an order.
    pub async fn level(&self, id: u32) -> anyhow::Result<u32> {
        if self.has(Fault::Lock) {
            return self.refreshed(id).await;
        }
        let level = self.ask(id).await?;
        self.levels.lock().await.insert(id, level);
        Ok(level)
    }

    #[expect(clippy::await_holding_invalid_type, reason = "one of the faults")]
    async fn refreshed(&self, id: u32) -> anyhow::Result<u32> {
        let mut levels = self.levels.lock().await;
        let level = self.ask(id).await?;
        levels.insert(id, level);
        Ok(level)
    }

    async fn ask(&self, id: u32) -> anyhow::Result<u32> {
        let _permit = self.permits.acquire().await?;
        if self.has(Fault::Blocking) {
            return self.fetch(id);
        }
        let client = if self.has(Fault::Client) { client()? } else { self.client.clone() };
        let answer = client.get(format!("http://{}/stock/{id}", self.address).parse()?).await?;
        let body = answer.into_body().collect().await?.to_bytes();
        Ok(std::str::from_utf8(&body)?.parse()?)
    }

    /// The same over one of our own connections.
    fn fetch(&self, id: u32) -> anyhow::Result<u32> {
        let idle = || self.idle.lock().map_err(|_| anyhow!("the connections are broken"));
        let kept = idle()?.pop();
        let mut stream = kept.map_or_else(|| TcpStream::connect(self.address), Ok)?;
        let ask = format!("GET /stock/{id} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(ask.as_bytes())?;
        let (mut answer, mut part) = (String::new(), [0; 512]);
        loop {
            let read = stream.read(&mut part)?;
            ensure!(read > 0, "the stock service closed the connection");
            answer += std::str::from_utf8(&part[..read])?;
            let Some((head, body)) = answer.split_once("\r\n\r\n") else { continue };
            let length = head.split_once("content-length: ").context("no length")?.1;
            let length: usize = length.lines().next().unwrap_or_default().parse()?;
            if body.len() >= length {
                let level = body.parse()?;
                idle()?.push(stream);
                return Ok(level);
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "one of the faults, and once at start-up")]
fn client() -> anyhow::Result<HttpClient> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let tls = HttpsConnectorBuilder::new().with_native_roots();
    let tls = tls.context("no certificate authorities; install the package ca-certificates")?;
    let connector = tls.https_or_http().enable_http1().wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}
