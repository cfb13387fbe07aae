//! The requests of a comparison without a case file, and the expected answers.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use http::uri::PathAndQuery;
use lab_load::Visitor;
use lab_model::{Answer, Ask};
use serde::Deserialize;

use crate::{Launch, Stage};

/// The requests of one visit, in this order.
#[derive(Debug, clap::Args)]
pub struct Requests {
    /// GET this path; may be given several times
    #[arg(long, value_name = "PATH")]
    pub get: Vec<String>,
    /// POST this file, to --path
    #[arg(long, value_name = "FILE")]
    pub post: Option<PathBuf>,
    /// Where --post goes
    #[arg(long, value_name = "PATH", default_value = "/", requires = "post")]
    pub path: String,
    /// Send this header with every request; may be given several times
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// A TOML file with `[[request]]` tables: path, method, headers, body (text) or body_file
    #[arg(long, value_name = "FILE")]
    pub requests: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    request: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    #[serde(default = "get")]
    method: String,
    #[serde(default)]
    headers: std::collections::BTreeMap<String, String>,
    body: Option<String>,
    body_file: Option<PathBuf>,
}

fn get() -> String {
    "GET".to_owned()
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("must be `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Requests {
    pub fn is_empty(&self) -> bool {
        self.get.is_empty() && self.post.is_none() && self.requests.is_none()
    }

    /// All requests, and a GET of each of these paths. Bodies given as text are written into `dir`.
    pub fn asks_and(&self, more: &[String], dir: &Path) -> anyhow::Result<Vec<Ask>> {
        let mut asks = Vec::new();
        for path in self.get.iter().chain(more) {
            asks.push(self.ask("GET", path, None, Vec::new()));
        }
        if let Some(file) = &self.post {
            asks.push(self.ask("POST", &self.path, Some(file.clone()), Vec::new()));
        }
        if let Some(path) = &self.requests {
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
            for entry in file.request {
                let body = match (entry.body, entry.body_file) {
                    (Some(text), None) => {
                        let file = dir.join(format!("body-{}", asks.len()));
                        std::fs::write(&file, text)?;
                        Some(file)
                    }
                    (None, file) => file,
                    _ => bail!("{}: a request has both `body` and `body_file`", path.display()),
                };
                let headers = entry.headers.into_iter().collect();
                asks.push(self.ask(&entry.method, &entry.path, body, headers));
            }
        }
        ensure!(!asks.is_empty(), "there is no request: give --get, --post or --requests");
        for ask in &asks {
            ensure!(ask.path.starts_with('/'), "the path `{}` must start with /", ask.path);
            let is_path = ask.path.parse::<PathAndQuery>().is_ok();
            ensure!(is_path, "the path `{}` has characters that must be written as %20", ask.path);
            if let Some(file) = &ask.body {
                ensure!(file.is_file(), "there is no file {}", file.display());
            }
        }
        Ok(asks)
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<PathBuf>,
        mut headers: Vec<(String, String)>,
    ) -> Ask {
        headers.extend(self.header.iter().cloned());
        Ask { method: method.to_owned(), headers, body, ..Ask::get(path, Answer::Any) }
    }
}

/// Learns the expected answers from the baseline, which is the first subject, and compares every
/// other subject's answers with them before anything is measured: a server with other answers is not
/// a faster version of the baseline. `asks` has the requests of each subject.
///
/// If the baseline answers a request differently each time, with a date or an id, only the status is
/// checked, and this returns a note about it.
pub async fn learn_answers(
    asks: &mut [Vec<Ask>],
    subjects: &[(String, Launch)],
) -> anyhow::Result<Option<String>> {
    let (baseline, others) = subjects.split_first().context("there is a baseline")?;
    let (of_baseline, of_others) = asks.split_first_mut().context("there are requests")?;
    let note = learn(of_baseline, baseline).await?;
    for (other, asks) in others.iter().zip(of_others) {
        for (ask, learned) in asks.iter_mut().zip(&*of_baseline) {
            ask.expected = learned.expected.clone();
        }
        check(other, asks).await?;
    }
    Ok(note)
}

async fn learn(
    asks: &mut [Ask],
    (name, baseline): &(String, Launch),
) -> anyhow::Result<Option<String>> {
    // Twice from one server and once from another: an answer may depend on time or on chance.
    let [first, again] = answers(baseline, asks).await?;
    let [fresh, _] = answers(baseline, asks).await?;
    let mut note = None;
    for (index, ask) in asks.iter_mut().enumerate() {
        let (status, body) = &first[index];
        ensure!(
            (200..400).contains(status),
            "the {name} answers {} with status {status}: {}",
            title(ask),
            String::from_utf8_lossy(body).chars().take(80).collect::<String>().escape_debug()
        );
        ask.expected.status = *status;
        if *body == again[index].1 && *body == fresh[index].1 {
            let (bytes, crc32) = (body.len() as u64, crc32fast::hash(body));
            ask.expected.answer = Answer::Digest { bytes, crc32 };
        } else {
            note = Some(format!(
                "the {name} answers {} differently each time, so only the status is checked",
                title(ask)
            ));
        }
    }
    Ok(note)
}

/// Fails if a subject answers its requests differently from the baseline.
async fn check((name, subject): &(String, Launch), asks: &[Ask]) -> anyhow::Result<()> {
    let [found, _] = answers(subject, asks).await?;
    for (ask, (status, body)) in asks.iter().zip(found) {
        if let Some(mismatch) = ask.expected.mismatch(status, &body) {
            let ask = title(ask);
            bail!("the {name} and the baseline answer {ask} differently: {mismatch}");
        }
    }
    Ok(())
}

fn title(ask: &Ask) -> String {
    format!("{} {}", ask.method, ask.path)
}

type Answers = Vec<(u16, Vec<u8>)>;

/// The answers of a fresh server to two visits.
async fn answers(launch: &Launch, asks: &[Ask]) -> anyhow::Result<[Answers; 2]> {
    let stage = Stage::set(launch).await?;
    let asked = async {
        let mut visitor = Visitor::open(stage.server.target(), asks).await?;
        anyhow::Ok([visitor.answers().await?, visitor.answers().await?])
    };
    let rounds = asked.await.with_context(|| launch.name.clone())?;
    stage.clear().await?;
    Ok(rounds)
}
