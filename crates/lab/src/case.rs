//! The case file: all that the laboratory knows of a case.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::{
    count::Plan,
    flame::exhibit::{self, Exhibit},
};

/// The variant that every other one is compared with.
pub const BASELINE: &str = "slow";
/// The variant that the case is about.
pub const CANDIDATE: &str = "fixed";

/// A case, as its `case.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of the case's directory, and the first part of its binaries' names.
    #[serde(skip)]
    pub name: String,
    /// What is wrong in the slow variant, as a heading.
    pub title: String,
    /// What somebody who sees only the symptom would ask.
    pub question: String,
    /// The variants, in the order of the lesson; each is the binary `CASE-VARIANT`.
    pub variants: Vec<String>,
    /// Arguments for every variant.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment of every variant.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Servers that have to run before a variant can, in their order.
    #[serde(default, rename = "companion")]
    pub companions: Vec<Companion>,
    /// What a reader has to know of the steps' figures.
    pub steps_note: Option<String>,
    /// Who asks, and how often.
    pub load: Load,
    /// What one user asks in one go: the first request alone, then the others in parallel.
    #[serde(rename = "request")]
    pub requests: Vec<Request>,
    /// What the fix promises.
    pub promise: Option<Promise>,
    /// The pictures of `lab flame`, the most telling first.
    #[serde(default = "exhibit::usual")]
    pub flame: Vec<Exhibit>,
    /// What the sweeps of its benches vary, by the name of their group: for the axes of a chart.
    #[serde(default, rename = "sweep")]
    pub sweeps: BTreeMap<String, Sweep>,
    /// What exact counts are taken over.
    #[serde(default)]
    pub count: Plan,
}

/// A server that a variant needs, such as the upstream of a proxy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// In arguments and environment, `{NAME}` stands for the URL that this server announced.
    pub name: String,
    /// Its binary.
    pub bin: String,
    /// Its arguments; `{scratch}` stands for a directory of the run's own.
    #[serde(default)]
    pub args: Vec<String>,
    /// Where it answers in plain HTTP with what it counted: a JSON object of names and numbers.
    pub counters: Option<String>,
}

/// A closed loop: each user sends the next request once the last one is answered.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// How many ask at the same time.
    pub users: usize,
    /// Milliseconds that a user waits between an answer and the next request.
    #[serde(default)]
    pub think_ms: u64,
    /// Connections of one user.
    #[serde(default = "one")]
    pub connections: usize,
}

impl Load {
    /// How long a user waits between an answer and the next request.
    pub fn think(self) -> Duration {
        Duration::from_millis(self.think_ms)
    }
}

/// A series of benches over one parameter, in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What is measured, as a heading.
    pub title: String,
    /// What is varied, with its unit.
    pub parameter: String,
    /// What takes the time.
    pub time: String,
}

/// The least factors by which fixed has to beat slow on a machine that is not overloaded.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Of throughput.
    pub throughput: f64,
}

/// One HTTP request, and the answer that is right.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RequestEntry")]
pub struct Request {
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The content type of the body.
    pub content_type: Option<String>,
    /// The program that writes the body.
    pub body: Option<BodySource>,
    /// The status that is right.
    pub status: u16,
    /// The body that is right.
    pub answer: Answer,
}

/// A program that writes a request body to its standard output.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodySource {
    /// The binary.
    pub bin: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
}

/// The body of the right answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Any at all.
    Any,
    /// Literally this text.
    Text(String),
    /// A body too long to be written down.
    Digest {
        /// Its length in bytes.
        bytes: u64,
        /// Its CRC-32 (ISO-HDLC).
        crc32: u32,
    },
}

/// A `[[request]]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestEntry {
    #[serde(default = "get")]
    method: String,
    path: String,
    content_type: Option<String>,
    body: Option<BodySource>,
    #[serde(default = "ok")]
    status: u16,
    answer: Option<String>,
    bytes: Option<u64>,
    crc32: Option<String>,
}

impl TryFrom<RequestEntry> for Request {
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
        Ok(Self {
            method: entry.method,
            path: entry.path,
            content_type: entry.content_type,
            body: entry.body,
            status: entry.status,
            answer,
        })
    }
}

impl Case {
    /// Reads and checks a case file; the case gets the name of the file's directory.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let name =
            path.parent().and_then(Path::file_name).context("a case file has a directory")?;
        Self::parse(&name.to_string_lossy(), &text).with_context(|| path.display().to_string())
    }

    fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        let case = Self { name: name.to_owned(), ..toml::from_str(text)? };
        for needed in [BASELINE, CANDIDATE] {
            ensure!(
                case.variants.iter().any(|variant| variant == needed),
                "`variants` lacks `{needed}`"
            );
        }
        ensure!(case.load.users > 0, "`users` has to be at least 1");
        ensure!(case.load.connections > 0, "`connections` has to be at least 1");
        Ok(case)
    }
}

fn one() -> usize {
    1
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = r#"
        title = "t"
        question = "q"
        variants = ["slow", "fixed"]
        load = { users = 3000, think_ms = 500 }
        [[request]]
        path = "/read"
        answer = "6"
    "#;

    #[test]
    fn a_case_file_is_read_with_its_defaults() {
        let case = Case::parse("toy", CASE).unwrap();
        assert_eq!((case.load.users, case.load.connections), (3000, 1));
        let request = &case.requests[0];
        assert_eq!((request.method.as_str(), request.status), ("GET", 200));
        assert_eq!(request.answer, Answer::Text("6".into()));
    }

    #[test]
    fn a_case_without_its_twin_is_refused() {
        let error = Case::parse("toy", &CASE.replace("fixed", "better")).unwrap_err();
        assert_eq!(error.to_string(), "`variants` lacks `fixed`");
    }

    #[test]
    fn a_request_needs_one_right_answer() {
        let error = Case::parse("toy", &CASE.replace("answer = \"6\"", "bytes = 6")).unwrap_err();
        assert!(error.to_string().contains("needs either `answer`, or both"), "{error}");
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(Case::parse("toy", &CASE.replace("think_ms", "thinking")).is_err());
    }
}
