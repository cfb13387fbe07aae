//! `lab answer`: a minimal HTTP server for `lab bench-generator`.
//!
//! It answers everything that ends with an empty line, on one thread, with the same bytes. A real
//! server does more per request, which would hide a difference between two generators.

use std::process::ExitCode;

use anyhow::Context as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::cmd::{block_on, closed};

pub const BODY: &str = "Hello, generator!";
/// The end of a request without a body.
const END: &[u8] = b"\r\n\r\n";

/// Serves until standard input closes, as it does when the process that started this one exits.
pub fn run() -> anyhow::Result<ExitCode> {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        println!("listening on http://{}", listener.local_addr()?);
        tokio::select! {
            result = accept(&listener) => result.map(|()| ExitCode::SUCCESS),
            () = closed(tokio::io::stdin()) => Ok(ExitCode::SUCCESS),
        }
    })
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
        // The client reports a broken connection.
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
