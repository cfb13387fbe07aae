//! A keep-alive connection that is reopened when the server closes it between two requests.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use anyhow::{Context as _, bail, ensure};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{
    check::Check,
    fetch::{PATIENCE, within},
    http::{Body, Head, Prepared},
};

/// How many bytes are read at once, and the longest head that an answer may have.
const BUFFER: usize = 16 * 1024;
/// The pieces in which a stepwise request is sent: what the loopback device carries in one piece.
const STEP: usize = 64 * 1024;

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

/// How to reach the server: over TCP, or in the tests through memory, where the clock is exact.
pub trait Dial {
    type Stream: AsyncRead + AsyncWrite + Unpin;
    fn dial(&self) -> impl Future<Output = io::Result<Self::Stream>>;
}

#[derive(Clone, Copy, Debug)]
pub struct Tcp(pub SocketAddr);

impl Dial for Tcp {
    type Stream = TcpStream;

    async fn dial(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.0).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// Counts the connections that it makes, together with its clones.
#[derive(Clone, Debug)]
pub(super) struct Counted<D> {
    dial: D,
    opened: Rc<Cell<u64>>,
}

impl<D> Counted<D> {
    pub fn new(dial: D) -> Self {
        Self { dial, opened: Rc::default() }
    }

    pub fn opened(&self) -> u64 {
        self.opened.get()
    }
}

impl<D: Dial> Dial for Counted<D> {
    type Stream = D::Stream;

    async fn dial(&self) -> io::Result<D::Stream> {
        let stream = self.dial.dial().await?;
        self.opened.set(self.opened.get() + 1);
        Ok(stream)
    }
}

#[derive(Debug)]
pub struct Connection<D: Dial = Tcp> {
    dial: D,
    /// How often it was opened.
    opened: u32,
    /// Absent while a request is in flight. An abandoned request drops its stream, so that the next
    /// one cannot read its answer.
    stream: Option<D::Stream>,
    buffer: Box<[u8]>,
    /// The part of the buffer that was received and not yet parsed.
    unread: std::ops::Range<usize>,
    check: Check,
}

impl Connection {
    /// Connects over TCP.
    pub async fn open(target: SocketAddr) -> anyhow::Result<Self> {
        Self::over_soon(Tcp(target)).await.with_context(|| format!("cannot connect to {target}"))
    }
}

impl<D: Dial> Connection<D> {
    pub async fn over(dial: D) -> io::Result<Self> {
        let stream = Some(dial.dial().await?);
        let buffer = vec![0; BUFFER].into();
        Ok(Self { dial, opened: 1, stream, buffer, unread: 0..0, check: Check::default() })
    }

    /// The same, but not for ever.
    pub(super) async fn over_soon(dial: D) -> anyhow::Result<Self> {
        within(PATIENCE, async { Ok(Self::over(dial).await?) }).await
    }

    pub(super) fn opened(&self) -> u32 {
        self.opened
    }

    /// Sends a request and compares its answer with the expected one. Allocates nothing unless
    /// there is a fault, and waits as long as it takes.
    pub async fn ask(&mut self, request: &Prepared) -> Result<(), Fault> {
        self.checked(request, usize::MAX, &async || Ok(())).await
    }

    /// The same with a body that is sent in pieces, and `idle` awaited after each but the last.
    pub(super) async fn ask_in_steps(
        &mut self,
        request: &Prepared,
        idle: &impl AsyncFn() -> anyhow::Result<()>,
    ) -> Result<(), Fault> {
        self.checked(request, STEP, idle).await
    }

    /// The status and body of the answer, unchecked.
    pub async fn fetch(&mut self, request: &Prepared) -> anyhow::Result<(u16, Vec<u8>)> {
        let answer = within(PATIENCE, self.fetch_patiently(request)).await;
        answer.with_context(|| request.name.clone())
    }

    /// The same, however long it takes.
    pub(super) async fn fetch_patiently(
        &mut self,
        request: &Prepared,
    ) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut body = Vec::new();
        let content = |piece: &[u8]| body.extend_from_slice(piece);
        let status = self.exchange(request, usize::MAX, &async || Ok(()), content).await?;
        Ok((status, body))
    }

    async fn checked(
        &mut self,
        request: &Prepared,
        step: usize,
        idle: &impl AsyncFn() -> anyhow::Result<()>,
    ) -> Result<(), Fault> {
        let mut check = std::mem::take(&mut self.check);
        check.begin();
        let content = |piece: &[u8]| check.take(&request.expected, piece);
        let result = match self.exchange(request, step, idle, content).await {
            Ok(status) => match check.mismatch(&request.expected, status) {
                None => Ok(()),
                Some(mismatch) => Err(Fault::Mismatch(format!("{}: {mismatch}", request.name))),
            },
            Err(error) => Err(Fault::Failure(format!("{}: {error:#}", request.name))),
        };
        self.check = check;
        result
    }

