//! Compares every answer with the expected one: a fast wrong answer is a failure.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Expected {
    pub status: u16,
    pub answer: Answer,
}

impl Expected {
    /// How an answer differs, in words.
    pub fn mismatch(&self, status: u16, body: &[u8]) -> Option<String> {
        let mut check = Check::default();
        check.begin();
        check.take(self, body);
        check.mismatch(self, status)
    }
}

/// The body of the right answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Any at all.
    Any,
    Text(String),
    /// As many bytes as this: a body that is never the same twice.
    Length {
        from: u64,
        to: u64,
    },
    /// A body too long to be written down.
    Digest {
        /// Its length in bytes.
        bytes: u64,
        /// Its CRC-32 (ISO-HDLC).
        crc32: u32,
    },
}

/// How many bytes of a body are kept for a message about it.
const KEPT: usize = 240;

/// Compares one body piece by piece as it arrives, so that no body is held in memory as a whole.
///
/// `inline` has its functions compiled in the generator's crate, which is optimized; this one is not.
#[derive(Debug, Default)]
pub struct Check {
    length: u64,
    /// Whether all bytes so far match the expected text.
    same: bool,
    /// The checksum so far, if a digest is expected.
    crc32: crc32fast::Hasher,
    /// The first bytes of the body.
    start: Vec<u8>,
}

impl Check {
    /// Resets the check for the next body.
    #[inline]
    pub fn begin(&mut self) {
        self.length = 0;
        self.same = true;
        self.crc32.reset();
        self.start.clear();
    }

    #[inline]
    pub fn take(&mut self, expected: &Expected, piece: &[u8]) {
        match &expected.answer {
            Answer::Text(text) => {
                let rest = text.as_bytes().get(self.length as usize..).unwrap_or_default();
                self.same &= rest.starts_with(piece);
            }
            Answer::Digest { .. } => self.crc32.update(piece),
            Answer::Any | Answer::Length { .. } => {}
        }
        self.length += piece.len() as u64;
        let room = KEPT - self.start.len();
        self.start.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// How the whole answer differs, in words.
    #[inline]
    pub fn mismatch(&self, expected: &Expected, status: u16) -> Option<String> {
        if status != expected.status {
            let (right, start) = (expected.status, start(&self.start));
            let colon = if start.is_empty() { "" } else { ": " };
            return Some(format!("status {status} instead of {right}{colon}{start}"));
        }
        match &expected.answer {
            Answer::Any => None,
            Answer::Text(text) if self.same && self.length == text.len() as u64 => None,
            Answer::Text(text) => {
                Some(format!("`{}` instead of `{}`", start(&self.start), start(text.as_bytes())))
            }
            Answer::Length { from, to } => (!(*from..=*to).contains(&self.length)).then(|| {
                let wanted = if from == to { from.to_string() } else { format!("{from} to {to}") };
                format!("{} bytes instead of {wanted}: {}", self.length, start(&self.start))
            }),
            Answer::Digest { bytes, crc32 } => {
                let (found, found_crc32) = (self.length, self.crc32.clone().finalize());
                ((found, found_crc32) != (*bytes, *crc32)).then(|| {
                    format!(
                        "{found} bytes with CRC {found_crc32:08x} instead of {bytes} bytes with CRC {crc32:08x}"
                    )
                })
            }
        }
    }
}

/// The start of a body, shortened and escaped for a one-line message.
fn start(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(60).collect();
    text.trim_end().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(expected: &Expected, status: u16, pieces: &[&str]) -> Option<String> {
        let mut check = Check::default();
        // Checks are reused, so an earlier body must not matter.
        check.begin();
        check.take(expected, b"the answer to another request");
        check.begin();
        pieces.iter().for_each(|piece| check.take(expected, piece.as_bytes()));
        check.mismatch(expected, status)
    }

    #[test]
    fn a_mismatch_is_described() {
        let right = Expected { status: 200, answer: Answer::Text("67".into()) };
        for pieces in [&["67"][..], &["6", "7"], &["", "67", ""]] {
            assert_eq!(mismatch(&right, 200, pieces), None);
        }
        let described = [
            (200, &["7"][..], "`7` instead of `67`"),
            (200, &["6"], "`6` instead of `67`"),
            (200, &["6", "78"], "`678` instead of `67`"),
            (200, &[], "`` instead of `67`"),
            (503, &["busy\n"], "status 503 instead of 200: busy"),
            (204, &[], "status 204 instead of 200"),
        ];
        for (status, pieces, words) in described {
            assert_eq!(mismatch(&right, status, pieces).unwrap(), words);
        }
        let long = "x".repeat(1000);
        assert!(mismatch(&right, 200, &[&long, &long]).unwrap().len() < 100);
    }

    #[test]
    fn a_digest_detects_a_changed_byte() {
        let answer = Answer::Digest { bytes: 9, crc32: 0xcbf4_3926 };
        let digest = Expected { status: 200, answer };
        assert_eq!(mismatch(&digest, 200, &["1234", "56789"]), None);
        assert!(mismatch(&digest, 200, &["123456780"]).unwrap().contains("instead of 9 bytes"));
    }
}
