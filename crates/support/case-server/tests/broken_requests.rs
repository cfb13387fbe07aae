//! Thousands of broken requests to every server of every case. None panics, or answers with a fault of
//! its own: a broken request is the client's fault. And each answers next to many idle connections.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeMap,
    env,
    net::SocketAddr,
    panic,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use case_server::{Erased, Limits, serve};
use hyper::body::Incoming;
use lock_scope::steps::rwlock_held;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use per_request_client::{
    Upstream,
    steps::{no_reuse, shared_connector},
};
use query_per_row::{Database, Options, steps::in_list};
use tls_site::Background;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// How many clients ask one server at once, and how many requests each of them sends.
const CLIENTS: u64 = 100;
const REQUESTS: u64 = 20;
/// How many servers are asked at once.
const TOGETHER: usize = 8;
/// How many clients connect to each server and send nothing.
const IDLE: usize = 1500;
/// What is put between the bytes of a good request. Chance alone finds few of these.
const PARTS: [&[u8]; 16] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\r\ncontent-length: 38",
    b"\r\ncontent-length: 18446744073709551616",
    b"\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n",
    b"\r\nconnection: keep-alive, host",
    b"\r\nexpect: 100-continue",
    b"\r\nupgrade: h2c",
    b"http://",
    b"user@[::1]:0",
    b"%ff",
    b"/../",
    b"\0",
    b"PUT /clients/a/1 ",
    b"HTTP/1.0",
    &[b'a'; 70_000],
];
const LOGIN: &str = r#"{"user":"ada","password":"difference engine"}"#;
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// SplitMix64, so that every run sends the same requests.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end
    }

    /// Changes one to four places of a request.
    fn broken(&mut self, mut request: Vec<u8>) -> Vec<u8> {
        for _ in 0..=self.below(4) {
            let at = self.below(request.len() + 1);
            let end = request.len().min(at + self.below(8));
            match self.below(5) {
                0 => drop(request.splice(at..end, [self.below(256) as u8])),
                1 => drop(request.drain(at..end)),
                2 => drop(request.splice(at..at, request[at..end].to_vec())),
                3 => request.truncate(at),
                _ => drop(request.splice(at..at, PARTS[self.below(PARTS.len())].to_vec())),
            }
        }
        request
    }
}

