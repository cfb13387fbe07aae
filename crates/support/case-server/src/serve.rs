//! The accept loop: one HTTP/1 server for warp and axum alike, with the limits of production.

use std::{convert::Infallible, pin::Pin, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use tokio::net::{TcpListener, TcpStream};

use crate::erased::{Erased, ErasedBody};

/// How long a server waits for others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a client to send the head of its next request, and so also for an idle connection.
    pub head: Duration,
    /// For the service to read the request's body and to answer.
    pub request: Duration,
    /// For requests in flight to end after a stop was requested.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            request: Duration::from_secs(30),
            drain: Duration::from_secs(2),
        }
    }
}

/// When a server has to stop.
pub type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves every connection of `listener` until `stop` completes, then lets requests in flight end.
///
/// A request that takes longer than [`Limits::request`] is dropped and answered with 503. Without type
/// parameters, so that this crate compiles it and not each binary.
pub async fn serve(
    listener: TcpListener,
    service: Erased<Incoming>,
    limits: Limits,
    mut stop: Pin<Box<dyn Future<Output = ()> + Send + '_>>,
) {
    case_probe::start();
    let graceful = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Nearly always too many open files, until connections are closed.
                    eprintln!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let connection = connection(stream, service.clone(), limits);
        // An error here is a client that left in mid-request.
        tokio::spawn(graceful.watch(connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
}

fn connection(
    stream: TcpStream,
    service: Erased<Incoming>,
    limits: Limits,
) -> impl GracefulConnection<Error = hyper::Error> {
    // Without it a response in two writes waits for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| answer(service.clone(), request, limits.request));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .serve_connection(TokioIo::new(stream), answer)
}

/// Answers one request, also those for the instruments.
pub(crate) async fn answer<Q: Send + 'static>(
    service: Erased<Q>,
    request: Request<Q>,
    limit: Duration,
) -> Result<Response<ErasedBody>, Infallible> {
    if let Some(report) = case_probe::answer(request.uri()).await {
        return Ok(report.map(whole));
    }
    let answer = case_probe::request(service.call(request));
    let answer = tokio::time::timeout(limit, answer).await;
    Ok(answer.unwrap_or_else(|_| too_slow()))
}

fn whole(body: Full<Bytes>) -> ErasedBody {
    body.map_err(|never| match never {}).boxed_unsync()
}

fn too_slow() -> Response<ErasedBody> {
    let mut response = Response::new(whole(Full::from("the request took too long\n")));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
