//! One keep-alive connection, opened again when the server closes it.

use std::net::SocketAddr;

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{Ask, Expected};

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// With the right answer.
    Ok,
    /// With another answer; says how it differs.
    Wrong(String),
    /// Without an answer; says why.
    Failed(String),
}

/// A request, ready to be sent again and again.
#[derive(Clone, Debug)]
pub struct Prepared {
    request: Request<Full<Bytes>>,
    expected: Expected,
}

impl Prepared {
    /// Reads the body and builds the request that `target` is sent.
    pub fn new(ask: &Ask, target: SocketAddr) -> anyhow::Result<Self> {
        let body = match &ask.body {
            Some(file) => Bytes::from(
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?,
            ),
            None => Bytes::new(),
        };
        let mut request = Request::builder()
            .method(ask.method.as_str())
            .uri(&ask.path)
            .header(header::HOST, target.to_string());
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(body))
            .with_context(|| format!("`{} {}` is no HTTP request", ask.method, ask.path))?;
        Ok(Self { request, expected: ask.expected.clone() })
    }
}

/// One connection to the server.
#[derive(Debug)]
pub struct Connection {
    target: SocketAddr,
    sender: Option<http1::SendRequest<Full<Bytes>>>,
}

impl Connection {
    /// Connects.
    pub async fn open(target: SocketAddr) -> anyhow::Result<Self> {
        let mut connection = Self { target, sender: None };
        connection.sender().await?;
        Ok(connection)
    }

    /// Sends a request and holds its answer against the right one.
    ///
    /// A connection that the server has closed between two requests is opened again, as a
    /// browser would; one that breaks in mid-request is a failure.
    pub async fn ask(&mut self, prepared: &Prepared) -> Verdict {
        match self.answer(prepared).await {
            Ok((status, body)) => match prepared.expected.fault(status, &body) {
                None => Verdict::Ok,
                Some(fault) => Verdict::Wrong(fault),
            },
            Err(error) => {
                self.sender = None;
                Verdict::Failed(format!("{error:#}"))
            }
        }
    }

    async fn answer(&mut self, prepared: &Prepared) -> anyhow::Result<(u16, Bytes)> {
        let request = prepared.request.clone();
        let response = self.sender().await?.send_request(request).await.context("no answer")?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.context("the answer broke off")?;
        Ok((status, body.to_bytes()))
    }

    /// The sending half of a connection that is ready for a request.
    async fn sender(&mut self) -> anyhow::Result<&mut http1::SendRequest<Full<Bytes>>> {
        let ready = match &mut self.sender {
            Some(sender) => sender.ready().await.is_ok(),
            None => false,
        };
        if !ready {
            let stream = TcpStream::connect(self.target)
                .await
                .with_context(|| format!("cannot connect to {}", self.target))?;
            stream.set_nodelay(true).context("cannot set TCP_NODELAY")?;
            let (sender, connection) =
                http1::handshake(TokioIo::new(stream)).await.context("cannot speak HTTP")?;
            // Its errors reach us through the request that they end.
            tokio::spawn(connection);
            self.sender = Some(sender);
        }
        self.sender.as_mut().context("the connection was just opened")
    }
}
