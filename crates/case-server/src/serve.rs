//! The accept loop: one HTTP/1 server for warp and axum alike, with the limits of production.

use std::{convert::Infallible, pin::pin, time::Duration};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::{
    Request, Response, StatusCode, body::Body, body::Incoming, server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::net::TcpListener;
use tower::Service;

/// How long a server waits for others.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a client to send the head of its next request, and so also for an idle connection.
    pub head: Duration,
    /// For the service to read the request's body and to answer.
    pub request: Duration,
    /// For requests in flight to end after a stop was asked for.
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

/// Serves every connection of `listener` until `stop` completes, then lets requests in flight end.
///
/// A request that takes longer than [`Limits::request`] is dropped and answered with 503.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: Limits,
    stop: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    #[cfg(feature = "profile")]
    crate::profile::start();
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Nearly always too many open files: closing connections will mend it.
                    eprintln!("cannot accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        // Without it a response in two writes waits for the client's delayed acknowledgement.
        let _ = stream.set_nodelay(true);

        let service = service.clone();
        let answer = service_fn(move |request| {
            let mut service = service.clone();
            async move {
                #[cfg(feature = "count-allocations")]
                if let Some(counts) = crate::allocations::answer(&request) {
                    return Ok(counts.map(Either::Right));
                }
                #[cfg(feature = "profile")]
                if let Some(told) = crate::profile::answer(&request).await {
                    return Ok(told.map(Either::Right));
                }
                let answer = async {
                    std::future::poll_fn(|cx| service.poll_ready(cx)).await?;
                    service.call(request).await
                };
                #[cfg(feature = "profile")]
                let answer =
                    tracing::Instrument::instrument(answer, tracing::info_span!("request"));
                match tokio::time::timeout(limits.request, answer).await {
                    Ok(response) => response.map(|response| response.map(Either::Left)),
                    Err(_) => Ok(too_slow().map(Either::Right)),
                }
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .serve_connection(TokioIo::new(stream), answer);
        // An error here is a client that left in mid-request: its own affair.
        tokio::spawn(graceful.watch(connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
}

fn too_slow() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("the request took too long\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
