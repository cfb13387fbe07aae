//! What a server that counts answers: `cargo test -p case-server --features count-allocations`.

#![cfg(feature = "count-allocations")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::hint::black_box;

use case_server::{Limits, allocations, serve};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warp::Filter as _;

/// The answer to `GET path` of a server whose only route allocates 1,000 times a kilobyte.
async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// The numbers of an answer such as `{"allocations":1,"bytes":2}`.
fn counts(answer: &str) -> [u64; 2] {
    let json = answer.lines().last().unwrap();
    let (allocations, bytes) =
        json.strip_prefix("{\"allocations\":").unwrap().split_once(',').unwrap();
    let bytes = bytes.strip_prefix("\"bytes\":").unwrap().strip_suffix('}').unwrap();
    [allocations, bytes].map(|number| number.parse().unwrap())
}

#[tokio::test]
async fn the_allocations_of_all_threads_are_counted_and_told() {
    let routes = warp::path("work").then(|| async {
        let work = || (0..1000).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(1024))));
        tokio::task::spawn_blocking(work).await.unwrap();
        "done"
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let never = std::future::pending();
    tokio::spawn(serve(listener, warp::service(routes), Limits::default(), never));

    let before = counts(&get(address, allocations::PATH).await);
    assert!(get(address, "/work").await.ends_with("done"));
    let after = counts(&get(address, allocations::PATH).await);
    // The rest is the work of both ends to exchange two requests.
    assert!((1000..1500).contains(&(after[0] - before[0])), "{before:?} {after:?}");
    assert!((1_024_000..1_300_000).contains(&(after[1] - before[1])), "{before:?} {after:?}");
}
