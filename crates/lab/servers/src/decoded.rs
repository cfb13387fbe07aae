//! The bodies of answers without their encoding: two servers may compress the same page differently.

use std::io::{self, Read};

use anyhow::{Context as _, bail, ensure};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use lab_load::Fetched;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// The encodings of an answer, the last one first.
pub fn codings(answer: &Fetched) -> Vec<String> {
    let header = answer.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
    let codings = header.split(',').map(str::trim);
    codings
        .filter(|coding| !coding.is_empty() && *coding != "identity")
        .rev()
        .map(str::to_owned)
        .collect()
}

pub fn is_encoded(answer: &Fetched) -> bool {
    !codings(answer).is_empty()
}

/// The body without its encodings.
///
/// # Errors
///
/// If it cannot be decoded, or if it is longer than this.
pub fn decoded(answer: &Fetched, longest: u64) -> anyhow::Result<Vec<u8>> {
    let mut body = answer.body.clone();
    for coding in codings(answer) {
        let read = read(&coding, &body)?;
        let mut decoded = Vec::new();
        let got = read.take(longest + 1).read_to_end(&mut decoded);
        got.with_context(|| {
            format!("its body is not in the encoding `{}`", coding.escape_debug())
        })?;
        let limit = longest >> 20;
        ensure!(decoded.len() as u64 <= longest, "its body has more than {limit} MiB, decoded");
        body = decoded;
    }
    Ok(body)
}

fn read<'a>(coding: &str, body: &'a [u8]) -> anyhow::Result<Box<dyn Read + 'a>> {
    // Some servers send `deflate` without the header that the standard asks for, and browsers read both.
    let has_header = matches!(body, [one, other, ..]
        if one & 15 == 8 && u16::from_be_bytes([*one, *other]).is_multiple_of(31));
    Ok(match coding {
        "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(body)),
        "deflate" if has_header => Box::new(ZlibDecoder::new(body)),
        "deflate" => Box::new(DeflateDecoder::new(body)),
        "br" => Box::new(brotli_decompressor::Decompressor::new(body, 4096)),
        "zstd" => Box::new(Frames { rest: body, frame: None }),
        _ => bail!("`lab` cannot decode the encoding `{}`", coding.escape_debug()),
    })
}

/// The frames of a body in zstd, one after the other.
struct Frames<'a> {
    rest: &'a [u8],
    frame: Option<StreamingDecoder<&'a [u8], FrameDecoder>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else {
                if self.rest.is_empty() {
                    return Ok(0);
                }
                if let Some(rest) = after_skippable(self.rest) {
                    self.rest = rest;
                    continue;
                }
                self.frame = Some(StreamingDecoder::new(self.rest).map_err(io::Error::other)?);
                continue;
            };
            let length = frame.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.rest = self.frame.take().map_or(&[], StreamingDecoder::into_inner);
        }
    }
}

/// The bytes after a frame that a decoder has to skip (RFC 8878, section 3.1.2); `None` if there is no such frame.
fn after_skippable(body: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = body.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let is_skippable = u32::from_le_bytes(*magic) & !15 == 0x184D_2A50;
    is_skippable.then(|| rest.get(u32::from_le_bytes(*length) as usize..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(pair).collect()
    }

    fn answer(coding: &str, body: Vec<u8>) -> Fetched {
        Fetched::new(200, &format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n"), body)
    }

    #[test]
    fn every_level_of_every_encoding_is_the_same_page() {
        let page = "<p>hello</p>".repeat(200);
        let mut encoded = Vec::new();
        for level in [Compression::fast(), Compression::best()] {
            let mut gzip = GzEncoder::new(Vec::new(), level);
            gzip.write_all(page.as_bytes()).unwrap();
            let gzip = gzip.finish().unwrap();
            encoded.push(("x-gzip", gzip.clone()));
            let mut zlib = ZlibEncoder::new(Vec::new(), level);
            zlib.write_all(page.as_bytes()).unwrap();
            encoded.push(("deflate", zlib.finish().unwrap()));
            let mut raw = DeflateEncoder::new(Vec::new(), level);
            raw.write_all(page.as_bytes()).unwrap();
            encoded.push(("Deflate", raw.finish().unwrap()));
            let mut twice = ZlibEncoder::new(Vec::new(), level);
            twice.write_all(&gzip).unwrap();
            encoded.push(("gzip, deflate", twice.finish().unwrap()));
            encoded.push(("identity, GZIP", gzip));
        }
        // By `zlib.brotliCompressSync` of Node, at qualities 0 and 11, and by `zstd`, with and without its checksum.
        for hex in BROTLI {
            encoded.push(("br", bytes(hex)));
        }
        for hex in ZSTD {
            encoded.push(("zstd", bytes(hex)));
        }
        for (coding, body) in encoded {
            let answer = answer(coding, body);
            assert!(is_encoded(&answer));
            assert_eq!(decoded(&answer, 1 << 20).unwrap(), page.as_bytes(), "{coding}");
            let mut cut = answer.clone();
            cut.body.truncate(answer.body.len() / 2);
            let all = decoded(&cut, 1 << 20).is_ok_and(|body| body == page.as_bytes());
            assert!(!all, "{coding}");
            assert!(
                decoded(&answer, 1000).unwrap_err().to_string().contains("more than"),
                "{coding}"
            );
        }
        // A frame that is to be skipped, and two with half of the text each.
        let [one, other] = ZSTD.map(bytes);
        let skipped = [&0x184D_2A53_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), b"no"].concat();
        let frames = answer("zstd", [skipped, one, other].concat());
        assert_eq!(decoded(&frames, 1 << 20).unwrap(), page.repeat(2).as_bytes());
        let plain = answer("identity", page.clone().into_bytes());
        assert!(!is_encoded(&plain));
        assert_eq!(decoded(&plain, 1 << 20).unwrap(), page.as_bytes());
        let error = decoded(&answer("dcb", Vec::new()), 1).unwrap_err().to_string();
        assert_eq!(error, "`lab` cannot decode the encoding `dcb`");
    }

    const BROTLI: [&str; 2] = [
        "8baf040080aaaaaaeaff78e4c385816f3706e0030330ffdf55ff9e7bab7b4675791bc35df1626161616363552f33aa830f1f7e0c0683719cc9\
         aa1a0c0683c16030873a2352511a85c3423bc9de13dce515b723aef3df190200dc",
        "1b5f09f81da7c19a9b1f53cdc3f606a75ed0caa72c0e8c05740800606b18",
    ];
    const ZSTD: [&str; 2] = [
        "28b52ffd6460089d0000603c703e68656c6c6f3c2f703e010051b95f9220eecd46",
        "28b52ffd6060089d0000603c703e68656c6c6f3c2f703e010051b95f92",
    ];
}
