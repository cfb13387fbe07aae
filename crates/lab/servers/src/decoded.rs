//! The bodies of answers without their encoding: two servers may compress the same page differently.

use std::io::Read;

use anyhow::{Context as _, bail, ensure};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use lab_load::Fetched;

/// The encodings of an answer, the last one first.
fn codings(answer: &Fetched) -> Vec<String> {
    let header = answer.header("content-encoding").unwrap_or_default().to_ascii_lowercase();
    let codings = header.split(',').map(str::trim);
    codings.filter(|it| !it.is_empty() && *it != "identity").rev().map(str::to_owned).collect()
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
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(body);
            Box::new(decoder.ok().context("its body is not in the encoding `zstd`")?)
        }
        _ => bail!("`lab` cannot decode the encoding `{}`", coding.escape_debug()),
    })
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
            let all = decoded(&cut, 1 << 20).is_ok_and(|it| it == page.as_bytes());
            assert!(!all, "{coding}");
            assert!(
                decoded(&answer, 1000).unwrap_err().to_string().contains("more than"),
                "{coding}"
            );
        }
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
