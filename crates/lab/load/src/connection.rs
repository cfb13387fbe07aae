//! A keep-alive connection that is reopened when the server closes it between two requests.

use std::{
    cell::RefCell,
    future::{pending, poll_fn},
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use lab_protocol::{Accepted, Check, DrawnValues, Http2, Keep, Target};
use tokio::{
    io::{AsyncRead as _, ReadBuf},
    time::sleep,
};

use super::{
    Dial,
    exchange::Exchange,
    fetch::{OutOfPatience, within},
    http::{Body, Framing, WireRequest},
    http2::{GrpcFault, Lane},
};

/// How many bytes are read at once. The buffer of a connection grows for a longer head or line.
const BUFFER: usize = 16 * 1024;

/// The longest body that is kept outside a measurement, unless the caller says how long. Under load, none is
/// kept.
pub const LONGEST_BODY: u64 = 32 << 20;

/// The part of the patience after which a stream of events is taken for one that never ends.
const PART_FOR_EVENTS: u32 = 6;

/// Why a request did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The answer differs from the expected one; says how.
    Mismatch(String),
    /// No complete answer came; says why.
    Failure(String),
}

impl Fault {
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Failure(_))
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (Self::Mismatch(text) | Self::Failure(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Fault {}

/// An answer outside any measurement.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    pub status: u16,
    /// The bytes before the body.
    head: Vec<u8>,
    pub body: Vec<u8>,
    /// What its request drew, and what the user keeps of it.
    pub values: DrawnValues,
}

impl Fetched {
    /// An answer with this head.
    pub fn new(status: u16, head: &str, body: Vec<u8>) -> Self {
        let (head, values) = (head.as_bytes().to_vec(), DrawnValues::new());
        Self { status, head, body, values }
    }

    /// The value of a header; its name is in small letters.
    pub fn header(&self, name: &str) -> Option<String> {
        headers(&self.head).find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value that is kept of it, if it has one.
    pub(super) fn find(&self, keep: &Keep) -> Option<String> {
        let headers: Vec<_> = headers(&self.head).collect();
        keep.find(headers.iter().map(|(name, value)| (&**name, &**value)), &self.body)
    }

    /// Whether it asks for a WebSocket instead of a request.
    pub fn wants_websocket(&self) -> bool {
        headers(&self.head).any(|(key, value)| {
            key.starts_with("sec-websocket-")
                || key == "upgrade" && value.to_lowercase().contains("websocket")
        })
    }
}

/// Names, in small letters, and values.
fn headers(head: &[u8]) -> impl Iterator<Item = (String, String)> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let line = String::from_utf8_lossy(line).into_owned();
        let (key, value) = line.split_once(':')?;
        Some((key.trim_end().to_lowercase(), value.trim().to_owned()))
    })
}

/// Whether the body behind this head is a stream of server-sent events.
fn is_of_events(head: &[u8]) -> bool {
    let mut headers = headers(head);
    headers.any(|(key, value)| key == "content-type" && value.starts_with("text/event-stream"))
}

#[derive(Debug)]
pub struct Connection<D: Dial> {
    pub(super) dial: D,
    /// How long each answer may take.
    patience: Option<Duration>,
    /// How much of the last answer came: nothing of it, or its head and so many bytes of its body.
    pub(super) came: Option<u64>,
    /// How often it has ended after an answer.
    pub(super) closed: u64,
    /// How often that was because the server had sent more than its answer.
    pub(super) surplus: u64,
    /// How many requests were sent again, because the server closed it instead of answering.
    pub(super) resent: u64,
    /// Absent while a request is in flight. An abandoned request drops its stream, so that the next
    /// one cannot read its answer.
    stream: Option<D::Stream>,
    /// Whether `stream` has brought an answer.
    is_used: bool,
    /// The body that the last head described, if the answer must not have one.
    stray: Body,
    buffer: Vec<u8>,
    /// Takes the place of `stream` in HTTP/2.
    pub(super) lane: Option<Lane>,
    check: Check,
}

