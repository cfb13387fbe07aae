//! A service whose types are erased.

use std::{convert::Infallible, error::Error, pin::Pin, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{Request, Response, body::Body};
use tower::{Service, util::ServiceExt as _};

type AnyError = Box<dyn Error + Send + Sync>;
pub(crate) type ErasedBody = UnsyncBoxBody<Bytes, AnyError>;
type Answer = Pin<Box<dyn Future<Output = Response<ErasedBody>> + Send>>;

/// What a variant answers requests of the body `Q` with: `warp::service(routes)` or an axum `Router`.
pub trait Variant<Q>:
    Service<
        Request<Q>,
        Response = Response<<Self as Variant<Q>>::Body>,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + Sync
    + 'static
{
    type Body: Body<Data = Bytes, Error: Into<AnyError>> + Send + 'static;
}

impl<Q, S, B> Variant<Q> for S
where
    S: Service<Request<Q>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    B: Body<Data = Bytes, Error: Into<AnyError>> + Send + 'static,
{
    type Body = B;
}

/// A variant's service, of one type for warp and axum.
///
/// The server is compiled once for all variants, and not again in every binary. A request costs two
/// more allocations, one for the future and one for the body, in all variants alike.
pub struct Erased<Q>(Arc<dyn Fn(Request<Q>) -> Answer + Send + Sync>);

/// A variant's service without a socket, for tests and benches.
///
/// A request goes through the framework and the handler, and not through the kernel.
pub type InProcess = Erased<Full<Bytes>>;

impl<Q> Clone for Erased<Q> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Send + 'static> Erased<Q> {
    pub fn new(service: impl Variant<Q>) -> Self {
        Self(Arc::new(move |request| {
            let answer = service.clone().oneshot(request);
            Box::pin(async {
                let Ok(response) = answer.await;
                response.map(|body| body.map_err(Into::into).boxed_unsync())
            })
        }))
    }

    pub(crate) fn call(&self, request: Request<Q>) -> Answer {
        (self.0)(request)
    }
}

impl InProcess {
    /// The status and the whole body of the answer to `request`.
    ///
    /// # Panics
    ///
    /// If the body of the answer breaks off.
    pub async fn ask(&self, request: Request<impl Into<Bytes>>) -> (u16, Bytes) {
        let response = self.call(request.map(|body| Full::new(body.into()))).await;
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
