//! The body of an answer, parsed as it arrives.

use anyhow::{Context as _, ensure};
use httparse::Status;

use super::Framing;

const MOST_TRAILERS: usize = 32;

/// What the next bytes of a body are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// The rest of a body of known length.
    Rest(u64),
    /// Everything until the connection ends.
    ToClose,
    /// The line with the length of the next chunk.
    ChunkSize,
    Chunk(u64),
    /// The line break after a chunk.
    ChunkEnd,
    /// Headers after the last chunk, and an empty line.
    Trailers,
    Complete,
}

impl From<Framing> for Body {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Rest(length),
            Framing::Chunked => Self::ChunkSize,
            Framing::ToClose => Self::ToClose,
        }
    }
}

impl Body {
    /// Parses as much of `bytes` as possible, and hands the content to `content`. Returns how many
    /// bytes it parsed; offer the others again, followed by more.
    pub fn take(&mut self, bytes: &[u8], mut content: impl FnMut(&[u8])) -> anyhow::Result<usize> {
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            match *self {
                Self::Complete => return Ok(taken),
                Self::Rest(0) => *self = Self::Complete,
                Self::Chunk(0) => *self = Self::ChunkEnd,
                _ if rest.is_empty() => return Ok(taken),
                Self::ToClose => {
                    content(rest);
                    taken += rest.len();
                }
                Self::Rest(ref mut left) | Self::Chunk(ref mut left) => {
                    let length = usize::try_from(*left).unwrap_or(rest.len()).min(rest.len());
                    content(&rest[..length]);
                    taken += length;
                    *left -= length as u64;
                }
                Self::ChunkSize => {
                    let size = httparse::parse_chunk_size(rest);
                    let size = size.ok().context("a chunk has no length")?;
                    let Status::Complete((length, size)) = size else { return Ok(taken) };
                    taken += length;
                    *self = if size == 0 { Self::Trailers } else { Self::Chunk(size) };
                }
                Self::ChunkEnd => {
                    let end = &rest[..rest.len().min(2)];
                    ensure!(b"\r\n".starts_with(end), "a chunk is longer than it said");
                    if end.len() < 2 {
                        return Ok(taken);
                    }
                    taken += 2;
                    *self = Self::ChunkSize;
                }
                Self::Trailers => {
                    let mut trailers = [httparse::EMPTY_HEADER; MOST_TRAILERS];
                    let parsed = httparse::parse_headers(rest, &mut trailers);
                    let parsed = parsed.context("the trailers are not HTTP")?;
                    let Status::Complete((length, _)) = parsed else { return Ok(taken) };
                    taken += length;
                    *self = Self::Complete;
                }
            }
        }
    }
}