    /// Sends a request and hands the body of its answer to `content`. Returns the status.
    async fn exchange(
        &mut self,
        request: &Prepared,
        step: usize,
        idle: &impl AsyncFn() -> anyhow::Result<()>,
        content: impl FnMut(&[u8]),
    ) -> anyhow::Result<u16> {
        let stream = self.ready().await.context("cannot connect")?;
        self.unread = 0..0;
        let mut pieces = request.bytes.chunks(step);
        let piece = pieces.next().unwrap_or_default();
        let mut exchange = Exchange { stream, pieces, piece, idle, refused: false };
        let head = self.head(&mut exchange, request.head_only).await?;
        self.body(&mut exchange, head, content).await.context("the answer broke off")?;
        // Bytes after the answer would be taken for the start of the next one.
        if exchange.is_sent() && head.keep_alive && self.unread.is_empty() {
            self.stream = Some(exchange.stream);
        }
        Ok(head.status)
    }

    /// The open stream, or a new one if the server has closed it, as a browser does.
    async fn ready(&mut self) -> io::Result<D::Stream> {
        if let Some(mut stream) = self.stream.take() {
            // No system call unless something has arrived: Tokio keeps track of readiness.
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let look = |context: &mut Context| {
                Poll::Ready(Pin::new(&mut stream).poll_read(context, &mut buffer).is_pending())
            };
            if poll_fn(look).await {
                return Ok(stream);
            }
        }
        self.opened += 1;
        self.dial.dial().await
    }

    /// Reads the head of the answer, and skips interim ones such as "100 Continue".
    async fn head(
        &mut self,
        exchange: &mut Exchange<'_, D::Stream, impl AsyncFn() -> anyhow::Result<()>>,
        head_only: bool,
    ) -> anyhow::Result<Head> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            match Head::parse(unread, head_only)? {
                Some((length, head)) => {
                    self.unread.start += length;
                    if head.status >= 200 {
                        return Ok(head);
                    }
                }
                None if self.fill(exchange).await.context("no answer")? => {}
                None => bail!("no answer: the server closed the connection"),
            }
        }
    }

    async fn body(
        &mut self,
        exchange: &mut Exchange<'_, D::Stream, impl AsyncFn() -> anyhow::Result<()>>,
        head: Head,
        mut content: impl FnMut(&[u8]),
    ) -> anyhow::Result<()> {
        let mut body = Body::from(head.framing);
        loop {
            let unread = &self.buffer[self.unread.clone()];
            self.unread.start += body.take(unread, &mut content)?;
            if body == Body::Complete {
                return Ok(());
            }
            if !self.fill(exchange).await? {
                ensure!(body == Body::ToClose, "the server closed the connection");
                return Ok(());
            }
        }
    }

    /// Reads more of the answer. Returns false at the end of the stream.
    async fn fill(
        &mut self,
        exchange: &mut Exchange<'_, D::Stream, impl AsyncFn() -> anyhow::Result<()>>,
    ) -> anyhow::Result<bool> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        ensure!(self.unread.end < BUFFER, "a head or a line of more than {BUFFER} bytes");
        let read = exchange.read(&mut self.buffer[self.unread.end..]).await?;
        self.unread.end += read;
        Ok(read > 0)
    }
}

/// A request on its way while its answer may already come.
///
/// The two go at once: a server that answers while it reads stops reading when nobody takes its
/// answer. And one that answers early, such as with "413 Content Too Large", may never read the rest.
struct Exchange<'a, S, I> {
    stream: S,
    /// What is left of the request, and of its current piece.
    pieces: std::slice::Chunks<'a, u8>,
    piece: &'a [u8],
    /// What to wait for between two pieces.
    idle: &'a I,
    /// Whether the server has closed its end, so that the rest cannot be sent.
    refused: bool,
}

impl<S, I> Exchange<'_, S, I>
where
    S: AsyncRead + AsyncWrite + Unpin,
    I: AsyncFn() -> anyhow::Result<()>,
{
    fn is_sent(&self) -> bool {
        !self.refused && self.piece.is_empty() && self.pieces.len() == 0
    }

    /// Reads into `buffer`, and sends what is left of the request until something has come.
    async fn read(&mut self, buffer: &mut [u8]) -> anyhow::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        loop {
            if !self.refused
                && self.piece.is_empty()
                && let Some(next) = self.pieces.next()
            {
                (self.idle)().await?;
                self.piece = next;
            }
            let sends = !self.refused && !self.piece.is_empty();
            let step = |context: &mut Context| {
                if sends {
                    let written = Pin::new(&mut self.stream).poll_write(context, self.piece);
                    if let Poll::Ready(written) = written {
                        return Poll::Ready(Ok(Some(written)));
                    }
                }
                let read = Pin::new(&mut self.stream).poll_read(context, &mut buffer);
                read.map_ok(|()| None)
            };
            match poll_fn(step).await? {
                None => return Ok(buffer.filled().len()),
                Some(Ok(0)) => bail!("cannot send: the connection takes no more"),
                Some(Ok(written)) => self.piece = &self.piece[written..],
                // A server that closes its end may have answered before it did so.
                Some(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.refused = true
                }
                Some(Err(error)) => return Err(error).context("cannot send"),
            }
        }
    }
}
