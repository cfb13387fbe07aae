//! A stand-in for a server that speaks only HTTP/2, without TLS.

use std::io;

use bytes::Bytes;
use h2::server::{SendResponse, handshake};
use http::{HeaderMap, Response};
use tokio::net::{TcpListener, TcpStream};

const OPTIONS: &str = "
--port N               Listen on this port
--pid-dir DIR          Leave a file with the process id as its name here
--answer TEXT          What every request is answered, instead of 6
--grpc-status N        Say in the trailers that the call ended so
--answers N            Close each connection after so many answers
";

fn text(option: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != option).nth(1)
}

fn number(option: &str) -> Option<u64> {
    text(option)?.parse().ok()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let is_known = |arg: &String| OPTIONS.contains(&format!("\n{arg} "));
    let unknown = std::env::args().find(|arg| arg.starts_with("--") && !is_known(arg));
    assert_eq!(unknown, None, "the options are:{OPTIONS}");
    if let Some(dir) = text("--pid-dir") {
        std::fs::write(format!("{dir}/{}", std::process::id()), "")?;
    }
    let port = number("--port").unwrap_or(0);
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // What a client does wrong, such as to speak HTTP/1.1, ends its connection.
        tokio::spawn(serve(stream));
    }
}

async fn serve(stream: TcpStream) -> Result<(), h2::Error> {
    let answer = Bytes::from(text("--answer").unwrap_or_else(|| "6".to_owned()));
    let (answers, grpc_status) = (number("--answers"), number("--grpc-status"));
    let mut connection = handshake(stream).await?;
    let mut answered = 0;
    while let Some(request) = connection.accept().await {
        respond(request?.1, answer.clone(), grpc_status)?;
        answered += 1;
        if Some(answered) == answers {
            connection.graceful_shutdown();
        }
    }
    Ok(())
}

fn respond(
    mut respond: SendResponse<Bytes>,
    answer: Bytes,
    grpc_status: Option<u64>,
) -> Result<(), h2::Error> {
    let mut body = respond.send_response(Response::new(()), false)?;
    let Some(status) = grpc_status else { return body.send_data(answer, true) };
    body.send_data(answer, false)?;
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.into());
    body.send_trailers(trailers)
}
