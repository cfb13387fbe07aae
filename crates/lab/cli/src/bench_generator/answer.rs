//! `lab answer`: the least that is an HTTP server, so that a load generator has no better excuse.
//!
//! It answers whatever ends with an empty line, on one thread, with bytes that are always the same.
//! A real server does more for each request, and the difference between two generators in front of
//! it would be smaller than it is.

use std::process::ExitCode;

use anyhow::Context as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The body of every answer.
pub const BODY: &str = "Hello, generator!";
/// The end of a request without a body.
const END: &[u8] = b"\r\n\r\n";

/// Serves until standard input closes, as it does when the process that started this one dies.
pub fn run() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        println!("listening on http://{}", listener.local_addr()?);
        let parent_gone = async {
            let mut rest = [0; 64];
            let mut stdin = tokio::io::stdin();
            while stdin.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        };
        tokio::select! {
            result = accept(&listener) => result,
            () = parent_gone => Ok(()),
        }
    })?;
    // A read of standard input may be under way on a thread that cannot be stopped.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

async fn accept(listener: &TcpListener) -> anyhow::Result<()> {
    let length = BODY.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n{BODY}"
    );
    let answer: &'static [u8] = answer.leak().as_bytes();
    loop {
        let (stream, _) = listener.accept().await.context("cannot accept")?;
        stream.set_nodelay(true)?;
        // A connection that breaks is the business of the one who broke it.
        tokio::spawn(async move { serve(stream, answer).await.ok() });
    }
}

/// Answers the requests of one connection, one at a time.
async fn serve(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    let (mut buffer, mut filled) = ([0; 4096], 0);
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        if buffer[..filled].ends_with(END) {
            stream.write_all(answer).await?;
            filled = 0;
        }
    }
}
