//! The client of the stock service.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::Bytes,
    http::{Method, Request, StatusCode, Uri},
};
use futures_util::stream;
use http_body_util::{BodyExt as _, Empty, StreamBody, combinators::BoxBody};
use hyper::body::Frame;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};

use crate::stock_service::{InStock, Item};

type Body = BoxBody<Bytes, Infallible>;

pub struct Stock {
    url: Uri,
    client: Client<HttpConnector, Body>,
}

/// How long a page waits for it: most answers come in 2 ms.
const PATIENCE: Duration = Duration::from_millis(100);
static QUESTIONS: Semaphore = Semaphore::const_new(256);

/// What the service says to a reservation.
pub enum Reservation {
    Made,
    NotEnough,
}

impl Stock {
    pub fn new(url: Uri) -> Self {
        Self { url, client: Client::builder(TokioExecutor::new()).build(connector()) }
    }

    /// How much there is of a product. An error comes soon if the service is slow or has many questions already.
    pub async fn of(&self, product: u32) -> anyhow::Result<u32> {
        let _question = QUESTIONS.try_acquire()?;
        timeout(PATIENCE, self.read(product)).await?
    }

    async fn read(&self, product: u32) -> anyhow::Result<u32> {
        let (status, answer) =
            self.ask(Method::GET, &format!("stock/{product}"), Empty::new().boxed()).await?;
        anyhow::ensure!(status.is_success(), "the stock service said {status}");
        Ok(serde_json::from_slice::<InStock>(&answer)?.in_stock)
    }

    /// Reserves all items of an order or none. The same order may be reserved again.
    pub async fn reserve(&self, reference: &str, items: Vec<Item>) -> anyhow::Result<Reservation> {
        let path = format!("reservations/{reference}");
        let (status, _) = self.ask(Method::PUT, &path, lines(items)).await?;
        match status {
            StatusCode::OK => Ok(Reservation::Made),
            StatusCode::CONFLICT => Ok(Reservation::NotEnough),
            other => anyhow::bail!("the stock service said {other}"),
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Body,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let request =
            Request::builder().method(method).uri(format!("{}{path}", self.url)).body(body)?;
        let response = self.client.request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(Duration::from_secs(1)));
    // Without it, the second line of an order waits until the service has acknowledged the first.
    connector.set_nodelay(true);
    connector
}

/// A line of JSON for each item. An order of a whole house has many, so they are sent as they are written.
fn lines(items: Vec<Item>) -> Body {
    let (sender, receiver) = mpsc::channel::<Bytes>(1);
    tokio::spawn(async move {
        for item in items {
            let Ok(mut line) = serde_json::to_vec(&item) else { return };
            line.push(b'\n');
            if sender.send(line.into()).await.is_err() {
                return;
            }
        }
    });
    let frames = stream::unfold(receiver, async |mut receiver| {
        let line = receiver.recv().await?;
        Some((Ok(Frame::data(line)), receiver))
    });
    StreamBody::new(frames).boxed()
}
