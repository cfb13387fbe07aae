//! The body of an answer, parsed as it arrives.

use anyhow::{Context as _, bail, ensure};

use super::Framing;

/// The state of the parser: which part of a body the next bytes are.
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
                    let Some((length, line)) = line(rest) else { return Ok(taken) };
                    let size = chunk_size(line).context("a chunk has no length")?;
                    taken += length;
                    *self = if size == 0 { Self::Trailers } else { Self::Chunk(size) };
                }
                Self::ChunkEnd => {
                    taken += match rest {
                        [b'\n', ..] => 1,
                        [b'\r', b'\n', ..] => 2,
                        [b'\r'] => return Ok(taken),
                        _ => bail!("a chunk is longer than it said"),
                    };
                    *self = Self::ChunkSize;
                }
                Self::Trailers => {
                    let Some((length, line)) = line(rest) else { return Ok(taken) };
                    taken += length;
                    let is_folded = line.starts_with(b" ") || line.starts_with(b"\t");
                    let is_trailer = is_folded || line.contains(&b':');
                    ensure!(line.is_empty() || is_trailer, "the trailers are not HTTP");
                    if line.is_empty() {
                        *self = Self::Complete;
                    }
                }
            }
        }
    }
}

/// The length of the first line with its end, and the line without it.
fn line(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = &bytes[..end];
    Some((end + 1, line.strip_suffix(b"\r").unwrap_or(line)))
}

/// The length before the extensions of a chunk. Rust's own parser takes a sign, too.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    let digits = str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<(Body, String)> {
        let (mut body, mut content) = (Body::ChunkSize, Vec::new());
        body.take(text.as_bytes(), |piece| content.extend_from_slice(piece))?;
        Ok((body, String::from_utf8(content)?))
    }

    #[test]
    fn chunks_are_read_as_curl_reads_them() {
        let trailers: String = (0..4_000).map(|nth| format!("x-{nth}: {nth}\r\n")).collect();
        for (size, trailers) in
            [("5", ""), ("05;name=\"v\"", "x: y\r\n z\r\n"), ("000005  ", &*trailers)]
        {
            let text = format!("{size}\r\nhello\r\n0\r\n{trailers}\r\n");
            for text in [text.clone(), text.replace("\r\n", "\n")] {
                assert_eq!(read(&text).unwrap(), (Body::Complete, "hello".to_owned()), "{text}");
            }
        }
    }

    #[test]
    fn malformed_chunks_are_rejected() {
        for text in ["\r\n", "x\r\n", "+5\r\n", "-1\n", ";5\r\n", "11111111111111111\r\n"] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["1\r\n67\r\n", "1\r\n6\rx", "0\r\nno trailer\r\n\r\n"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
