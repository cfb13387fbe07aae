//! `lab flame`: pictures of where the time goes, before and after.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use console::style;
use lab_cases::{Case, FIXED, MINE, SLOW};
use lab_measure::watch::{FlameSession, ServerUnderLoad, ensure_it_uses_malloc};
use lab_observation::{Profiler, Unwinder};
use lab_pictures::{PicturePage, draw_page, meta};
use lab_profile::{Heaptrack, Profilers};
use lab_protocol::{Exhibit, Note, NoteKind};
use lab_report::{Cell, Table, heading, paragraph, render_notes, time_ms};
use lab_servers::{
    Scratch, Subject, current,
    instrumented::{self, Instrumentation},
};
use lab_system::{Build, Output, Progress, err, out};

use super::{
    Places, all_results,
    command_name::{directory, short, title},
    flame_summary, interrupted, interruptible,
    server_options::{OwnLoad, OwnServer},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lab flame hot-clone --open
  lab flame --exec ./target/release/my-server --get /users
  lab flame --exec ./my-server --get /users --spans trace.json
  lab flame --exec ./old --exec ./new --get /users
  lab flame --exec ./my-server --get /users --allocations   # what holds the memory that grows?

A server of your own shows the names of its functions if it was built with
`[profile.release] debug = \"line-tables-only\"`.

After each recording, the server gets random arrivals for as long, and for 5 s at
most: the line `tail` says why the slowest hundredth of them is slow.")]
pub struct Options {
    /// The cases; none, or `all`, for all of them
    pub cases: Vec<String>,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// How many seconds to record each server [default: 5, or longer for a slow one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=60))]
    pub seconds: Option<u64>,
    /// Use this profiler instead of the best one that works here
    #[arg(long, value_name = "NAME", value_parser = profiler())]
    pub profiler: Option<Profiler>,
    /// How `perf` finds callers, instead of the way that suits the server's language
    #[arg(long, value_name = "HOW", value_enum)]
    pub call_graph: Option<Unwinder>,
    /// Instead of cases: the command of your own server; given twice, both are drawn on one scale
    #[arg(long, value_name = "CMD", num_args = 1, conflicts_with = "cases")]
    pub exec: Vec<String>,
    /// With --exec: draw the spans that the server writes to this file with `tracing-chrome`
    #[arg(long, value_name = "FILE", requires = "exec", conflicts_with = "cases")]
    pub spans: Option<PathBuf>,
    /// With --exec: also show which stacks keep memory after the requests, with `heaptrack`, in two more runs
    #[arg(long, requires = "exec", conflicts_with = "cases")]
    pub allocations: bool,
    /// Print all tables and notes, instead of one screen
    #[arg(short, long)]
    pub verbose: bool,
    /// With --exec: what is asked, and how the server is reached.
    #[command(flatten)]
    pub server: OwnServer,
    /// With --exec: its load.
    #[command(flatten)]
    pub load: OwnLoad,
}

fn profiler() -> impl TypedValueParser<Value = Profiler> {
    let names =
        Profilers::all().map(|profiler| PossibleValue::new(profiler.name).help(profiler.label));
    let named = |name: String| Profilers::all().find(|profiler| profiler.name == name);
    PossibleValuesParser::new(names).try_map(move |name| named(name).context("no such profiler"))
}

fn profilers(options: &Options, has_sampler: bool) -> Profilers {
    let mut found = Profilers::look(lab_system::System::this(), has_sampler);
    found.unwinder = options.call_graph;
    found
}

/// How long a server is recorded that isn't slow.
const USUAL_SECONDS: u64 = 5;
/// The value of `cases` that means all cases.
const ALL: &str = "all";

pub fn run(places: &Places, options: &Options) -> anyhow::Result<ExitCode> {
    let drawing = async {
        if options.exec.is_empty() {
            cases(places, options).await
        } else {
            own(places, options).await.map(|page| vec![page])
        }
    };
    let Some(pages) = interruptible(drawing)? else {
        return Ok(interrupted("nothing was written"));
    };
    for page in pages.iter().filter(|_| options.open) {
        super::open(page);
    }
    Ok(ExitCode::SUCCESS)
}

/// A page a case; returns their paths.
async fn cases(places: &Places, options: &Options) -> anyhow::Result<Vec<PathBuf>> {
    let ordinary = places.workspace()?;
    let names = if options.cases.iter().any(|name| name == ALL) { &[] } else { &options.cases[..] };
    let cases = ordinary.cases_with_mine(names)?;
    let build = async |instrumentation, cases: &[Case]| {
        let build = instrumented::build_instrumented(&ordinary, cases, instrumentation);
        places.build_unless_given(ordinary.clone(), build).await
    };
    let workspace = build(Instrumentation::Spans, &cases).await?;
    let allocating = cases.iter().filter(|case| case.flame.contains(&Exhibit::Allocations));
    let allocating: Vec<_> = allocating.cloned().collect();
    let sampling = match &allocating[..] {
        [] => None,
        cases => Some(build(Instrumentation::Heap, cases).await?),
    };
    // Read now, since the next commit may come while the servers are watched.
    let built = async { Ok(current::of_checkout(&ordinary)) };
    let built = places.build_unless_given(Build::unknown(), built).await?;
    let profilers = profilers(options, true);
    let flamegraph = places.flamegraph()?;
    let results = ordinary.results().join("flame");
    let mut pages = Vec::new();
    let see_all = async {
        for case in &cases {
            let sampling = sampling.as_ref().filter(|_| case.flame.contains(&Exhibit::Allocations));
            let has_mine = case.variants.iter().any(|variant| variant == MINE);
            let variants = [SLOW, if has_mine { MINE } else { FIXED }].map(str::to_owned);
            let mut servers = Vec::new();
            for variant in &variants {
                servers.push(ServerUnderLoad::of_case(&workspace, case, variant)?);
            }
            let session = FlameSession::of_case(case, servers, sampling, built.clone())?;
            // Published pages are those of the case's own variants.
            let dir = results.join(if has_mine { case.server(MINE) } else { case.name.clone() });
            pages.push(draw(&session, &[], &profilers, flamegraph.as_deref(), options, dir).await?);
        }
        anyhow::Ok(())
    };
    let seen = see_all.await;
    // Also with the pages before an error.
    if let Some(line) = all_results::renew(&ordinary) {
        out!("{line}");
    }
    seen.map(|()| pages)
}

/// One page of your own server, or of two.
async fn own(places: &Places, options: &Options) -> anyhow::Result<PathBuf> {
    let names: &[&str] = match options.exec.len() {
        1 => &["server"],
        2 => &["baseline", "candidate"],
        more => bail!("--exec is given {more} times: give it once, or twice to compare"),
    };
    let commands: Vec<_> =
        names.iter().copied().zip(options.exec.iter().map(String::as_str)).collect();
    let command = &options.exec[0];
    let (title, files) = (title(command), Scratch::new()?);
    let OwnServer { requests, .. } = &options.server;
    let subjects = options.server.subjects(&commands, files.path())?;
    let heaptrack = options.allocations.then(|| heaptrack(&subjects)).transpose()?;
    let (servers, notes) =
        ServerUnderLoad::with_answers(subjects, options.load.load(), requests).await?;
    let dir = places.results()?.join("flame").join(directory(command));
    let profilers = profilers(options, false);
    let flamegraph = places.flamegraph()?;
    let session = FlameSession::own(&title, servers, options.spans.clone(), heaptrack)?;
    draw(&session, &notes, &profilers, flamegraph.as_deref(), options, dir).await
}

/// The tool that shows which stacks keep memory, if it can for these servers.
fn heaptrack(subjects: &[Subject]) -> anyhow::Result<Heaptrack> {
    subjects.iter().try_for_each(|subject| ensure_it_uses_malloc(&subject.launch))?;
    Heaptrack::look(&lab_system::System::this()).map_err(|obstacle| anyhow!("{obstacle}"))
}

/// How long each server is recorded. Says so if its answers take long.
fn planned_window(options: &Options, session: &FlameSession) -> Duration {
    let usual = Duration::from_secs(options.seconds.unwrap_or(USUAL_SECONDS));
    let visit = session.visit_takes();
    let enough = session.enough(usual);
    if enough == usual {
        return usual;
    }
    let takes = time_ms(visit.as_secs_f64() * 1e3);
    // Whole seconds, as `--seconds` has them.
    let enough = Duration::from_secs(enough.as_secs_f64().ceil() as u64);
    let seconds = enough.as_secs();
    if options.seconds.is_some() {
        let text = format!(
            "a visit takes {takes}, so a recording of {} s sees few answers: leave out --seconds, for {seconds} s",
            usual.as_secs()
        );
        err!("{}", paragraph(&text));
        return usual;
    }
    err!(
        "{}",
        paragraph(&format!("recording {seconds} s of each server, because a visit takes {takes}"))
    );
    enough
}

/// Records the servers and draws their page into `dir`; returns its path. `of_servers` are the notes on their answers.
async fn draw(
    session: &FlameSession,
    of_servers: &[Note],
    profilers: &Profilers,
    flamegraph: Option<&Path>,
    options: &Options,
    dir: PathBuf,
) -> anyhow::Result<PathBuf> {
    let results = dir.parent().context("a page has a directory above it")?.to_owned();
    let output = Output::begin(dir)?;
    // Recordings are large, and nobody needs them afterwards.
    let scratch = Scratch::within(&results)?;
    let name = options.exec.first().map_or(session.topic.name.clone(), |command| short(command));
    let progress = Progress::new(&name);
    let window = planned_window(options, session);
    let choice = options.profiler.as_slice();
    let choice = if choice.is_empty() { profilers.usable() } else { choice };
    let all = session.see(profilers, choice, window, scratch.path(), &progress).await?;
    progress.step("drawing");
    let page = draw_page(&session.topic, &all, &output, flamegraph)?;
    let meta = meta(&session.topic, &all);
    output.write("meta.json", &(serde_json::to_string_pretty(&meta)? + "\n"))?;
    output.write("index.html", &page.html())?;
    drop(progress);
    let path = output.finish()?.join("index.html");
    let notes = of_servers.iter().chain(&page.notes);
    // A line of the screen says by itself that a server is almost idle.
    let is_said = |note: &&Note| {
        !options.verbose && matches!(note, Note::Known { kind: NoteKind::AlmostIdle { .. }, .. })
    };
    let notes: Vec<_> = notes.filter(|note| !is_said(note)).cloned().collect();
    out!("\n{}", heading(&page.case, &page.title));
    if options.verbose {
        tables(&page, &notes);
        out!("  Profiler    {}", all.made_by());
    } else {
        out!("");
        let lines = flame_summary::lines(&session.topic, &all);
        lines.iter().chain(&flame_summary::requests_alone(&all)).for_each(|line| out!("{line}"));
        out!("\n{}", render_notes(notes, "-v, or the page").trim_end());
    }
    out!("  Page        {}", lab_report::path(&path));
    Ok(path)
}

/// Prints what the page says, without its pictures.
fn tables(page: &PicturePage, notes: &[Note]) {
    for section in &page.sections {
        out!("\n  {}", style(&section.heading).bold());
        out!("{}", lab_report::paragraph(&section.lead));
        section.findings.iter().for_each(|finding| out!("{}", lab_report::paragraph(finding)));
        for table in &section.tables {
            out!("\n{}", lab_report::paragraph(&table.caption));
            let rows = table.rows.iter().take(ROWS).map(|row| fit(row));
            out!("{}", Table::new("", &table.head, rows).text());
        }
    }
    out!("");
    for note in notes {
        out!("{}", lab_report::paragraph(&lab_report::noted(note)));
    }
}

/// How many rows of a table are printed; the page has all.
const ROWS: usize = 6;
/// A row whose name leaves room for the figures in 80 columns.
fn fit(row: &[Cell]) -> Vec<String> {
    let longest = if row.len() > 4 { 25 } else { 36 };
    row.iter().map(|cell| console::truncate_str(&cell.text, longest, "…").into_owned()).collect()
}
