//! HTTP/2: each request is a stream of a connection, which one user has alone or several share.
//!
//! The crate `h2` has the protocol; hyper uses it, too. It works in a task of its own for each connection, because a
//! connection also has to answer the server's pings and settings.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    io::ErrorKind,
    rc::Rc,
};

use anyhow::{Context as _, anyhow, ensure};
use bytes::Bytes;
use h2::{
    Reason, RecvStream,
    client::{Builder, SendRequest},
};
use http::{HeaderMap, Response, response};
use percent_encoding::percent_decode;
use tokio::sync::OnceCell;

use super::{
    Connection, Dial, TooLong,
    exchange::LONGEST_HEAD,
    http::{Http2Request, WireRequest},
};

/// How many bytes the server may send before it hears from the client, for an answer, and for all answers of a
/// connection together. The client takes them as they come, and says so each time half a window is used, so a server
/// has to wait only if 8 MiB are on their way at once: with 10 Gbit/s, after 6 ms.
const WINDOW: u32 = 16 << 20;
/// How much of a message of gRPC is shown.
const SHOWN: usize = 240;
const CANNOT_CONNECT: &str = "cannot connect";
const BROKE_OFF: &str = "the answer broke off";

/// A call of gRPC failed, although its answer is complete.
#[derive(Clone, Debug)]
pub(super) struct GrpcFault(String);

impl std::fmt::Display for GrpcFault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GrpcFault {}

/// A place on a connection for one request at a time. After the end of its connection, the first of its lanes dials
/// the next one, and the others follow.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The newest connection, for all lanes that share it.
    newest: Rc<RefCell<Rc<OnceCell<Dialed>>>>,
    /// The one that this lane is on.
    own: Rc<OnceCell<Dialed>>,
    sender: Option<SendRequest<Bytes>>,
}

#[derive(Debug)]
struct Dialed {
    sender: SendRequest<Bytes>,
    /// Whether it has brought an answer.
    is_used: Cell<bool>,
}

impl Lane {
    /// Another lane of the same connections.
    pub fn next_to(other: &Self) -> Self {
        Self { newest: other.newest.clone(), ..Self::default() }
    }

    /// Waits until a request can be sent. Adds to `closed` if the server has ended the connection since the last one.
    pub async fn ready<D: Dial>(
        &mut self,
        dial: &D,
        closed: &mut u64,
    ) -> anyhow::Result<&mut SendRequest<Bytes>> {
        loop {
            let mut sender = match self.sender.take() {
                Some(sender) => sender,
                None => {
                    self.own = self.newest.borrow().clone();
                    self.own.get_or_try_init(|| dialed(dial)).await?.sender.clone()
                }
            };
            // One that another lane has dialed may have ended by now; one that was just dialed is ready.
            if poll_fn(|context| sender.poll_ready(context)).await.is_ok() {
                return Ok(self.sender.insert(sender));
            }
            *closed += u64::from(self.leave());
        }
    }

    /// Leaves a connection that takes no more requests. Returns whether this lane is the first to do so.
    fn leave(&mut self) -> bool {
        self.sender = None;
        let mut newest = self.newest.borrow_mut();
        let is_first = Rc::ptr_eq(&newest, &self.own);
        if is_first {
            *newest = Rc::default();
        }
        is_first
    }

    /// Whether a request may be sent again: if the server says that it didn't process it, or if it closed a used
    /// connection while an idempotent request was on its way, as in HTTP/1.1.
    fn may_ask_again(&self, error: &h2::Error, request: &WireRequest) -> bool {
        // A stream fails with the server's GOAWAY only if that names an earlier stream as the last one.
        let is_refused = error.is_remote()
            && (error.is_go_away() || error.reason() == Some(Reason::REFUSED_STREAM));
        let is_used = self.own.get().is_some_and(|dialed| dialed.is_used.get());
        is_refused || error.is_io() && is_used && request.is_idempotent
    }

    /// Why there is no answer, or no whole one.
    fn fault(&mut self, error: h2::Error) -> anyhow::Error {
        if !error.is_reset() {
            self.leave();
        }
        explained(error)
    }
}

/// A connection, and a task that drives it until the server ends it or no lane is on it.
async fn dialed<D: Dial>(dial: &D) -> anyhow::Result<Dialed> {
    let stream = dial.dial().await?;
    let handshake = Builder::new()
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_header_list_size(LONGEST_HEAD as u32)
        .enable_push(false)
        .handshake(stream);
    let (sender, connection) = handshake.await.map_err(explained)?;
    tokio::task::spawn_local(async move {
        // Its streams get the error, too.
        let _ = connection.await;
    });
    Ok(Dialed { sender, is_used: Cell::new(false) })
}

