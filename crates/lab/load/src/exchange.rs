//! The exchange of one request and its answer on an open stream.

use std::{
    cell::RefCell,
    future::poll_fn,
    io,
    ops::Range,
    pin::Pin,
    task::{Context, Poll},
};

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use super::{
    Dial,
    http::{Body, Head, WireRequest, other_protocol},
};

/// The longest head that an answer may have: as long as `curl` permits.
pub(super) const LONGEST_HEAD: usize = 300 * 1024;

/// A body has more bytes than the caller wants.
#[derive(Clone, Copy, Debug)]
pub struct TooLong(pub(super) u64);

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "the body has more than {} MiB", self.0 >> 20)
    }
}

impl std::error::Error for TooLong {}

/// A request on its way while its answer may already come.
///
/// The two go at once: a server that answers while it reads stops reading when nobody takes its
/// answer. And one that answers early, such as with "413 Content Too Large", may never read the rest.
pub(super) struct Exchange<'a, D: Dial> {
    dial: &'a D,
    pub(super) stream: D::Stream,
    /// The part of the request that has not been sent yet.
    unsent: &'a [u8],
    /// Whether the server has closed its end, so that the rest cannot be sent.
    refused: bool,
    pub(super) buffer: &'a mut Vec<u8>,
    /// The part of the buffer that was received and not yet parsed.
    pub(super) unread: Range<usize>,
    /// Whether the first byte of the answer has come.
    pub(super) is_answered: bool,
}

impl<'a, D: Dial> Exchange<'a, D> {
    pub(super) fn new(
        dial: &'a D,
        stream: D::Stream,
        request: &'a WireRequest,
        buffer: &'a mut Vec<u8>,
    ) -> Self {
        let unsent = &request.bytes[..];
        Self { dial, stream, unsent, refused: false, buffer, unread: 0..0, is_answered: false }
    }

    /// Whether the whole request was sent.
    pub(super) fn is_sent(&self) -> bool {
        !self.refused && self.unsent.is_empty()
    }

    /// Reads the head of the answer, adds it to `keep`, and skips interim ones such as "100 Continue".
    pub(super) async fn head(
        &mut self,
        head_only: bool,
        keep: Option<&RefCell<Vec<u8>>>,
    ) -> anyhow::Result<Head> {
        loop {
            let unread = &self.buffer[self.unread.clone()];
            let parsed = Head::parse(unread, head_only);
            match parsed.map_err(|error| other_protocol(unread).unwrap_or(error))? {
                Some((length, head)) => {
                    let begin = self.unread.start;
                    self.unread.start += length;
                    if head.status >= 200 {
                        if let Some(keep) = keep {
                            keep.borrow_mut()
                                .extend_from_slice(&self.buffer[begin..begin + length]);
                        }
                        return Ok(head);
                    }
                }
                None if self.fill().await.context("no answer")? => {}
                None => bail!("no answer: the server closed the connection"),
            }
        }
    }

    /// Reads the body of the answer, counts its bytes in `length`, and hands them to `content`.
    pub(super) async fn body(
        &mut self,
        head: Head,
        longest: u64,
        length: &mut u64,
        mut content: impl FnMut(&[u8]),
    ) -> anyhow::Result<()> {
        const BROKE_OFF: &str = "the answer broke off";
        let mut body = Body::from(head.framing);
        loop {
            let count = |piece: &[u8]| {
                *length += piece.len() as u64;
                content(piece);
            };
            let taken = body.take(&self.buffer[self.unread.clone()], count);
            self.unread.start += taken.context(BROKE_OFF)?;
            ensure!(*length <= longest, TooLong(longest));
            if body == Body::Complete {
                return Ok(());
            }
            if !self.fill().await.context(BROKE_OFF)? {
                let is_end = body == Body::ToClose;
                ensure!(is_end, "{BROKE_OFF}: the server closed the connection");
                return Ok(());
            }
        }
    }

    /// Sends what is left of the request until more of the answer has come. Returns false at the end
    /// of the stream.
    async fn fill(&mut self) -> anyhow::Result<bool> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        if self.unread.end == self.buffer.len() {
            let is_short = self.buffer.len() < LONGEST_HEAD;
            ensure!(is_short, "a head or a line of more than {LONGEST_HEAD} bytes");
            self.buffer.resize(LONGEST_HEAD.min(4 * self.buffer.len()), 0);
        }
        let mut buffer = ReadBuf::new(&mut self.buffer[self.unread.end..]);
        self.dial.before_answer(&self.stream)?;
        loop {
            let step = |context: &mut Context| {
                if !self.unsent.is_empty()
                    && let Poll::Ready(written) =
                        Pin::new(&mut self.stream).poll_write(context, self.unsent)
                {
                    return Poll::Ready(written.map(Some));
                }
                // TLS encrypts more than it has sent. If this fails, so does reading, unless the server
                // has answered before it closed its end.
                let _ = Pin::new(&mut self.stream).poll_flush(context);
                Pin::new(&mut self.stream).poll_read(context, &mut buffer).map_ok(|()| None)
            };
            match poll_fn(step).await {
                Ok(None) => break,
                Ok(Some(0)) => bail!("the connection takes no more"),
                Ok(Some(written)) => self.unsent = &self.unsent[written..],
                // A server that closes its end may have answered before it did so.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !self.refused => {
                    self.refused = true;
                    self.unsent = &[];
                }
                Err(error) => return Err(error.into()),
            }
        }
        let read = buffer.filled().len();
        self.unread.end += read;
        self.is_answered |= read > 0;
        Ok(read > 0)
    }
}
