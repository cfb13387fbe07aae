//! One label after the other over one connection, through the kernel. In process, both variants do the same.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use axum::Router;
use case_probe::net::TcpListener;
use case_server::Stop;
use criterion::{Criterion, criterion_group, criterion_main};
use small_writes::{Labels, Options, fixed, slow};
use tokio::runtime::Runtime;

/// The address of a server that runs as long as the runtime.
fn start<F>(
    runtime: &Runtime,
    routes: Router,
    serve: impl FnOnce(TcpListener, Router, Stop) -> F,
) -> SocketAddr
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let socket = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
    let socket = socket.expect("there is a free port");
    let address = socket.local_addr().expect("it is bound");
    let never = Box::pin(std::future::pending());
    runtime.spawn(serve(case_probe::net::listener(socket), routes, never));
    address
}

/// Asks for a label, and reads until its last byte.
fn ask(connection: &mut TcpStream, last: &[u8]) {
    let request = b"GET /labels/17 HTTP/1.1\r\nhost: localhost\r\n\r\n";
    connection.write_all(request).expect("the server listens");
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while !answer.ends_with(last) {
        let length = connection.read(&mut piece).expect("the server answers");
        assert_ne!(length, 0, "the server has closed the connection");
        answer.extend_from_slice(&piece[..length]);
    }
}

fn small_writes(c: &mut Criterion) {
    let runtime = benches::runtime();
    let [(_, in_process), _] = small_writes::variants(Options::default());
    let (_, label) = runtime.block_on(in_process.get("/labels/17"));
    let labels = || Labels::first(Options::default());
    let mut group = c.benchmark_group("small-writes");
    for (variant, address) in [
        ("slow", start(&runtime, slow::routes(labels()), slow::serve)),
        ("fixed", start(&runtime, fixed::routes(labels()), fixed::serve)),
    ] {
        let mut connection = TcpStream::connect(address).expect("the server listens");
        connection.set_nodelay(true).expect("it is a TCP connection");
        group.bench_function(variant, |bencher| bencher.iter(|| ask(&mut connection, &label)));
    }
    group.finish();
}

criterion_group! { name = benches; config = benches::criterion(); targets = small_writes }
criterion_main!(benches);
