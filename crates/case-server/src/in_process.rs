//! Asking a variant without a socket: for tests and for benches.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{Request, Response, body::Body};
use tower::{
    Service,
    util::{BoxCloneSyncService, ServiceExt as _},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A variant's service, behind one type for warp and axum, so that variants fit into one list.
///
/// A question goes through the framework and the handler, and not through the kernel.
#[derive(Clone, Debug)]
pub struct InProcess(
    BoxCloneSyncService<Request<Full<Bytes>>, Response<UnsyncBoxBody<Bytes, Error>>, Infallible>,
);

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
        B::Error: Into<Error>,
    {
        Self(BoxCloneSyncService::new(service.map_response(|response: Response<B>| {
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        })))
    }

    /// The status and the whole body of the answer to `request`.
    ///
    /// # Panics
    ///
    /// If the body of the answer breaks off.
    pub async fn ask(&self, request: Request<impl Into<Bytes>>) -> (u16, Bytes) {
        let request = request.map(|body| Full::new(body.into()));
        let Ok(response) = self.0.clone().oneshot(request).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("the whole answer arrives");
        (status, body.to_bytes())
    }

    /// The status and the body of the answer to `GET path`.
    ///
    /// # Panics
    ///
    /// If `path` is not one, or the body of the answer breaks off.
    pub async fn get(&self, path: &str) -> (u16, Bytes) {
        self.ask(Request::get(path).body(Bytes::new()).expect("the path is valid")).await
    }
}
