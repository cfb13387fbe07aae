//! The binary `mystery`: starts a server, or judges your answer.

use std::{
    io::{stderr, stdin},
    net::SocketAddr,
    path::Path,
    process::ExitCode,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use axum::serve::ListenerExt as _;
use clap::Parser;
use mystery::{
    faults::{self, Fault, HEALTHY},
    guess::Guess,
    score::{Answer, FILE, Score},
    shop,
    stock::StockService,
    triage,
};
use tokio::net::TcpListener;

/// What `--help` prints. `just mystery --help` prints the file itself, because a build takes a while.
const HELP: &str = include_str!("../help.txt");

#[derive(Debug, Parser)]
#[command(override_help = HELP)]
struct Options {
    /// Judge your answer for the last server, and show the score; without ANSWER, asks for it
    #[arg(long, value_name = "ANSWER", num_args = 0..=1, default_missing_value = "")]
    answer: Option<String>,
    /// Start the server of this seed once more; the next --answer is for it
    #[arg(long, value_name = "SEED", conflicts_with = "seed")]
    again: Option<u32>,
    /// Only serve this seed, for `just triage` and others; with --answer: answer for this seed
    #[arg(long, value_name = "SEED")]
    seed: Option<u32>,
    /// List the names of all faults, which are hints
    #[arg(long)]
    list: bool,
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// Milliseconds that the stock service takes, which is part of this process
    #[arg(long, value_name = "MS", default_value_t = 1)]
    stock_ms: u64,
    /// Print the first seed of each kind of server as JSON: this tells you the answers
    #[arg(long, hide = true)]
    spoil: bool,
}

/// Seeds of new servers: short enough to type.
const SEEDS: u32 = 1_000_000;
/// How long requests may take to end after Ctrl-C.
const DRAIN: Duration = Duration::from_secs(1);
/// How each server's answer to `GET /orders/7` begins.
const ANSWER: &str = r#"{"order":7,"lines":400,"cents":90499731,"#;
/// Columns of text.
const WIDTH: usize = 80;
/// How many answers are listed with the score.
const LAST: usize = 10;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run() -> anyhow::Result<()> {
    let options = Options::parse();
    if options.list {
        print!("{}", faults::list()?);
        return Ok(());
    }
    if options.spoil {
        println!("{}", spoilt()?);
        return Ok(());
    }
    let path = Path::new(FILE);
    if let Some(answer) = &options.answer {
        return judge(path, answer, options.seed);
    }
    // A server for a tool leaves your score alone.
    if let Some(seed) = options.seed {
        return serve(&options, seed, |_| ());
    }
    let mut score = Score::read(path)?;
    let seed = options.again.map_or_else(|| new_seed(&score), Ok)?;
    score.open = Some(seed);
    score.write(path)?;
    serve(&options, seed, |url| print!("{}", instructions(seed, url, &triage::program())))
}

/// A seed that you haven't answered yet.
fn new_seed(score: &Score) -> anyhow::Result<u32> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_micros();
    let seeds = (0..).map(|more| (now as u32).wrapping_add(more) % SEEDS);
    let is_new = |seed: &u32| score.answer.iter().all(|it| it.seed != *seed);
    seeds.take(SEEDS as usize).find(is_new).context("you have answered all seeds")
}

/// What to begin with: the server, one request and a load. Finding out is left to the player.
fn instructions(seed: u32, url: &str, program: &str) -> String {
    let pid = std::process::id();
    format!(
        "\nServer {seed}: an order service. It has no fault, one, or two.\n\n  \
         Ask it   curl {url}/orders/7\n           \
         It answers {ANSWER}…\n  \
         Load     1, 8 and 64 users without a pause: wrk, or this server against itself\n           \
         wrk -t1 -c8 -d5 --latency {url}/orders/7\n           \
         M='{program} --seed {seed}'\n           \
         just compare --quick --users 8 --get /orders/7 \\\n             \
         \"$M\" \"$M\"\n  \
         Look     strace -cf -p {pid}      (under load; Ctrl-C prints the counts)\n           \
         just flame --exec \"$M\" --get /orders/7\n  \
         Answer   just mystery --answer     (asks for your own words; or `{HEALTHY}`)\n  \
         Stop     Ctrl-C\n"
    )
}

