//! How many writes one answer takes, and how many of them TCP may hold back. `.ci/build tests` runs this with a server
//! that counts: `cargo test --release --package small-writes --features count`.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use axum::Router;
use case_probe::net::{TcpListener, listener, writes};
use case_server::Stop;
use small_writes::{Labels, Options, fixed, slow};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::oneshot,
};

const ANSWERS: u64 = 100;

/// How many writes the server makes for each of many answers over one connection, and how many of them are held back.
async fn writes_of<F>(
    routes: Router,
    serve: impl FnOnce(TcpListener, Router, Stop) -> F,
) -> Vec<[u64; 2]>
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = Box::pin(async { drop(stopped.await) });
    let server = tokio::spawn(serve(listener(socket), routes, stopped));
    let mut client = TcpStream::connect(address).await.unwrap();
    client.set_nodelay(true).unwrap();
    let mut counted = Vec::new();
    for number in 1..=ANSWERS {
        let before = writes();
        let request = format!("GET /labels/{number} HTTP/1.1\r\nhost: {address}\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !is_whole(&answer) {
            assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0, "the server has closed");
        }
        let after = writes();
        counted.push([after[0] - before[0], after[1] - before[1]]);
    }
    drop((client, stop));
    server.await.unwrap().unwrap();
    counted
}

/// Whether all bytes are here that the head of an answer announces.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    body.len() == length.parse::<usize>().unwrap()
}

#[tokio::test]
async fn slow_lets_tcp_hold_back_the_body_of_each_answer_and_fixed_none() {
    let labels = Labels::first(Options::default());
    let slow = writes_of(slow::routes(labels.clone()), slow::serve).await;
    let fixed = writes_of(fixed::routes(labels), fixed::serve).await;
    // The head goes out while the label is read, so each answer takes two writes.
    assert!(slow.iter().all(|counted| *counted == [2, 1]), "{slow:?}");
    assert!(fixed.iter().all(|counted| *counted == [2, 0]), "{fixed:?}");
}
