//! `lab triage`: what limits a server, in a minute.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use http::Uri;
use lab_measure::watch::{ServerUnderLoad, topic};
use lab_observation::{Observations, Topic};
use lab_pictures::draw_page;
use lab_profile::Profilers;
use lab_protocol::{Load, Note, Objective};
use lab_report::{noted, paragraph, planned};
use lab_servers::{Launch, Scratch, Subject, current};
use lab_system::{Build, Output, Progress, err, out, without_secrets};
use lab_triage::{Card, Rules, Triage};
use serde_json::json;

use super::{
    Places,
    command_name::{directory, short, title},
    interrupted, interruptible,
    server_options::OwnServer,
    sides::requests_below,
};

/// Puts load on one server for about a minute and says what limits it, and what to suspect first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab triage './target/release/my-server' --get /users
  lab triage './target/release/my-server' --get /users --objective 'p99 < 50 ms'
  lab triage './target/release/my-server' --get / --get /report   # which costs most?
  lab triage 'node server.js' --port-env PORT --get / --get /news
  lab triage 'java Main' --port 8080 --post /orders order.json
  lab triage --url http://127.0.0.1:8080/users
  lab triage lock-scope-slow

Exit code: 0 with or without suspects, 2 after an error.")]
pub struct Options {
    /// The command that starts the server; or the server of a case, which needs no --get
    #[arg(value_name = "CMD", required_unless_present = "url")]
    pub command: Option<String>,
    /// Instead of a command: the URL of a server that runs already on this machine; a path in it goes before --get
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "port", "port_env", "port_arg", "ready"])]
    pub url: Option<Uri>,
    #[command(flatten)]
    pub server: OwnServer,
    /// Find the highest rate of random arrivals at which this holds: 'p99 < 50 ms'
    ///
    /// It takes one to two minutes more. The percentile is p50, p90, p99 or p99.9, the unit s, ms or us.
    #[arg(long, value_name = "OBJECTIVE")]
    pub objective: Option<Objective>,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Print all costs, functions, suspects and notes, instead of one screen
    #[arg(short, long)]
    pub verbose: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// The triage chooses its own loads.
const ALONE: Load = Load { users: 1, think_ms: 0, connections: 1 };

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let Some(page) = interruptible(examine(places, options))? else {
        return Ok(interrupted("nothing was written"));
    };
    if options.open {
        super::open(&page);
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures and reports; returns the path of the page.
async fn examine(places: &Places, options: &Options) -> anyhow::Result<PathBuf> {
    let url = options.url.as_ref().map(|url| without_secrets(&url.to_string()));
    let server = options.command.clone().or_else(|| url.clone()).context("there is a server")?;
    let name = url.clone().unwrap_or_else(|| title(&server));
    let results = places.results()?.join("triage");
    let output = Output::begin(results.join(directory(&server)))?;
    let scratch = Scratch::within(&results)?;
    let progress = Progress::new(&url.clone().unwrap_or_else(|| short(&server)));
    let (servers, notes) = servers(places, options, [&name, &server], scratch.path()).await?;
    let topic = Topic { load: Triage::load(), ..topic(&name, &servers)? };
    let server = servers.first().context("there is a server")?;
    let profilers = Profilers::look(lab_system::System::this(), false);
    let flamegraph = places.flamegraph()?;
    let triage = Triage {
        server,
        objective: options.objective,
        profilers: &profilers,
        scratch: scratch.path(),
        progress: &progress,
    };
    err!("{}", paragraph(&format!("measuring for about {}", planned(triage.length()))));
    let measured = triage.run().await?;
    progress.step("drawing");
    let card = Card::new(
        &name,
        server.requests.iter().filter(|request| !request.once).count(),
        &measured,
        &Rules::read()?,
    );
    let seen = Observations::of_one(measured.profiler, measured.observation);
    let mut page = draw_page(&topic, &seen, &output, flamegraph.as_deref())?;
    page.title = format!("What limits {name}?");
    card.add_to(&mut page);
    output.write("triage.json", &(serde_json::to_string_pretty(&card)? + "\n"))?;
    page.files.push("triage.json".to_owned());
    output.write("index.html", &page.html())?;
    drop(progress);
    let path = output.finish()?.join("index.html");
    show(card, &notes, &path, options);
    Ok(path)
}

/// The server to examine, which is the only one in the list, with notes about its answers.
async fn servers(
    places: &Places,
    options: &Options,
    [name, server]: [&str; 2],
    scratch: &Path,
) -> anyhow::Result<(Vec<ServerUnderLoad>, Vec<Note>)> {
    let requests = &options.server.requests;
    let subjects = match (&options.url, of_case(places, server).await?) {
        (Some(url), _) => vec![running(name, url, options, scratch).await?],
        (None, Some(of_case)) => {
            ensure!(requests.is_empty(), "{server} has the requests of its case: leave out yours");
            return Ok((vec![of_case], Vec::new()));
        }
        (None, None) => options.server.subjects(&[("server", server)], scratch)?,
    };
    ServerUnderLoad::with_answers(subjects, ALONE, requests).await
}

/// Prints the card as text or JSON, and where its page is.
fn show(card: Card, notes: &[Note], page: &Path, options: &Options) {
    if options.json {
        notes.iter().for_each(|note| err!("{}", noted(note)));
        let mut document = json!(card);
        document["page"] = json!(page);
        out!("{document}");
    } else {
        let card = card.with_notes(notes);
        let width = usize::from(console::Term::stdout().size().1);
        out!("{}", if options.verbose { card.text(width) } else { card.screen() });
    }
    err!("  Page        {}", lab_report::path(page));
}

/// A server that runs already. It has to be on this machine, where its process can be watched.
async fn running(name: &str, url: &Uri, options: &Options, dir: &Path) -> anyhow::Result<Subject> {
    let target = lab_load::resolve(url).await?;
    ensure!(
        target.address.ip().is_loopback(),
        "{name} is not on loopback: run `lab triage` on its machine, with a URL such as http://127.0.0.1:8080"
    );
    let requests = &options.server.requests;
    let requests = requests_below(url, requests, &[], dir)?;
    let patience = Some(options.server.patience());
    let launch = Launch { patience, ..Launch::running("server", url.clone(), target) };
    Ok(Subject::new("server", launch, requests))
}

/// The server of a case with this name, and the case's requests.
async fn of_case(places: &Places, server: &str) -> anyhow::Result<Option<ServerUnderLoad>> {
    let Ok(workspace) = places.workspace() else { return Ok(None) };
    let Some((case, variant)) = workspace.server_named(server)? else { return Ok(None) };
    let wanted = [(&case, vec![variant.clone()])];
    places
        .build_unless_given(Build::unknown(), current::build_ordinary(&workspace, &wanted))
        .await?;
    ServerUnderLoad::of_case(&workspace, &case, &variant).map(Some)
}