/// Sends a request, and waits for the head of its answer.
async fn ask(
    sender: &mut SendRequest<Bytes>,
    request: &Http2Request,
) -> Result<Response<RecvStream>, h2::Error> {
    let is_whole = request.body.is_empty();
    let (answer, mut body) = sender.send_request(request.head.clone(), is_whole)?;
    if !is_whole {
        // `h2` sends it in pieces, as the server's windows permit.
        body.send_data(request.body.clone(), true)?;
    }
    answer.await
}

/// The next piece of a body. The server may send as many bytes more.
async fn piece_of(body: &mut RecvStream) -> Result<Option<Bytes>, h2::Error> {
    match body.data().await {
        Some(Ok(piece)) => {
            body.flow_control().release_capacity(piece.len())?;
            Ok(Some(piece))
        }
        Some(Err(error)) if !ends_upload(&error) => Err(error),
        _ => Ok(None),
    }
}

/// Whether the server only says that it needs no more of the request, after a complete answer (RFC 9113, 8.1).
fn ends_upload(error: &h2::Error) -> bool {
    error.is_reset() && error.reason() == Some(Reason::NO_ERROR)
}

impl<D: Dial> Connection<D> {
    /// The exchange of a request and its answer as a stream.
    pub(super) async fn exchange_http2(
        &mut self,
        request: &WireRequest,
        longest: u64,
        keep: Option<&RefCell<Vec<u8>>>,
        mut content: impl FnMut(&[u8]),
    ) -> anyhow::Result<u16> {
        let lane = self.lane.as_mut().context("this connection is for HTTP/1.1")?;
        let sent = request.http2.as_ref().context("this request is for HTTP/1.1")?;
        let sender = lane.ready(&self.dial, &mut self.closed).await.context(CANNOT_CONNECT)?;
        let mut answer = ask(sender, sent).await;
        if let Err(error) = &answer
            && lane.may_ask_again(error, request)
        {
            self.resent += 1;
            if !error.is_reset() {
                self.closed += u64::from(lane.leave());
            }
            let sender = lane.ready(&self.dial, &mut self.closed).await.context(CANNOT_CONNECT)?;
            answer = ask(sender, sent).await;
        }
        let answer = answer.map_err(|error| lane.fault(error)).context("no answer")?;
        let (head, mut body) = answer.into_parts();
        if let Some(keep) = keep {
            keep_head(&head, &mut keep.borrow_mut());
        }
        let length = self.came.insert(0);
        while let Some(piece) =
            piece_of(&mut body).await.map_err(|error| lane.fault(error)).context(BROKE_OFF)?
        {
            *length += piece.len() as u64;
            content(&piece);
            ensure!(*length <= longest, TooLong(longest));
        }
        let trailers = match body.trailers().await {
            Err(error) if !ends_upload(&error) => return Err(lane.fault(error)).context(BROKE_OFF),
            trailers => trailers.ok().flatten(),
        };
        if let Some(dialed) = lane.own.get() {
            dialed.is_used.set(true);
        }
        match [Some(&head.headers), trailers.as_ref()].into_iter().flatten().find_map(grpc_fault) {
            Some(fault) => Err(fault.into()),
            None => Ok(head.status.as_u16()),
        }
    }
}

/// The status line and the headers, as text.
fn keep_head(head: &response::Parts, keep: &mut Vec<u8>) {
    keep.extend(format!("HTTP/2 {}\n", head.status.as_u16()).into_bytes());
    for (name, value) in &head.headers {
        keep.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
    }
}

/// What gRPC says of a call that failed: in the trailers, or in the headers of an answer that has only these.
fn grpc_fault(headers: &HeaderMap) -> Option<GrpcFault> {
    let status = headers.get("grpc-status").filter(|status| *status != "0")?;
    let mut fault = format!("grpc-status {}", plain(status.as_bytes()));
    if let Some(message) = headers.get("grpc-message") {
        let message: Vec<_> = percent_decode(message.as_bytes()).collect();
        fault += &format!(": {}", plain(&message));
    }
    Some(GrpcFault(fault))
}

/// The start of a text from a server, for a message in a line.
fn plain(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().take(SHOWN).collect();
    text.escape_debug().to_string()
}

/// What ended a stream or a connection.
fn explained(error: h2::Error) -> anyhow::Error {
    let Some(reason) = error.reason() else {
        return match error.get_io() {
            Some(io) if io.kind() == ErrorKind::BrokenPipe => {
                anyhow!("the server closed the connection")
            }
            _ => error.into(),
        };
    };
    if error.is_library() {
        return anyhow!(
            "what the server sends is not HTTP/2, or has too many empty frames, or a head of more than {LONGEST_HEAD} bytes ({reason:?}); without \
             --http 2, `lab` speaks HTTP/1.1"
        );
    }
    let advice = match reason {
        Reason::HTTP_1_1_REQUIRED => ": leave out --http 2",
        _ => "",
    };
    let what = if error.is_reset() { "reset the stream" } else { "ended the connection" };
    anyhow!("the server {what} ({reason:?}){advice}")
}
