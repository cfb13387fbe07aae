//! The requests of a comparison without a case file, and the expected answers.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use http::{HeaderName, HeaderValue, Method, uri::PathAndQuery};
use lab_load::{Fetched, LONGEST_BODY, NO_ANSWER, TooLong, Visitor, needs_http2};
use lab_protocol::{Answer, Http2, Request, Target};
use lab_system::{err, without_secrets};
use tokio::time::{Instant, sleep};

use crate::{
    Launch, Running,
    loaded_program::LoadedProgram,
    request_file::{self, has_slots, names_of_kept, path_without_slots},
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
    /// Ask in HTTP/2 a server that also speaks HTTP/1.1; one that speaks only HTTP/2 needs no option. With 2x8, the
    /// requests of eight users are streams of one connection
    #[arg(long, value_name = "2", hide_short_help = true, value_parser = version)]
    pub http: Option<Http2>,
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

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("must be `Name: value`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Servers usually allow a client this many streams in a connection (RFC 9113, 6.5.2, recommends no fewer).
const MOST_STREAMS: usize = 100;

fn version(text: &str) -> Result<Http2, &'static str> {
    match text {
        "2" => Ok(Http2::default()),
        "1" | "1.1" => Err("without it, `lab` asks in HTTP/1.1 where a server speaks that"),
        "3" => Err(
            "`lab` speaks HTTP/1.1 and HTTP/2, over TCP, and a server with HTTP/3 also speaks one of them",
        ),
        _ => {
            let streams = text.strip_prefix("2x").and_then(|streams| streams.parse().ok());
            let streams = streams.filter(|streams| (1..=MOST_STREAMS).contains(streams));
            let http2 = streams.map(|streams| Http2 { streams });
            http2.ok_or("must be 2, or 2x8 for eight streams in each connection (100 at most)")
        }
    }
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
            requests.push(with_slots(Request::get(path, Answer::Any)));
        }
        if let [path, file] = &self.post[..] {
            let get = Request::get(path, Answer::Any);
            let post = Request { method: "POST".to_owned(), body: Some(file.into()), ..get };
            requests.push(with_slots(post));
        }
        if let Some(path) = &self.requests {
            requests.extend(request_file::read(path, dir)?);
        }
        for request in &mut requests {
            request.headers.extend(self.header.iter().cloned());
            // The headers may be the first slots of a request.
            request.has_slots |= self.header.iter().any(|(_, value)| has_slots(value, &|_| false));
        }
        ensure!(!requests.is_empty(), "there is no request: give --get, --post or --requests");
        ensure!(
            requests.iter().any(|request| !request.once),
            "every request is sent only `once`: there is nothing left to measure"
        );
        requests.iter().try_for_each(|request| ensure_valid(request, &names_of_kept(&requests)))?;
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
        let wanted =
            Wanted { pause, is_first, longest: LONGEST_ANSWER, http2: launch.http2.or(self.http) };
        let rounds = rounds(launch, requests, wanted).await;
        rounds.map_err(|error| {
            if !error.is::<TooLong>() {
                return error;
            }
            anyhow!("{error:#}\n  ask for less")
        })
    }
}

/// The request, whose slots are those of its path.
fn with_slots(request: Request) -> Request {
    Request { has_slots: has_slots(&request.path, &|_| false), ..request }
}

/// Fails if HTTP doesn't allow a part of the request. `kept`: the names of all values that are kept.
fn ensure_valid(request: &Request, kept: &BTreeSet<String>) -> anyhow::Result<()> {
    let Request { method, path, headers, .. } = request;
    let shown = without_secrets(path);
    ensure!(path.starts_with('/'), "the path `{shown}` must start with /");
    let filled = path_without_slots(request, kept);
    let is_path = filled.parse::<PathAndQuery>().is_ok();
    ensure!(is_path, "the path {shown:?} {}", not_allowed(&filled));
    ensure!(method.parse::<Method>().is_ok(), "{method:?} is no method of HTTP, such as GET");
    for (name, value) in headers {
        let is_header = name.parse::<HeaderName>().is_ok() && HeaderValue::from_str(value).is_ok();
        ensure!(is_header, "the header {name:?} has a character that HTTP doesn't allow in it");
    }
    Ok(())
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
    /// The protocol of the answers.
    pub http2: Option<Http2>,
}

/// How a fresh server is asked.
#[derive(Clone, Copy)]
struct Wanted {
    /// How long to wait between the visits.
    pause: Duration,
    /// Whether to print where this server was found.
    is_first: bool,
    /// The most bytes that a body may have.
    longest: u64,
    /// HTTP/2 at once, and not only if the server speaks no HTTP/1.1.
    http2: Option<Http2>,
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
    let wanted = Wanted { pause, is_first, longest: LONGEST_BODY, http2: None };
    Ok(rounds(launch, requests, wanted).await?.rounds)
}

async fn rounds(launch: &Launch, requests: &[Request], wanted: Wanted) -> anyhow::Result<Asked> {
    Running::ask(launch, async |running| {
        if let Some(listener) = running.server.listener().filter(|_| wanted.is_first) {
            err!("  {:<10} {listener}", launch.name);
        }
        let asked = async |http2| {
            let target = Target { http2, ..running.server.target() };
            let mut visitor = Visitor::open_within(target, requests, launch.patience()).await?;
            let began = Instant::now();
            let first = visitor.answers_up_to(wanted.longest).await?;
            let first_took = began.elapsed();
            sleep(wanted.pause).await;
            let began = Instant::now();
            let again = visitor.answers_up_to(wanted.longest).await?;
            let (rounds, takes) = ([first, again], began.elapsed().min(first_took));
            // After an answer, all that it needs is loaded.
            let (complaints, program) = (running.server.complaints(), running.server.program());
            anyhow::Ok(Asked { rounds, takes, complaints, program, http2 })
        };
        let answers = match asked(wanted.http2).await {
            Err(error) if needs_http2(&error) => {
                if wanted.is_first {
                    err!("  {:<10} speaks HTTP/2, and no HTTP/1.1", "");
                }
                asked(Some(Http2::default())).await
            }
            answers => answers,
        };
        let error = match answers {
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