impl<D: Dial> Connection<D> {
    /// A connection in HTTP/1.1 whose answers are awaited as long as they take, as within a measurement, which
    /// counts the requests that are still unfinished after grace.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached.
    pub async fn over(dial: D) -> anyhow::Result<Self> {
        let stream = Some(dial.dial().await?);
        Ok(Self { stream, buffer: vec![0; BUFFER], ..Self::closed(dial) })
    }

    /// A connection in the protocol of `target`, after those that its users already have. In HTTP/2, it is a stream
    /// of the last one if that has room.
    pub(super) async fn to(target: &Target, dial: D, others: &[Self]) -> anyhow::Result<Self> {
        let Some(Http2 { streams }) = target.http2 else { return Self::over(dial).await };
        let last = others.last().filter(|_| !others.len().is_multiple_of(streams));
        let mut lane =
            last.and_then(|last| last.lane.as_ref()).map_or_else(Lane::default, Lane::next_to);
        lane.ready(&dial, &mut 0).await?;
        Ok(Self { lane: Some(lane), ..Self::closed(dial) })
    }

    fn closed(dial: D) -> Self {
        Self {
            dial,
            patience: None,
            came: None,
            closed: 0,
            surplus: 0,
            resent: 0,
            stream: None,
            is_used: false,
            stray: Body::Complete,
            buffer: Vec::new(),
            lane: None,
            check: Check::default(),
        }
    }

    /// A connection that waits so long for each answer.
    pub(super) async fn patient(
        target: &Target,
        dial: D,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let connection = within(Some(patience), Self::to(target, dial, &[])).await?;
        Ok(Self { patience: Some(patience), ..connection })
    }

    /// Sends a request and compares its answer with the expected one. In HTTP/1.1, it allocates nothing unless
    /// there is a fault.
    ///
    /// # Errors
    ///
    /// If no complete answer comes, or if the answer differs from the expected one.
    pub async fn ask(&mut self, request: &WireRequest) -> Result<(), Fault> {
        self.ask_which(request).await.map(|_| ())
    }

    /// [`Self::ask`] that says which of the right answers came.
    pub(super) async fn ask_which(&mut self, request: &WireRequest) -> Result<Accepted, Fault> {
        let mut check = std::mem::take(&mut self.check);
        check.begin();
        let content = |piece: &[u8]| check.take(&request.expected, piece);
        let answer = within(self.patience, self.exchange(request, u64::MAX, None, content)).await;
        let result = match answer.map_err(|error| self.how_far(error)) {
            Ok(status) => check
                .end(&request.expected, status)
                .map_err(|mismatch| Fault::Mismatch(format!("{}: {mismatch}", request.name))),
            Err(error) if error.is::<GrpcFault>() => {
                Err(Fault::Mismatch(format!("{}: {error}", request.name)))
            }
            Err(error) => Err(Fault::Failure(format!("{}: {error:#}", request.name))),
        };
        self.check = check;
        result
    }

    /// The answer, unchecked.
    ///
    /// # Errors
    ///
    /// If no complete answer comes in time, or if its body has more than `longest` bytes.
    pub async fn fetch(&mut self, request: &WireRequest, longest: u64) -> anyhow::Result<Fetched> {
        let (head, mut body) = (RefCell::default(), Vec::new());
        let content = |piece: &[u8]| body.extend_from_slice(piece);
        let patience = self.patience;
        let exchange = self.exchange(request, longest, Some(&head), content);
        let answer = tokio::select! {
            answer = within(patience, exchange) => answer,
            waited = endless_events(patience, &head) => Err(OutOfPatience(waited).into()),
        };
        let head = head.into_inner();
        let answer = answer.map_err(|error| match error.downcast_ref() {
            Some(OutOfPatience(waited)) if is_of_events(&head) => anyhow!(
                "its answer is a stream of events (text/event-stream) that has not ended after {} s and {} bytes: `lab` \
                 measures answers that end, so ask for another path",
                waited.as_secs_f64(),
                self.came.unwrap_or_default()
            ),
            _ => self.how_far(error),
        });
        let status = answer.with_context(|| request.name.clone())?;
        Ok(Fetched { status, head, body, values: DrawnValues::new() })
    }

