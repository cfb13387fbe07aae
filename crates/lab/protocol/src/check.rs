//! Compares every answer with the expected one: a fast wrong answer is a failure.

use serde::{Deserialize, Serialize};

use super::{AnswerPart, DrawnValues, joined};

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Expected {
    pub status: u16,
    pub answer: Answer,
    /// A second body that is right too, such as while something behind the server does not answer. The
    /// status is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub or: Option<Answer>,
}

/// The expected answer that came. `Or` outweighs `Answer`, so the maximum over a visit's answers is the visit's.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Accepted {
    Answer,
    Or,
}

impl Expected {
    /// Expects this one answer.
    pub fn new(status: u16, answer: Answer) -> Self {
        Self { status, answer, or: None }
    }

    /// This, for a request with these drawn values.
    pub fn with(&self, values: &DrawnValues) -> Self {
        let with = |answer: &Answer| match answer {
            Answer::Parts(parts) => joined(parts, values).map_or(Answer::Any, Answer::Text),
            other => other.clone(),
        };
        Self { status: self.status, answer: with(&self.answer), or: self.or.as_ref().map(with) }
    }

    /// All right bodies.
    fn answers(&self) -> impl Iterator<Item = &Answer> {
        std::iter::once(&self.answer).chain(&self.or)
    }

    /// How an answer differs, in words.
    pub fn mismatch(&self, status: u16, body: &[u8]) -> Option<String> {
        let mut check = Check::default();
        check.begin();
        check.take(self, body);
        check.end(self, status).err()
    }
}

/// The body of the right answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Any at all.
    Any,
    Text(String),
    /// Any body whose length is in this range, because the body is never the same twice.
    Length {
        from: u64,
        to: u64,
    },
    /// A body with values in it that each visit draws. [`Expected::with`] makes a text of it.
    Parts(Vec<AnswerPart>),
    /// A body too long to be written down.
    Digest {
        /// The length of the body in bytes.
        bytes: u64,
        /// The CRC-32 (ISO-HDLC) of the body.
        crc32: u32,
    },
}

impl Answer {
    /// Whether the body may have `piece` at this position.
    #[inline]
    fn continues(&self, position: u64, piece: &[u8]) -> bool {
        match self {
            Self::Text(text) => {
                let rest = text.as_bytes().get(position as usize..).unwrap_or_default();
                rest.starts_with(piece)
            }
            Self::Any | Self::Parts(_) | Self::Length { .. } | Self::Digest { .. } => true,
        }
    }

    /// The expected answer in words, after "instead of".
    fn wanted(&self) -> String {
        match self {
            Self::Any | Self::Parts(_) => "any body".to_owned(),
            Self::Text(text) => format!("`{}`", start(text.as_bytes())),
            Self::Length { from, to } if from == to => from.to_string(),
            Self::Length { from, to } => format!("{from} to {to}"),
            Self::Digest { bytes, crc32 } => format!("{bytes} bytes with CRC {crc32:08x}"),
        }
    }
}

/// How many bytes of a body are kept for a message about it.
const KEPT: usize = 240;

/// Compares one body piece by piece as it arrives, so that no body is held in memory as a whole.
///
/// `inline` has its functions compiled in the generator's crate, which is optimized; this one is not.
#[derive(Debug, Default)]
pub struct Check {
    length: u64,
    /// Whether all bytes so far match the expected text, and those of the second right answer.
    same: [bool; 2],
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
        self.same = [true; 2];
        self.crc32.reset();
        self.start.clear();
    }

    #[inline]
    pub fn take(&mut self, expected: &Expected, piece: &[u8]) {
        for (same, answer) in self.same.iter_mut().zip(expected.answers()) {
            *same = *same && answer.continues(self.length, piece);
        }
        if expected.answers().any(|answer| matches!(answer, Answer::Digest { .. })) {
            self.crc32.update(piece);
        }
        self.length += piece.len() as u64;
        let room = KEPT - self.start.len();
        self.start.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Returns the expected answer that came.
    ///
    /// # Errors
    ///
    /// If no expected answer matches. The error describes the difference.
    #[inline]
    pub fn end(&self, expected: &Expected, status: u16) -> Result<Accepted, String> {
        if status == expected.status {
            if self.is(&expected.answer, self.same[0]) {
                return Ok(Accepted::Answer);
            }
            if expected.or.as_ref().is_some_and(|or| self.is(or, self.same[1])) {
                return Ok(Accepted::Or);
            }
        }
        Err(self.mismatch(expected, status))
    }

    /// Whether the whole body is this one; `same`: its bytes match the text.
    #[inline]
    fn is(&self, answer: &Answer, same: bool) -> bool {
        match answer {
            Answer::Any | Answer::Parts(_) => true,
            Answer::Text(text) => same && self.length == text.len() as u64,
            Answer::Length { from, to } => (*from..=*to).contains(&self.length),
            Answer::Digest { bytes, crc32 } => {
                self.length == *bytes && self.crc32.clone().finalize() == *crc32
            }
        }
    }

    fn mismatch(&self, expected: &Expected, status: u16) -> String {
        let start = start(&self.start);
        if status != expected.status {
            let colon = if start.is_empty() { "" } else { ": " };
            return format!("status {status} instead of {}{colon}{start}", expected.status);
        }
        let wanted: Vec<_> = expected.answers().map(Answer::wanted).collect();
        let wanted = wanted.join(" or ");
        match &expected.answer {
            Answer::Any | Answer::Parts(_) | Answer::Text(_) => {
                format!("`{start}` instead of {wanted}")
            }
            Answer::Length { .. } => format!("{} bytes instead of {wanted}: {start}", self.length),
            Answer::Digest { .. } => {
                let crc32 = self.crc32.clone().finalize();
                format!("{} bytes with CRC {crc32:08x} instead of {wanted}", self.length)
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
        check.end(expected, status).err()
    }

    #[test]
    fn a_mismatch_is_described() {
        let right = Expected::new(200, Answer::Text("67".into()));
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
        let digest = Expected::new(200, answer);
        assert_eq!(mismatch(&digest, 200, &["1234", "56789"]), None);
        assert!(mismatch(&digest, 200, &["123456780"]).unwrap().contains("instead of 9 bytes"));
    }

    #[test]
    fn a_second_right_answer_is_accepted_and_told_apart() {
        let or = Some(Answer::Digest { bytes: 9, crc32: 0xcbf4_3926 });
        let expected = Expected { or, ..Expected::new(200, Answer::Text("12345".into())) };
        let accepted = |status, pieces: &[&str]| {
            let mut check = Check::default();
            check.begin();
            pieces.iter().for_each(|piece| check.take(&expected, piece.as_bytes()));
            check.end(&expected, status)
        };
        assert_eq!(accepted(200, &["12", "345"]), Ok(Accepted::Answer));
        assert_eq!(accepted(200, &["12", "3456789"]), Ok(Accepted::Or));
        assert_eq!(accepted(503, &["12345"]).unwrap_err(), "status 503 instead of 200: 12345");
        let wrong = accepted(200, &["12"]).unwrap_err();
        assert_eq!(wrong, "`12` instead of `12345` or 9 bytes with CRC cbf43926");

        let text = |text: &str| Answer::Text(text.into());
        let texts = Expected { or: Some(text("69")), ..Expected::new(200, text("67")) };
        assert_eq!(mismatch(&texts, 200, &["6", "9"]), None);
        assert_eq!(mismatch(&texts, 200, &["6", "8"]).unwrap(), "`68` instead of `67` or `69`");
    }
}
