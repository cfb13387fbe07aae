//! One keep-alive connection, opened again when the server closes it.

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::Pin,
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

/// A way to the server. There are two: TCP, and memory in the tests, whose clock is then exact.
pub trait Dial {
    /// What goes to and fro.
    type Stream: AsyncRead + AsyncWrite + Unpin;
    /// Connects.
    fn dial(&self) -> impl Future<Output = io::Result<Self::Stream>>;
}

/// The way over TCP.
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

/// One connection to the server, with a buffer that lives as long.
#[derive(Debug)]
pub struct Connection<D: Dial = Tcp> {
    dial: D,
    /// Absent while a request is under way: one that is abandoned takes its stream along, lest the
    /// next request reads its answer.
    stream: Option<D::Stream>,
    buffer: Box<[u8]>,
    /// What was read and not yet taken.
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
    /// Connects.
    pub async fn over(dial: D) -> io::Result<Self> {
        let stream = Some(dial.dial().await?);
        let buffer = vec![0; BUFFER].into();
        Ok(Self { dial, stream, buffer, unread: 0..0, check: Check::default() })
    }

    /// Sends a request and holds its answer against the right one.
    ///
    /// A connection that the server has closed between two requests is opened again, as a
    /// browser would; one that breaks in mid-request is a failure.
    pub async fn ask(&mut self, request: &Prepared) -> Verdict {
        match self.answer(request).await {
            Ok(status) => match self.check.fault(&request.expected, status) {
                None => Verdict::Ok,
                Some(fault) => Verdict::Wrong(fault),
            },
            Err(error) => Verdict::Failed(format!("{error:#}")),
        }
    }

    /// The status of the answer; its body has gone through the check.
    async fn answer(&mut self, request: &Prepared) -> anyhow::Result<u16> {
        let mut stream = self.ready().await.context("cannot connect")?;
        self.unread = 0..0;
        let all_sent = self.send(&mut stream, &request.bytes).await.context("cannot send")?;
        let head = self.head(&mut stream, request.head_only).await?;
        self.body(&mut stream, head, request).await.context("the answer broke off")?;
        // Bytes that belong to no answer would be taken for the start of the next.
        if all_sent && head.keep_alive && self.unread.is_empty() {
            self.stream = Some(stream);
        }
        Ok(head.status)
    }

    /// A stream that is ready for a request: the last one, unless the server has closed it.
    async fn ready(&mut self) -> io::Result<D::Stream> {
        if let Some(mut stream) = self.stream.take() {
            // Costs no system call while nothing has arrived: Tokio knows that already.
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let look = |context: &mut Context| {
                Poll::Ready(Pin::new(&mut stream).poll_read(context, &mut buffer).is_pending())
            };
            if poll_fn(look).await {
                return Ok(stream);
            }
        }
        self.dial.dial().await
    }

    /// Sends a request. Returns whether the server took all of it: one that answers early, such
    /// as with "413 Content Too Large", may never read the rest.
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

    /// Reads the head of the answer; "100 Continue" and its like come before it and say nothing.
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

    /// Reads the body of the answer, and checks it on the way.
    async fn body(
        &mut self,
        stream: &mut D::Stream,
        head: Head,
        request: &Prepared,
    ) -> anyhow::Result<()> {
        self.check.begin();
        let mut body = Body::from(head.framing);
        loop {
            let content = |piece: &[u8]| self.check.take(&request.expected, piece);
            self.unread.start += body.take(&self.buffer[self.unread.clone()], content)?;
            if body == Body::Complete {
                return Ok(());
            }
            if !self.fill(stream).await? {
                ensure!(body == Body::ToClose, "the server closed the connection");
                return Ok(());
            }
        }
    }

    /// Reads more; says whether there was more before the end.
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
