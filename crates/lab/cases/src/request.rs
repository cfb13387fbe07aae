//! A request of a case file, with the right answer.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use lab_protocol::{Answer, Expected, Request};
use serde::Deserialize;

/// An HTTP request with the correct answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RequestEntry")]
pub struct TimedRequest {
    pub request: Request,
    /// How often other clients send it, at random, next to a load that is then without it.
    pub rate_per_s: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestEntry {
    #[serde(default = "get")]
    method: String,
    path: String,
    /// The name of a file next to the case file.
    body: Option<PathBuf>,
    rate_per_s: Option<f64>,
    #[serde(default = "ok")]
    status: u16,
    answer: Option<String>,
    bytes: Option<u64>,
    crc32: Option<String>,
}

impl TryFrom<RequestEntry> for TimedRequest {
    type Error = anyhow::Error;

    fn try_from(entry: RequestEntry) -> anyhow::Result<Self> {
        let answer = match (entry.answer, entry.bytes, entry.crc32) {
            (Some(text), None, None) => Answer::Text(text),
            (None, Some(bytes), Some(crc32)) => {
                let crc32 = u32::from_str_radix(&crc32, 16)
                    .with_context(|| format!("crc32 `{crc32}` is not a hexadecimal number"))?;
                Answer::Digest { bytes, crc32 }
            }
            _ => bail!("a request needs either `answer`, or both `bytes` and `crc32`"),
        };
        let RequestEntry { method, path, body, status, rate_per_s, .. } = entry;
        let expected = Expected::new(status, answer);
        Ok(Self {
            request: Request { method, body, expected, ..Request::get(&path, Answer::Any) },
            rate_per_s,
        })
    }
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}
