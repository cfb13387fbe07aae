//! The requests of a comparison without a case file, and the expected answers.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use http::{HeaderName, HeaderValue, Method, uri::PathAndQuery};
use lab_load::{Fetched, LONGEST_BODY, TooLong, Visitor};
use lab_model::{Answer, Ask, Kind, Note};
use lab_system::{err, read_file, without_secrets};
use serde::Deserialize;
use tokio::time::sleep;

use crate::{Launch, Running, Subject};

/// The requests of one visit, in this order.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requests")]
pub struct Requests {
    /// GET this path; may be given several times
    #[arg(long, value_name = "PATH")]
    pub get: Vec<String>,
    /// POST this file, to --path
    #[arg(long, value_name = "FILE")]
    pub post: Option<PathBuf>,
    /// Where --post goes
    #[arg(
        long,
        value_name = "PATH",
        default_value = "/",
        requires = "post",
        hide_short_help = true
    )]
    pub path: String,
    /// Send this header with every request; may be given several times
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// A TOML file with `[[request]]` tables: path, method, headers, body (text) or body_file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub requests: Option<PathBuf>,
    /// What has to be the same on both sides, and on each answer under load: the whole body, or less
    #[arg(long, value_enum, default_value_t, hide_short_help = true)]
    pub compare: Compare,
    /// The longest body that an answer may have, in MiB
    #[arg(long, value_name = "MIB", default_value_t = LONGEST_BODY >> 20, hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub max_body: u64,
}

/// How answers are compared. The status always is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum Compare {
    /// The status alone; redirects are answers like any other
    Status,
    /// The length of the body, and its content type without parameters
    Length,
    /// The body and its content type; of a body that is never the same twice, its length
    #[default]
    Body,
}

/// The most that the bodies of all requests may have together, in bytes.
const LONGEST_BODIES: u64 = 64 << 20;
/// Longer than the second in which a date does not change.
const A_WHILE: Duration = Duration::from_millis(1_100);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestsFile {
    request: Vec<FileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
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
            let text = read_file(path)?;
            let file: RequestsFile =
                toml::from_str(&text).with_context(|| path.display().to_string())?;
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
            let path = without_secrets(&ask.path);
            ensure!(ask.path.starts_with('/'), "the path `{path}` must start with /");
            let is_path = ask.path.parse::<PathAndQuery>().is_ok();
            ensure!(is_path, "the path {path:?} {}", not_allowed(&ask.path));
            let method = &ask.method;
            let is_method = method.parse::<Method>().is_ok();
            ensure!(is_method, "{method:?} is no method of HTTP, such as GET");
            for (name, value) in &ask.headers {
                let is_header =
                    name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(value).is_ok();
                ensure!(
                    is_header,
                    "the header {name:?} has a character that HTTP doesn't allow in it"
                );
            }
        }
        ensure_readable(asks.iter().filter_map(|ask| ask.body.as_deref()))?;
        Ok(asks)
    }

    /// The answers to two visits, as [`answers`], with bodies as long as the user permits.
    async fn answers(
        &self,
        launch: &Launch,
        asks: &[Ask],
        pause: Duration,
        is_first: bool,
    ) -> anyhow::Result<[Vec<Fetched>; 2]> {
        let rounds = rounds(launch, asks, pause, is_first, self.max_body << 20).await;
        rounds.map_err(|error| {
            if !error.is::<TooLong>() {
                return error;
            }
            anyhow!("{error:#}\n  ask for less, or permit more with --max-body")
        })
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

/// Fails if a body is no file, or if all of them are too long: `lab` and its generator both keep them.
fn ensure_readable<'a>(mut bodies: impl Iterator<Item = &'a Path>) -> anyhow::Result<()> {
    bodies.try_fold(0, |before, file| {
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file);
        let about = about.with_context(|| format!("there is no file {}", file.display()))?;
        let bytes: u64 = before + about.len();
        let limit = LONGEST_BODIES >> 20;
        ensure!(
            bytes <= LONGEST_BODIES,
            "with {}, the bodies of the requests have more than {limit} MiB: send a shorter one",
            file.display()
        );
        Ok(bytes)
    })?;
    Ok(())
}

/// What is wrong with a path that HTTP doesn't allow.
fn not_allowed(path: &str) -> String {
    // Other characters are allowed in the query than before it.
    let prefix = |at: usize| if path[..at].contains('?') { "/?" } else { "/" };
    let wrong =
        |(at, it): &(usize, char)| format!("{}{it}", prefix(*at)).parse::<PathAndQuery>().is_err();
    match path.char_indices().find(wrong) {
        Some((_, it)) => {
            let codes =
                it.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
            format!("has a character that must be encoded: write {it:?} as {codes}")
        }
        None => "is too long".to_owned(),
    }
}

/// Learns the expected answers from the baseline, which is the first subject, and compares every
/// other subject's answers with them before anything is measured: a server with other answers is not
/// a faster version of the baseline.
///
/// Returns what is not checked under load.
pub async fn learn_answers(
    subjects: &mut [Subject],
    requests: &Requests,
) -> anyhow::Result<Vec<Note>> {
    let (baseline, others) = subjects.split_first_mut().context("there is a baseline")?;
    let (types, notes) = learn(baseline, requests).await?;
    for other in others {
        for (ask, learned) in other.asks.iter_mut().zip(&baseline.asks) {
            ask.expected = learned.expected.clone();
        }
        check(other, &types, requests).await?;
    }
    Ok(notes)
}

