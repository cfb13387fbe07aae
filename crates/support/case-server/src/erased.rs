//! A service whose types are erased.

use std::{convert::Infallible, error::Error, pin::Pin, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::{Request, Response, body::Body};
use tower::{Service, util::ServiceExt as _};

pub(crate) type ErasedBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;
type Answer = Pin<Box<dyn Future<Output = Response<ErasedBody>> + Send>>;

/// A variant's service, which answers requests with the body `Q`.
///
/// The server is compiled once for all variants, and not again in every binary. A request costs two
/// more allocations, one for the future and one for the body, in all variants alike.
pub(crate) struct Erased<Q>(Arc<dyn Fn(Request<Q>) -> Answer + Send + Sync>);

impl<Q> Clone for Erased<Q> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: Send + 'static> Erased<Q> {
    pub(crate) fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Q>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
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
