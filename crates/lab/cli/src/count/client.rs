//! One connection, one request after the other: whoever counts must know what was asked.

use std::sync::Arc;

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, Empty, StreamBody, combinators::UnsyncBoxBody};
use hyper::{Request, Uri, body::Frame, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::idle;
use crate::{case, load::Expected, workspace::Workspace};

type Body = UnsyncBoxBody<Bytes, anyhow::Error>;

/// The bytes of a body that are sent at a time: what the loopback hands over in one piece.
const PIECE: usize = 64 * 1024;

/// A connection that is opened once: one that the server closes is an error, as a second one would
/// have to be counted too.
pub(super) struct Client {
    host: String,
    sender: http1::SendRequest<Body>,
}

impl Client {
    /// Connects in plain HTTP to the address in `url`, whatever its scheme.
    pub(super) async fn open(url: &Uri) -> anyhow::Result<Self> {
        let host = url.authority().with_context(|| format!("`{url}` names no server"))?.to_string();
        let stream =
            TcpStream::connect(&host).await.with_context(|| format!("cannot connect to {host}"))?;
        stream.set_nodelay(true).context("cannot set TCP_NODELAY")?;
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.context("cannot speak HTTP")?;
        // Its errors reach us through the request that they end.
        tokio::spawn(connection);
        Ok(Self { host, sender })
    }

    /// The status and the body of the answer to `GET path`.
    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<(u16, Bytes)> {
        self.send(Request::get(path).body(empty())?).await
    }

    /// The status and the body of the answer to `request`.
    pub(super) async fn send(
        &mut self,
        mut request: Request<Body>,
    ) -> anyhow::Result<(u16, Bytes)> {
        request.headers_mut().insert(header::HOST, self.host.parse()?);
        self.sender.ready().await.context("the server closed the connection")?;
        let response = self.sender.send_request(request).await.context("no answer")?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.context("the answer broke off")?;
        Ok((status, body.to_bytes()))
    }
}

fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body in pieces, each sent once the server is done with the one before.
///
/// Sent in one go, a large body arrives in as many pieces as chance has it, and the server needs a
/// buffer for each.
fn in_pieces(body: Bytes, pids: Arc<[u32]>) -> Body {
    let pieces = stream::try_unfold((body, pids, true), async |(mut rest, pids, first)| {
        if rest.is_empty() {
            return Ok(None);
        }
        if !first {
            idle::wait(&pids).await?;
        }
        let piece = rest.split_to(PIECE.min(rest.len()));
        Ok(Some((Frame::data(piece), (rest, pids, false))))
    });
    StreamBody::new(pieces).boxed_unsync()
}

/// One request of a page, and the answer that is right.
pub(super) struct Question {
    head: Request<()>,
    body: Bytes,
    expected: Expected,
}

impl Question {
    /// The case's request with its body.
    pub(super) async fn new(
        workspace: &Workspace,
        request: &case::Request,
    ) -> anyhow::Result<Self> {
        let body = match &request.body {
            None => Bytes::new(),
            Some(source) => {
                let output = tokio::process::Command::new(workspace.binary(&source.bin)?)
                    .args(&source.args)
                    .kill_on_drop(true)
                    .output()
                    .await
                    .with_context(|| format!("cannot start {}", source.bin))?;
                anyhow::ensure!(output.status.success(), "{} failed", source.bin);
                output.stdout.into()
            }
        };
        let mut head = Request::builder().method(request.method.as_str()).uri(&request.path);
        if let Some(content_type) = &request.content_type {
            head = head.header(header::CONTENT_TYPE, content_type);
        }
        if !body.is_empty() {
            head = head.header(header::CONTENT_LENGTH, body.len());
        }
        let expected = Expected { status: request.status, answer: request.answer.clone() };
        Ok(Self { head: head.body(())?, body, expected })
    }

    /// Asks the server with the processes `pids`, and fails unless the answer is right.
    pub(super) async fn ask(&self, client: &mut Client, pids: &Arc<[u32]>) -> anyhow::Result<()> {
        let body = match self.body.is_empty() {
            true => empty(),
            false => in_pieces(self.body.clone(), pids.clone()),
        };
        let (status, body) = client.send(self.head.clone().map(|()| body)).await?;
        match self.expected.fault(status, &body) {
            None => Ok(()),
            Some(fault) => anyhow::bail!("{} {}: {fault}", self.head.method(), self.head.uri()),
        }
    }
}