/// Returns the content type of each answer, and what is not checked.
async fn learn(
    baseline: &mut Subject,
    requests: &Requests,
) -> anyhow::Result<(Vec<Option<String>>, Vec<Note>)> {
    let &Requests { compare, .. } = requests;
    let Subject { name, launch, asks, .. } = baseline;
    // Twice from one server and once from another: an answer may depend on time or on chance.
    let [first, again] = requests.answers(launch, asks, A_WHILE, true).await?;
    let [fresh, _] = requests.answers(launch, asks, Duration::ZERO, false).await?;
    let (mut types, mut notes) = (Vec::new(), Vec::new());
    for (index, ask) in asks.iter_mut().enumerate() {
        let Fetched { status, body, .. } = &first[index];
        if (300..400).contains(status) && compare != Compare::Status {
            let location = first[index].header("location").unwrap_or_default();
            bail!(
                "the {name} answers {} with a redirect ({status}) to `{}`: ask for that path, or send \
                 what it wants with --header; --compare status measures the redirect itself",
                title(ask),
                without_secrets(&location).escape_debug()
            );
        }
        ensure!(
            (200..400).contains(status),
            "the {name} answers {} with status {status}{}",
            title(ask),
            start(body)
        );
        ask.expected.status = *status;
        types.push(first[index].header("content-type"));
        let bodies = [body, &again[index].body, &fresh[index].body];
        let is_constant = bodies.iter().all(|other| *other == body);
        let (from, to) = about(bodies.map(|body| body.len() as u64), compare);
        ask.expected.answer = match compare {
            Compare::Status => Answer::Any,
            Compare::Body if is_constant => {
                Answer::Digest { bytes: body.len() as u64, crc32: crc32fast::hash(body) }
            }
            Compare::Body | Compare::Length => Answer::Length { from, to },
        };
        let request = title(ask);
        let kind = match compare {
            Compare::Body if is_constant => continue,
            Compare::Body => Kind::AnswersVary { request, from, to },
            Compare::Length => Kind::OnlyLength { request, from, to },
            Compare::Status => Kind::OnlyStatus { request },
        };
        notes.push(Note::of(name, kind));
    }
    Ok((types, notes))
}

/// The start of a body, as the end of an error message.
fn start(body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(body).chars().take(80).collect();
    if text.is_empty() { text } else { format!(": {}", text.escape_debug()) }
}

/// The lengths to accept, from three that were seen: a number in a body gains digits, and a list may
/// be far longer than those three.
fn about(mut lengths: [u64; 3], compare: Compare) -> (u64, u64) {
    lengths.sort_unstable();
    match lengths {
        [least, _, most] if least < most => (least / 2, most * 2 + 8),
        [length, ..] if compare == Compare::Length => (length, length),
        [length, ..] => (length * 3 / 4, length * 5 / 4 + 8),
    }
}

/// Fails if a subject answers its requests differently from the baseline.
async fn check(
    Subject { name, launch, asks, .. }: &Subject,
    types: &[Option<String>],
    requests: &Requests,
) -> anyhow::Result<()> {
    let [found, _] = requests.answers(launch, asks, Duration::ZERO, true).await?;
    for ((ask, answer), of_baseline) in asks.iter().zip(found).zip(types) {
        let of_candidate = answer.header("content-type");
        let mismatch = ask.expected.mismatch(answer.status, &answer.body).or_else(|| {
            let [one, other] = [&of_candidate, of_baseline]
                .map(|it| compared_type(it.as_deref(), requests.compare));
            (one != other).then(|| format!("content-type {one} instead of {other}"))
        });
        if let Some(mismatch) = mismatch {
            let ask = title(ask);
            bail!(
                "the {name} and the baseline answer {ask} differently: {mismatch}\n  if that is no fault, \
                 `--compare length` or `--compare status` checks less"
            );
        }
    }
    Ok(())
}

/// The part of a content type that has to be the same on both sides. Parameters, such as a version, may differ
/// if the bodies may.
fn compared_type(of: Option<&str>, compare: Compare) -> String {
    let whole = of.unwrap_or("none");
    let part = match compare {
        Compare::Status => "",
        Compare::Length => whole.split(';').next().unwrap_or(whole).trim(),
        Compare::Body => whole,
    };
    part.escape_debug().to_string()
}

fn title(ask: &Ask) -> String {
    format!("{} {}", ask.method, without_secrets(&ask.path))
}

/// The answers of a fresh server to two visits, with a pause between them. `is_first`: it prints where
/// this server was found.
pub async fn answers(
    launch: &Launch,
    asks: &[Ask],
    pause: Duration,
    is_first: bool,
) -> anyhow::Result<[Vec<Fetched>; 2]> {
    rounds(launch, asks, pause, is_first, LONGEST_BODY).await
}

async fn rounds(
    launch: &Launch,
    asks: &[Ask],
    pause: Duration,
    is_first: bool,
    longest: u64,
) -> anyhow::Result<[Vec<Fetched>; 2]> {
    Running::ask(launch, async |running| {
        if let Some(listener) = running.server.listener().filter(|_| is_first) {
            err!("  {:<10} {listener}", launch.name);
        }
        let asked = async {
            let mut visitor = Visitor::open(running.server.target(), asks).await?;
            let first = visitor.answers_up_to(longest).await?;
            sleep(pause).await;
            anyhow::Ok([first, visitor.answers_up_to(longest).await?])
        };
        asked.await.with_context(|| launch.name.clone())
    })
    .await
}
