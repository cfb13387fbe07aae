//! Every answer is held against the right one: a fast wrong answer is a failure.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::case::Answer;

/// The answer that is right.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Expected {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub answer: Answer,
}

impl Expected {
    /// What is wrong with an answer, in words, or nothing.
    pub fn fault(&self, status: u16, body: &Bytes) -> Option<String> {
        if status != self.status {
            return Some(format!("status {status} instead of {}: {}", self.status, start(body)));
        }
        match &self.answer {
            Answer::Any => None,
            Answer::Text(text) if text.as_bytes() == body => None,
            Answer::Text(text) => {
                Some(format!("`{}` instead of `{}`", start(body), start(text.as_bytes())))
            }
            Answer::Digest { bytes, crc32 } => {
                let (found_bytes, found_crc32) = (body.len() as u64, crc32fast::hash(body));
                ((found_bytes, found_crc32) != (*bytes, *crc32)).then(|| {
                    format!(
                        "{found_bytes} bytes with CRC {found_crc32:08x} instead of {bytes} bytes with CRC {crc32:08x}"
                    )
                })
            }
        }
    }
}

/// The start of a body, fit for a message of one line.
fn start(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(60).collect();
    text.trim_end().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_answer_has_no_fault_and_a_wrong_one_is_described() {
        let six = Expected { status: 200, answer: Answer::Text("6".into()) };
        assert_eq!(six.fault(200, &"6".into()), None);
        assert_eq!(six.fault(200, &"7".into()).unwrap(), "`7` instead of `6`");
        assert_eq!(six.fault(503, &"busy\n".into()).unwrap(), "status 503 instead of 200: busy");
    }

    #[test]
    fn a_digest_tells_a_changed_byte() {
        let answer = Answer::Digest { bytes: 9, crc32: 0xcbf4_3926 };
        let digest = Expected { status: 200, answer };
        assert_eq!(digest.fault(200, &"123456789".into()), None);
        assert!(digest.fault(200, &"123456780".into()).unwrap().contains("instead of 9 bytes"));
    }
}
