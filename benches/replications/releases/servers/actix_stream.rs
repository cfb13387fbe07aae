//! An answer that is written in pieces, as from a file or a database.

use actix_web::{App, HttpResponse, HttpServer, web};
use bytes::Bytes;
use futures_util::stream;

/// Four pieces, each ready once the runtime has served others.
async fn answer() -> HttpResponse {
    let pieces = stream::unfold(0, |piece| async move {
        tokio::task::yield_now().await;
        (piece < 4).then(|| {
            (Ok::<_, actix_web::Error>(Bytes::from(format!("piece {piece}\n"))), piece + 1)
        })
    });
    HttpResponse::Ok().content_type("text/plain").streaming(pieces)
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse::<u16>().ok());
    let server = HttpServer::new(|| App::new().route("/", web::get().to(answer)));
    #[cfg(feature = "nodelay")]
    let server = server.tcp_nodelay(true);
    server.workers(2).bind(("127.0.0.1", port.unwrap_or(0)))?.run().await
}
