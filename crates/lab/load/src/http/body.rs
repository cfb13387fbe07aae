//! The body of an answer, taken apart as it arrives.

use anyhow::{Context as _, ensure};
use httparse::Status;

use super::Framing;

/// How many headers may follow the last chunk.
const MOST_TRAILERS: usize = 32;

/// Where in a body the bytes that come next belong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// So many bytes are still to come.
    Rest(u64),
    /// All that comes until the connection ends.
    ToClose,
    /// The line with the length of the next chunk.
    ChunkSize,
    /// So many bytes of a chunk are still to come.
    Chunk(u64),
    /// The end of the line after a chunk.
    ChunkEnd,
    /// Headers after the last chunk, and an empty line.
    Trailers,
    /// Nothing: it is complete.
    Complete,
}

impl From<Framing> for Body {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Length(0) => Self::Complete,
            Framing::Length(length) => Self::Rest(length),
            Framing::Chunked => Self::ChunkSize,
            Framing::ToClose => Self::ToClose,
        }
    }
}

impl Body {
    /// Takes from `bytes` what it can, hands the content on to `content`, and returns how many
    /// bytes it took. The others have to be offered again, with more behind them.
    pub fn take(&mut self, bytes: &[u8], mut content: impl FnMut(&[u8])) -> anyhow::Result<usize> {
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            match *self {
                Self::Complete => return Ok(taken),
                _ if rest.is_empty() => return Ok(taken),
                Self::ToClose => {
                    content(rest);
                    taken += rest.len();
                }
                Self::Rest(left) | Self::Chunk(left) => {
                    let piece =
                        &rest[..usize::try_from(left).unwrap_or(rest.len()).min(rest.len())];
                    content(piece);
                    taken += piece.len();
                    *self = self.without(piece.len() as u64);
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
                    let parsed = parsed.context("what follows the last chunk is not HTTP")?;
                    let Status::Complete((length, _)) = parsed else { return Ok(taken) };
                    taken += length;
                    *self = Self::Complete;
                }
            }
        }
    }

    /// Where it goes on after so many bytes of content.
    fn without(self, bytes: u64) -> Self {
        match self {
            Self::Rest(left) if left == bytes => Self::Complete,
            Self::Rest(left) => Self::Rest(left - bytes),
            Self::Chunk(left) if left == bytes => Self::ChunkEnd,
            Self::Chunk(left) => Self::Chunk(left - bytes),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The content of a body that arrives in these pieces, and how many bytes were left over.
    fn content(framing: Framing, pieces: &[&[u8]]) -> anyhow::Result<(Body, Vec<u8>, usize)> {
        let (mut body, mut found, mut waiting) = (Body::from(framing), Vec::new(), Vec::new());
        for piece in pieces {
            waiting.extend_from_slice(piece);
            let taken = body.take(&waiting, |content| found.extend_from_slice(content))?;
            waiting.drain(..taken);
        }
        Ok((body, found, waiting.len()))
    }

    const CHUNKED: &[u8] =
        b"5;name=\"x\"\r\nhello\r\n00A\r\n, chunked!\r\n0\r\nexpires: never\r\nx: y\r\n\r\n";

    #[test]
    fn chunks_with_trailers_may_be_split_anywhere() {
        for end in 0..=CHUNKED.len() {
            let (one, other) = CHUNKED.split_at(end);
            let whole = content(Framing::Chunked, &[one, other]).unwrap();
            assert_eq!(whole, (Body::Complete, b"hello, chunked!".to_vec(), 0), "at {end}");
        }
        let bytes: Vec<_> = CHUNKED.chunks(1).collect();
        assert_eq!(content(Framing::Chunked, &bytes).unwrap().1, b"hello, chunked!");
    }

    #[test]
    fn a_body_ends_where_it_said_and_leaves_the_rest_alone() {
        let five = content(Framing::Length(5), &[b"he", b"lloHTTP/1.1"]).unwrap();
        assert_eq!(five, (Body::Complete, b"hello".to_vec(), 8));
        let none = content(Framing::Length(0), &[b"HTTP"]).unwrap();
        assert_eq!(none, (Body::Complete, Vec::new(), 4));
        let (chunked, _, left) = content(Framing::Chunked, &[b"0\r\n\r\nHTTP"]).unwrap();
        assert_eq!((chunked, left), (Body::Complete, 4));
    }

    #[test]
    fn a_body_without_its_end_is_not_complete() {
        assert_eq!(content(Framing::Length(5), &[b"hell"]).unwrap().0, Body::Rest(1));
        assert_eq!(content(Framing::ToClose, &[b"hell"]).unwrap().0, Body::ToClose);
        assert_eq!(content(Framing::Chunked, &[b"5\r\nhello\r\n0\r\n"]).unwrap().0, Body::Trailers);
    }

    #[test]
    fn chunks_that_are_none_are_an_error() {
        for bytes in [&b"x\r\n"[..], b"1\r\nab\r\n", b"0\r\nno header\r\n\r\n"] {
            assert!(content(Framing::Chunked, &[bytes]).is_err());
        }
    }
}