/// What a server sends until it closes the connection.
async fn exchange(address: SocketAddr, request: &[u8], half_close: bool) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server may answer and close before it has read everything.
    let _ = stream.write_all(request).await;
    if half_close {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// What a server answers while many connections are idle.
async fn next_to_idle_ones(service: Erased<Incoming>, method_and_path: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = Box::pin(std::future::pending());
    let server = tokio::spawn(serve(listener, service, Limits::default(), never));
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    let request =
        format!("{method_and_path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let answer = exchange(address, request.as_bytes(), false).await;
    server.abort();
    String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned()
}

/// Breaks a good request in many ways, and returns how often a server answered with each class of
/// status: 2 for 200 to 299.
async fn classes(
    service: Erased<Incoming>,
    method_and_path: &str,
    body: &str,
) -> BTreeMap<u8, u64> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // A head that never ends is cut off soon. No request is cut off, on the slowest machine.
    let limits =
        Limits { head: Duration::from_millis(50), request: Duration::MAX, ..Limits::default() };
    let server = tokio::spawn(serve(listener, service, limits, Box::pin(std::future::pending())));
    let length = match body.len() {
        0 => String::new(),
        length => format!("content-length: {length}\r\n"),
    };
    let good = format!(
        "{method_and_path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\naccept: */*\r\n{length}\r\n{body}"
    );
    let has_body = !body.is_empty();
    let mut clients = JoinSet::new();
    for seed in 0..CLIENTS {
        let good = good.clone().into_bytes();
        clients.spawn(async move {
            let (mut random, mut classes) = (Random(seed), BTreeMap::<u8, u64>::new());
            for _ in 0..REQUESTS {
                let request = random.broken(good.clone());
                // A server waits for the rest of a body that says it is longer.
                let half_close = random.below(2) == 0 || has_body;
                let answer = exchange(address, &request, half_close).await;
                let is_status =
                    |line: &&[u8]| line.starts_with(b"HTTP/1.") && line[9].is_ascii_digit();
                for line in answer.windows(10).filter(is_status) {
                    assert_ne!(line[9], b'5', "{}", String::from_utf8_lossy(&request));
                    *classes.entry(line[9] - b'0').or_default() += 1;
                }
            }
            classes
        });
    }
    let mut all = BTreeMap::new();
    for (class, count) in clients.join_all().await.into_iter().flatten() {
        *all.entry(class).or_default() += count;
    }
    server.abort();
    all
}

/// Every server with a good request and its body, in front of the site at `upstream`.
fn servers(
    upstream: &str,
    database: &Database,
) -> Vec<(Erased<Incoming>, &'static str, &'static str)> {
    let wait = Duration::ZERO;
    let upstream = Upstream { url: upstream.parse().unwrap() };
    let mut servers = vec![
        (Erased::new(warp::service(lock_scope::slow::routes(wait))), "PUT /clients/new/7", ""),
        (Erased::new(warp::service(rwlock_held::routes(wait))), "GET /read", ""),
        (Erased::new(warp::service(lock_scope::fixed::routes(wait))), "PUT /clients/new/7", ""),
        (Erased::new(warp::service(hot_clone::slow::routes())), "GET /cpu?rounds=10", ""),
        (Erased::new(warp::service(hot_clone::fixed::routes())), "GET /cpu?rounds=10", ""),
    ];
    for (_, summarise) in double_parse::VARIANTS {
        servers.push((
            Erased::new(double_parse::routes(summarise)),
            "GET /summary?documents=10",
            "",
        ));
    }
    let cheap = blocked_worker::Options { memory_kib: 8, passes: 1 };
    let users = blocked_worker::Users::first(cheap).unwrap();
    for (_, routes) in blocked_worker::VARIANTS {
        servers.push((Erased::new(routes(users.clone())), "GET /health", ""));
        servers.push((Erased::new(routes(users.clone())), "POST /login", LOGIN));
    }
    for routes in [query_per_row::slow::routes, in_list::routes, query_per_row::fixed::routes] {
        servers.push((Erased::new(routes(database.clone())), "GET /orders?limit=2", ""));
        servers.push((Erased::new(routes(database.clone())), "PUT /customers/169/Ada%20L.", ""));
    }
    let labels = small_writes::Labels::first(small_writes::Options::default());
    for routes in [small_writes::slow::routes, small_writes::fixed::routes] {
        servers.push((Erased::new(routes(labels.clone())), "GET /labels/17", ""));
    }
    let proxies = [
        per_request_client::slow::routes,
        shared_connector::routes,
        no_reuse::routes,
        per_request_client::fixed::routes,
    ];
    for routes in proxies {
        servers.push((Erased::new(routes(upstream.clone()).unwrap()), "GET /images/logo.svg", ""));
    }
    servers
}

/// A process cannot safely change its own environment, so the test runs itself again in one that trusts
/// the site.
#[test]
fn no_broken_request_is_the_servers_fault() {
    const UPSTREAM: &str = "BROKEN_REQUESTS_UPSTREAM";
    if let Ok(upstream) = env::var(UPSTREAM) {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Relaxed);
            report(panic);
        }));
        // Both ends of each connection are in this process.
        let files = (2 * IDLE + 1000) as u64;
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        assert!(hard >= files, "`ulimit -Hn {files}`");
        setrlimit(Resource::RLIMIT_NOFILE, soft.max(files), hard).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let database = runtime.block_on(Options::default().connect()).unwrap();
        for (service, request, body) in servers(&upstream, &database) {
            let answer = runtime.block_on(next_to_idle_ones(service, request));
            // A login without a body is refused.
            let right = if body.is_empty() { "HTTP/1.1 2" } else { "HTTP/1.1 4" };
            assert!(answer.starts_with(right), "{request}: {answer}");
        }
        // Most of the time they wait for the end of a head that never comes.
        for some in servers(&upstream, &database).chunks(TOGETHER) {
            let mut all = JoinSet::new();
            for &(ref service, request, body) in some {
                let service = service.clone();
                all.spawn_on(
                    async move { (request, body, classes(service, request, body).await) },
                    runtime.handle(),
                );
            }
            for (request, body, classes) in runtime.block_on(all.join_all()) {
                // Some requests are still good. Most changes of one with a body hit the body.
                let good = if body.is_empty() { CLIENTS } else { CLIENTS / 10 };
                assert!(classes[&2] > good && classes[&4] > CLIENTS, "{request}: {classes:?}");
                assert_eq!(PANICS.load(Relaxed), 0, "{request}, or one next to it");
            }
        }
        return;
    }
    let site = Background::start().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let authority = scratch.path().join("authority.pem");
    std::fs::write(&authority, site.authority()).unwrap();
    let again = Command::new(env::current_exe().unwrap())
        .arg("--nocapture")
        .env(UPSTREAM, site.url())
        .env("SSL_CERT_FILE", authority)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let said = [again.stdout, again.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(again.status.success(), "{}", said.concat());
}
