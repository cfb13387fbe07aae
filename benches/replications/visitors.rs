//! Visitors of a server under test: they send exactly as many requests as they are told.

use axum::http::Uri;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::task::JoinSet;

/// One or more visitors, each with one keep-alive connection of its own.
pub struct Visitors {
    visitors: Vec<Visitor>,
}

impl Visitors {
    pub fn new(count: usize, url: &Uri) -> Self {
        Self { visitors: (0..count).map(|_| Visitor::new(url)).collect() }
    }

    /// Sends `requests` GET requests in all, and waits for the answers. Each visitor sends its share one
    /// after the other; the first visitors get what does not divide evenly.
    ///
    /// # Panics
    ///
    /// If an answer does not arrive, or is not `expected`.
    pub async fn send(&self, requests: usize, expected: &Bytes) {
        let count = self.visitors.len();
        let mut tasks = JoinSet::new();
        for (index, visitor) in self.visitors.iter().enumerate() {
            let share = requests / count + usize::from(index < requests % count);
            let (visitor, expected) = (visitor.clone(), expected.clone());
            tasks.spawn(async move {
                for _ in 0..share {
                    let body = visitor.ask().await;
                    assert!(body == expected, "{} gave another answer than before", visitor.url);
                }
            });
        }
        tasks.join_all().await;
    }
}

/// A client whose pool never has more than one connection, because it sends one request at a time.
#[derive(Clone)]
pub struct Visitor {
    client: Client<HttpConnector, Empty<Bytes>>,
    url: Uri,
}

impl Visitor {
    #[expect(clippy::disallowed_methods, reason = "once for each visitor, before the measurement")]
    pub fn new(url: &Uri) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self { client: Client::builder(TokioExecutor::new()).build(connector), url: url.clone() }
    }

    /// The body of the answer to one GET request.
    ///
    /// # Panics
    ///
    /// If no answer arrives, or one without status 200.
    pub async fn ask(&self) -> Bytes {
        let answer = self.client.get(self.url.clone()).await;
        let answer =
            answer.unwrap_or_else(|error| panic!("{} does not answer: {error:?}", self.url));
        assert_eq!(answer.status(), 200, "{}", self.url);
        let body = answer.into_body().collect().await;
        body.unwrap_or_else(|error| panic!("{} breaks off its answer: {error}", self.url))
            .to_bytes()
    }
}