    /// Says of an answer that takes too long whether it has begun.
    fn how_far(&self, error: anyhow::Error) -> anyhow::Error {
        match self.came {
            Some(bytes) if error.is::<OutOfPatience>() => anyhow!(
                "{error}: its head and {bytes} bytes of its body came, but not its end; `lab` measures \
                 answers that end"
            ),
            _ => error,
        }
    }

    /// Sends a request, adds the bytes of its answer's head to `keep`, and hands the body to `content`. Returns the status.
    ///
    /// A server may close an idle connection while a request is on its way. So an idempotent one is
    /// sent again, once, as RFC 9112, 9.3.1 permits.
    async fn exchange(
        &mut self,
        request: &WireRequest,
        longest: u64,
        keep: Option<&RefCell<Vec<u8>>>,
        content: impl FnMut(&[u8]),
    ) -> anyhow::Result<u16> {
        self.came = None;
        if self.lane.is_some() {
            return self.exchange_http2(request, longest, keep, content).await;
        }
        let stream = self.ready().await.context("cannot connect")?;
        let mut exchange = Exchange::new(&self.dial, stream, request, &mut self.buffer);
        let mut head = exchange.head(request.head_only, keep).await;
        if head.is_err() && self.is_used && request.is_idempotent && !exchange.is_answered {
            self.closed += 1;
            self.resent += 1;
            self.is_used = false;
            let stream = self.dial.dial().await.context("cannot connect")?;
            exchange = Exchange::new(&self.dial, stream, request, &mut self.buffer);
            head = exchange.head(request.head_only, keep).await;
        }
        let head = head?;
        exchange.body(head, longest, self.came.insert(0), content).await?;
        let is_bodiless = head.framing != head.described;
        // A body that ends with the connection can't be told from what follows it.
        let may_come = is_bodiless && head.described != Framing::ToClose;
        self.stray = if may_come { Body::from(head.described) } else { Body::Complete };
        let may_stay = exchange.is_sent() && head.keep_alive;
        let surplus = &exchange.buffer[exchange.unread.clone()];
        let is_harmless = is_harmless(surplus, &mut self.stray);
        if may_stay && is_harmless {
            self.stream = Some(exchange.stream);
            self.is_used = true;
        } else {
            self.closed += 1;
            self.surplus += u64::from(may_stay);
        }
        Ok(head.status)
    }

    /// The open stream, or a new one if the server has closed it, as a browser does.
    async fn ready(&mut self) -> io::Result<D::Stream> {
        while let Some(mut stream) = self.stream.take() {
            // No system call unless something has arrived: Tokio keeps track of readiness.
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let look = |context: &mut Context| {
                Poll::Ready(Pin::new(&mut stream).poll_read(context, &mut buffer).is_pending())
            };
            if poll_fn(look).await {
                return Ok(stream);
            }
            let surplus = buffer.filled();
            if !surplus.is_empty() && is_harmless(surplus, &mut self.stray) {
                self.stream = Some(stream);
                continue;
            }
            self.closed += 1;
            self.surplus += u64::from(!surplus.is_empty());
        }
        self.is_used = false;
        self.dial.dial().await
    }
}

/// Waits until a stream of events, as `head` says, has had its part of the patience. Returns how long that was.
async fn endless_events(patience: Option<Duration>, head: &RefCell<Vec<u8>>) -> Duration {
    let Some(patience) = patience else { return pending().await };
    let part = patience / PART_FOR_EVENTS;
    sleep(part).await;
    if is_of_events(&head.borrow()) {
        return part;
    }
    pending().await
}

/// Whether what follows an answer can be skipped: empty lines, as before a request, or the body that its head
/// describes although it must not have one, such as that of a 204. Other bytes would be taken for the start of
/// the next answer.
fn is_harmless(surplus: &[u8], stray: &mut Body) -> bool {
    let taken = stray.take(surplus, |_| {});
    taken.is_ok_and(|taken| surplus[taken..].iter().all(|byte| b"\r\n".contains(byte)))
}
