//! The requests of a comparison without a case file, and the expected answers.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use http::{HeaderName, HeaderValue, Method, uri::PathAndQuery};
use lab_load::{Fetched, LONGEST_BODY, NO_ANSWER, TooLong, Visitor};
use lab_protocol::{Answer, Keep, Request, RequestSlot, Target, Template, fill};
use lab_system::{err, read_file, without_secrets};
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use crate::{
    Launch, Running,
    har::{RecordedRequest, recorded},
    loaded_program::LoadedProgram,
};

/// The requests of one visit, in this order.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Requests")]
pub struct RequestOptions {
    /// GET this path; may be given several times
    #[arg(long, value_name = "PATH")]
    pub get: Vec<String>,
    /// POST this file to this path
    #[arg(long, num_args = 2, value_names = ["PATH", "FILE"])]
    pub post: Vec<String>,
    /// Send this header with every request; may be given several times
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// A TOML file with `[[request]]` tables: path, method, headers, body or body_file, keep, once; or a browser's .har
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub requests: Option<PathBuf>,
    /// What has to be the same on both sides, and on each answer under load: the whole body, or less
    #[arg(long, value_enum, default_value_t, hide_short_help = true)]
    pub compare: Compare,
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

/// The longest body of an answer that is compared: several are kept. Under load, none is.
pub const LONGEST_ANSWER: u64 = 256 << 20;
/// The most that the bodies of all requests may have together, in bytes.
const LONGEST_BODIES: u64 = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestsFile {
    request: Vec<toml::Spanned<FileEntry>>,
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
    /// What the user keeps of the answer: a name, and where it is.
    #[serde(default)]
    keep: std::collections::BTreeMap<String, Keep>,
    /// Whether each user sends it only once, before its first visit.
    #[serde(default)]
    once: bool,
}

fn get() -> String {
    "GET".to_owned()
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("must be `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl RequestOptions {
    pub fn is_empty(&self) -> bool {
        self.get.is_empty() && self.post.is_empty() && self.requests.is_none()
    }

    /// All requests, and a GET of each of these paths. Bodies given as text are written into `dir`.
    ///
    /// # Errors
    ///
    /// If the file of requests cannot be read, if there is no request, or if one is invalid.
    pub fn all(&self, more: &[String], dir: &Path) -> anyhow::Result<Vec<Request>> {
        let mut requests = Vec::new();
        for path in self.get.iter().chain(more) {
            requests.push(self.request("GET", path, None, Vec::new()));
        }
        if let [path, file] = &self.post[..] {
            requests.push(self.request("POST", path, Some(file.into()), Vec::new()));
        }
        if let Some(path) = self.requests.as_ref().filter(|path| is_har(path)) {
            let recorded = recorded(&read_file(path)?).with_context(|| path.display().to_string())?;
            for RecordedRequest { method, path, headers, body } in recorded {
                let file = body.as_ref().map(|_| dir.join(format!("body-{}", requests.len())));
                if let (Some(file), Some(text)) = (&file, body) {
                    std::fs::write(file, text)?;
                }
                // What was recorded is sent as it is.
                let request = self.request(&method, &path, file, headers);
                requests.push(Request { has_slots: false, ..request });
            }
        } else if let Some(path) = &self.requests {
            let text = read_file(path)?;
            let file: RequestsFile =
                toml::from_str(&text).with_context(|| path.display().to_string())?;
            let keeps = file.request.iter().flat_map(|entry| entry.get_ref().keep.keys().cloned());
            let keeps: BTreeSet<_> = keeps.collect();
            for entry in file.request {
                let line = 1 + text[..entry.span().start].matches('\n').count();
                let number = requests.len();
                let request = self.of_file(entry.into_inner(), &dir.join(format!("body-{number}")), &keeps);
                requests.push(request.with_context(|| format!("{}:{line}", path.display()))?);
            }
        }
        ensure!(!requests.is_empty(), "there is no request: give --get, --post or --requests");
        let keeps = requests.iter().flat_map(|request| request.keep.keys().cloned()).collect();
        ensure!(
            requests.iter().any(|request| !request.once),
            "every request is sent only `once`: there is nothing left to measure"
        );
        for request in &requests {
            let path = without_secrets(&request.path);
            ensure!(request.path.starts_with('/'), "the path `{path}` must start with /");
            let filled = without_slots(request, &keeps);
            let is_path = filled.parse::<PathAndQuery>().is_ok();
            ensure!(is_path, "the path {path:?} {}", not_allowed(&filled));
            let method = &request.method;
            let is_method = method.parse::<Method>().is_ok();
            ensure!(is_method, "{method:?} is no method of HTTP, such as GET");
            for (name, value) in &request.headers {
                let is_header =
                    name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(value).is_ok();
                ensure!(
                    is_header,
                    "the header {name:?} has a character that HTTP doesn't allow in it"
                );
            }
        }
        ensure_readable(requests.iter().filter_map(|request| request.body.as_deref()))?;
        Ok(requests)
    }

    /// The answers as from [`answers`], also with long bodies, and how long a visit takes.
    pub(super) async fn answers(
        &self,
        launch: &Launch,
        requests: &[Request],
        pause: Duration,
        is_first: bool,
    ) -> anyhow::Result<Asked> {
        let rounds = rounds(launch, requests, pause, is_first, LONGEST_ANSWER).await;
        rounds.map_err(|error| {
            if !error.is::<TooLong>() {
                return error;
            }
            anyhow!("{error:#}\n  ask for less")
        })
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<PathBuf>,
        mut headers: Vec<(String, String)>,
    ) -> Request {
        headers.extend(self.header.iter().cloned());
        let request =
            Request { method: method.to_owned(), headers, body, ..Request::get(path, Answer::Any) };
        Request { has_slots: has_slots(&request, None, &|_| false), ..request }
    }

    /// The request of a table in a file of requests, whose answers leave values with these names. A body that is given
    /// as text is written into `file`.
    fn of_file(
        &self,
        entry: FileEntry,
        file: &Path,
        keeps: &BTreeSet<String>,
    ) -> anyhow::Result<Request> {
        let text = entry.body;
        let body = match (&text, entry.body_file) {
            (Some(text), None) => {
                std::fs::write(file, text)?;
                Some(file.to_owned())
            }
            (None, file) => file,
            _ => bail!("a request has both `body` and `body_file`"),
        };
        let headers = entry.headers.into_iter().collect();
        let request = self.request(&entry.method, &entry.path, body, headers);
        let has_slots = has_slots(&request, text.as_deref(), &|name| keeps.contains(name));
        let request = Request { has_slots, keep: entry.keep, once: entry.once, ..request };
        ensure!(!request.keep.contains_key("id"), "`{{id}}` is a new number: keep the value under another name");
        // A value that nothing leaves would be sent as its name in braces.
        let is_name = |inner: &str| inner.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let named = |inner: &str| Ok::<_, Infallible>(is_name(inner).then(|| inner.to_owned()));
        let Ok(unknown) = Template::parse(&without_slots(&request, keeps), named);
        if let Some(name) = unknown.slots().next() {
            bail!(
                "{} {}: no request keeps a value as `{name}`; a slot is {{id}}, {{1..99}}, {{a|b}}, {{line of FILE}} or \
                 the name of what is kept",
                request.method,
                request.path
            );
        }
        Ok(request)
    }
}

/// Whether a file has a browser's requests.
fn is_har(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("har"))
}

/// Whether a request has slots: in its path, in its headers, or in a body that was given as text. A file is sent as it is,
/// unless there is a slot before it.
fn has_slots(request: &Request, body: Option<&str>, keeps: &dyn Fn(&str) -> bool) -> bool {
    let texts = [request.path.as_str()].into_iter().chain(body);
    let mut texts = texts.chain(request.headers.iter().map(|(_, value)| &**value));
    texts.any(|text| {
        let template = Template::parse(text, |inner| RequestSlot::parse(inner, keeps));
        // A file of lines that can't be read is an error later.
        template.map_or(true, |template| template.slots().next().is_some())
    })
}

/// The path with a word in each of its slots. `keeps`: the names of all values that are kept.
fn without_slots(request: &Request, keeps: &BTreeSet<String>) -> String {
    if !request.has_slots {
        return request.path.clone();
    }
    fill(&request.path, |inner| {
        let slot = RequestSlot::parse(inner, |name| keeps.contains(name));
        slot.map_or(true, |slot| slot.is_some()).then(|| "0".to_owned())
    })
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

/// An error message for a path that HTTP doesn't allow.
fn not_allowed(path: &str) -> String {
    // Other characters are allowed in the query than before it.
    let prefix = |at: usize| if path[..at].contains('?') { "/?" } else { "/" };
    for (at, character) in path.char_indices() {
        if format!("{}{character}", prefix(at)).parse::<PathAndQuery>().is_err() {
            let mut codes = String::new();
            for byte in character.to_string().bytes() {
                codes += &format!("%{byte:02X}");
            }
            return format!("has a character that must be encoded: write {character:?} as {codes}");
        }
    }
    "is too long".to_owned()
}

/// The answers of a fresh server.
pub struct Asked {
    /// The server's answers to two visits.
    pub rounds: [Vec<Fetched>; 2],
    /// How long the shorter one took: the first begins the server's work, and a pause of the machine makes one long.
    pub takes: Duration,
    /// Lines that the server printed at its start about something that it lacks.
    pub complaints: Vec<String>,
    /// What ran; `None` if it can't be seen.
    pub program: Option<LoadedProgram>,
}

/// The answers of a fresh server to two visits, with a pause between them. `is_first`: it prints where
/// this server was found.
///
/// # Errors
///
/// If the server cannot be started, or if no complete answer comes in time.
pub async fn answers(
    launch: &Launch,
    requests: &[Request],
    pause: Duration,
    is_first: bool,
) -> anyhow::Result<[Vec<Fetched>; 2]> {
    Ok(rounds(launch, requests, pause, is_first, LONGEST_BODY).await?.rounds)
}

async fn rounds(
    launch: &Launch,
    requests: &[Request],
    pause: Duration,
    is_first: bool,
    longest: u64,
) -> anyhow::Result<Asked> {
    Running::ask(launch, async |running| {
        if let Some(listener) = running.server.listener().filter(|_| is_first) {
            err!("  {:<10} {listener}", launch.name);
        }
        let asked = async {
            let (target, patience) = (running.server.target(), launch.patience());
            let mut visitor = Visitor::open_within(target, requests, patience).await?;
            let began = Instant::now();
            let first = visitor.answers_up_to(longest).await?;
            let first_took = began.elapsed();
            sleep(pause).await;
            let began = Instant::now();
            let again = visitor.answers_up_to(longest).await?;
            let (rounds, takes) = ([first, again], began.elapsed().min(first_took));
            // After an answer, all that it needs is loaded.
            let (complaints, program) = (running.server.complaints(), running.server.program());
            anyhow::Ok(Asked { rounds, takes, complaints, program })
        };
        let error = match asked.await {
            Ok(answers) => return Ok(answers),
            Err(error) => error,
        };
        let Target { address, tls, .. } = running.server.target();
        let error = if tls.is_none() && lab_load::speaks_tls(address).await {
            anyhow!(lab_load::IN_TLS)
        } else if format!("{error:#}").contains(NO_ANSWER) {
            anyhow!("{error:#}\n  --patience N waits for N seconds")
        } else {
            error
        };
        Err(error.context(launch.name.clone()))
    })
    .await
}
