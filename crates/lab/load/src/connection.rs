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
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{
    check::Check,
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
        let connection = Self::over(Tcp(target)).await;
        connection.with_context(|| format!("cannot connect to {target}"))
    }
}

impl<D: Dial> Connection<D> {
    pub async fn over(dial: D) -> io::Result<Self> {
        let stream = Some(dial.dial().await?);
        let buffer = vec![0; BUFFER].into();
        Ok(Self { dial, opened: 1, stream, buffer, unread: 0..0, check: Check::default() })
    }

    pub(super) fn opened(&self) -> u32 {
        self.opened
    }

    /// Sends a request and compares its answer with the expected one. Allocates nothing unless
    /// there is a fault.
    pub async fn ask(&mut self, request: &Prepared) -> Result<(), Fault> {
        self.checked(request, usize::MAX, &async || Ok(())).await
    }

    /// The same, with the request sent in pieces, and `idle` awaited after each but the last.
    pub(super) async fn ask_in_steps(
        &mut self,
        request: &Prepared,
        idle: &impl AsyncFn() -> anyhow::Result<()>,
    ) -> Result<(), Fault> {
        self.checked(request, STEP, idle).await
    }

    /// The status and body of the answer, unchecked.
    pub async fn fetch(&mut self, request: &Prepared) -> anyhow::Result<(u16, Vec<u8>)> {
        let mut body = Vec::new();
        let content = |piece: &[u8]| body.extend_from_slice(piece);
        let status = self.exchange(request, usize::MAX, &async || Ok(()), content).await;
        let status = status.with_context(|| request.name.clone())?;
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
        let mut stream = self.ready().await.context("cannot connect")?;
        self.unread = 0..0;
        let mut all_sent = true;
        for (index, piece) in request.bytes.chunks(step).enumerate() {
            if index > 0 {
                idle().await?;
            }
            all_sent = self.send(&mut stream, piece).await.context("cannot send")?;
            if !all_sent {
                break;
            }
        }
        let head = self.head(&mut stream, request.head_only).await?;
        self.body(&mut stream, head, content).await.context("the answer broke off")?;
        // Bytes after the answer would be taken for the start of the next one.
        if all_sent && head.keep_alive && self.unread.is_empty() {
            self.stream = Some(stream);
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

    /// Sends bytes. Returns whether the server took all of them: one that answers early, such as
    /// with "413 Content Too Large", may never read the rest.
    async fn send(&mut self, stream: &mut D::Stream, mut bytes: &[u8]) -> io::Result<bool> {
        while !bytes.is_empty() {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let step = |context: &mut Context| {
                if let Poll::Ready(written) = Pin::new(&mut *stream).poll_write(context, bytes) {
                    return Poll::Ready(written);
                }
                Pin::new(&mut *stream).poll_read(context, &mut buffer).map_ok(|()| 0)
            };
            let written = poll_fn(step).await;
            let read = buffer.filled().len();
            match written {
                Ok(0) if read == 0 => return Err(io::ErrorKind::WriteZero.into()),
                Ok(0) => {
                    self.unread = 0..read;
                    return Ok(false);
                }
                Ok(written) => bytes = &bytes[written..],
                // A server that closes its end may have answered before it did so.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads the head of the answer, and skips interim ones such as "100 Continue".
    async fn head(&mut self, stream: &mut D::Stream, head_only: bool) -> anyhow::Result<Head> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            match Head::parse(unread, head_only)? {
                Some((length, head)) => {
                    self.unread.start += length;
                    if head.status >= 200 {
                        return Ok(head);
                    }
                }
                None if self.fill(stream).await.context("no answer")? => {}
                None => bail!("no answer: the server closed the connection"),
            }
        }
    }

    async fn body(
        &mut self,
        stream: &mut D::Stream,
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
            if !self.fill(stream).await? {
                ensure!(body == Body::ToClose, "the server closed the connection");
                return Ok(());
            }
        }
    }

    /// Reads more. Returns false at the end of the stream.
    async fn fill(&mut self, stream: &mut D::Stream) -> anyhow::Result<bool> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        ensure!(self.unread.end < BUFFER, "a head or a line of more than {BUFFER} bytes");
        let read = stream.read(&mut self.buffer[self.unread.end..]).await?;
        self.unread.end += read;
        Ok(read > 0)
    }
}
