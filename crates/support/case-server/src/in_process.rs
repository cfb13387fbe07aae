//! Requests to a variant without a socket, for tests and benches.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, Response, body::Body};
use tower::Service;

use crate::erased::Erased;

/// A variant's service, of one type for warp and axum, so that variants fit into one list.
///
/// A request goes through the framework and the handler, and not through the kernel.
#[derive(Clone)]
pub struct InProcess(Erased<Full<Bytes>>);

impl InProcess {
    /// Wraps `warp::service(routes)` or an axum `Router`.
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self(Erased::new(service))
    }

    /// The status and the whole body of the answer to `request`.
    ///
    /// # Panics
    ///
    /// If the body of the answer breaks off.
    pub async fn ask(&self, request: Request<impl Into<Bytes>>) -> (u16, Bytes) {
        let response = self.0.call(request.map(|body| Full::new(body.into()))).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("the whole answer arrives");
        (status, body.to_bytes())
    }

    /// The status and the body of the answer to `GET path`.
    ///
    /// # Panics
    ///
    /// If `path` is invalid, or the body of the answer breaks off.
    pub async fn get(&self, path: &str) -> (u16, Bytes) {
        self.ask(Request::get(path).body(Bytes::new()).expect("the path is valid")).await
    }
}