fn serve(options: &Options, seed: u32, said: impl FnOnce(&str)) -> anyhow::Result<()> {
    let faults = faults::of_seed(seed.into())?;
    // Both ports are opened at once, so that a tool which looks for them sees both.
    let listener = std::net::TcpListener::bind(options.addr);
    let stock = StockService::start(Duration::from_millis(options.stock_ms))?;
    let listener = listener.with_context(|| {
        format!("cannot listen on {}; `--addr 127.0.0.1:0` takes a free port", options.addr)
    })?;
    listener.set_nonblocking(true)?;
    // Next to the binary, because the directory for temporary files may be in memory.
    let program = std::env::current_exe()?;
    let dir = program.parent().context("the program has a directory")?;
    let logs = tempfile::Builder::new().prefix("mystery-log-").tempdir_in(dir)?;
    let routes = shop::routes(&stock, &logs.path().join("audit.log"), &faults)?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let stop = case_server::stop_requested()?;
        let listener = TcpListener::from_std(listener)?;
        let url = format!("http://{}", listener.local_addr()?);
        println!("listening on {url}");
        said(&url);
        let listener = listener.tap_io(move |stream| shop::accepted(stream, &faults));
        let (stopped, stopping) = tokio::sync::oneshot::channel();
        let stop = async move {
            stop.await;
            let _ = stopped.send(());
        };
        let over = async {
            let _ = stopping.await;
            tokio::time::sleep(DRAIN).await;
        };
        tokio::select! {
            served = axum::serve(listener, routes).with_graceful_shutdown(stop) => served?,
            () = over => {}
        }
        anyhow::Ok(())
    })
}

fn judge(path: &Path, answer: &str, seed: Option<u32>) -> anyhow::Result<()> {
    let mut score = Score::read(path)?;
    let seed = seed.or(score.open).context("no server was started: `just mystery` starts one")?;
    let Guess { words, faults: said } = Guess::ask(answer, stdin().lock(), stderr())?;
    let truth = faults::of_seed(seed.into())?;
    let is_right = said == truth;
    let mark = if is_right { "right" } else { "wrong" };
    println!("\nServer {seed}: {mark}. It was {}.", faults::shown(&truth)?);
    if !words.is_empty() {
        println!("\n{}", hanging(2, "You wrote", &words));
    }
    for it in faults::all()?.iter().filter(|it| truth.contains(&it.fault)) {
        let mark = if said.contains(&it.fault) { "you named it" } else { "you missed it" };
        println!("\n{}", hanging(2, "", &format!("{}: {} ({mark})", it.name, it.words)));
        println!("{}", hanging(4, "Evidence", &it.evidence));
        println!("{}", hanging(4, "Fix", &it.fix));
    }
    let not: Vec<Fault> = said.iter().copied().filter(|it| !truth.contains(it)).collect();
    if !not.is_empty() {
        println!("\n{}", hanging(2, "", &format!("It doesn't have: {}", faults::shown(&not)?)));
    }
    println!("\n{}", hanging(2, "Triage", &triage::said(seed, &truth)?));
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let is_first = score.add(Answer { date, seed, words, said, truth });
    score.write(path)?;
    println!("\nYour score, in {FILE}");
    print!("{}", score.text(LAST)?);
    if !is_first {
        println!("  You answered for server {seed} before, so only that answer counts.");
    }
    Ok(())
}

/// Text next to a label, if it has one.
fn hanging(indent: usize, label: &str, text: &str) -> String {
    let begin = " ".repeat(indent);
    let first = if label.is_empty() { begin } else { format!("{begin}{label:<10}") };
    let rest = " ".repeat(first.len());
    let lines = textwrap::Options::new(WIDTH).initial_indent(&first).subsequent_indent(&rest);
    // A command is copied whole.
    textwrap::fill(text, lines.break_words(false))
}

/// `{"lock": 17, "clone+regex": 23, ...}`.
fn spoilt() -> anyhow::Result<String> {
    let mut first = std::collections::BTreeMap::new();
    for seed in 0..2_000 {
        let name = faults::shown(&faults::of_seed(seed)?)?.replace(", ", "+");
        first.entry(name).or_insert(seed);
    }
    Ok(serde_json::to_string(&first)?)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_help_is_complete() {
        for option in Options::command().get_arguments().filter(|it| !it.is_hide_set()) {
            let name = option.get_long().unwrap_or_default();
            assert!(HELP.contains(&format!("--{name} ")), "--{name}");
        }
        assert!(HELP.lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn nothing_names_the_fault_before_the_answer() {
        let shown = instructions(7, "http://127.0.0.1:40000", "target/release/mystery");
        for (place, text) in [("instructions", &*shown), ("help", HELP)] {
            let words: Vec<_> = text.split(|letter: char| !letter.is_alphabetic()).collect();
            let named = faults::all().unwrap().into_iter().find(|it| words.contains(&&*it.name));
            assert!(named.is_none(), "{place}: {named:?}");
        }
        assert!(!shown.contains("triage"));
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH), "{shown}");
    }
}
