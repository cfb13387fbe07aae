//! A stand-in for a case's server, which misbehaves on request: for the tests of `lab`.
//!
//! It is plain `std`, a thread a connection, so that its failures are its own and not a framework's.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::exit,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clap::Parser;

/// Longer than `lab` watches whether the listeners of a server stay the same.
const MOMENT: Duration = Duration::from_millis(400);

/// Held by the request whose turn it is.
static TURN: Mutex<()> = Mutex::new(());

#[derive(Clone, Parser)]
struct Options {
    /// What every request is answered
    #[arg(long, default_value = "6")]
    answer: String,
    /// Fail before listening
    #[arg(long)]
    die_at_start: bool,
    /// Fail in the middle of this request
    #[arg(long)]
    die_at_request: Option<u64>,
    /// Close the connection instead of answering this request
    #[arg(long)]
    close_at_request: Option<u64>,
    /// Never answer this request
    #[arg(long)]
    hang_at_request: Option<u64>,
    /// Count the requests in the answers
    #[arg(long)]
    count: bool,
    /// Say first that this is done besides, as a server that counts or is profiled does
    #[arg(long)]
    busy_with: Option<String>,
    /// Print more than a pipe holds before listening, and something at every request; none of it text
    #[arg(long)]
    noise: bool,
    /// Listen on this port, and say nothing about it
    #[arg(long)]
    port: Option<u16>,
    /// Print this before listening, and listen a moment later
    #[arg(long)]
    say_first: Option<String>,
    /// Listen on another port too
    #[arg(long)]
    listen_twice: bool,
    /// Answer on another port first, and listen once that one was asked
    #[arg(long)]
    early_port: bool,
    /// Answer with this status
    #[arg(long, default_value_t = 200)]
    status: u16,
    /// Answer one request at a time, each after this many milliseconds
    #[arg(long)]
    turn_ms: Option<u64>,
    /// Announce this port instead of the real one
    #[arg(long)]
    announce: Option<u16>,
    /// Leave a file with the process id as its name here
    #[arg(long)]
    pid_dir: Option<PathBuf>,
}

fn main() -> std::io::Result<()> {
    let options = Options::parse();
    if let Some(dir) = &options.pid_dir {
        std::fs::write(dir.join(std::process::id().to_string()), "")?;
    }
    if options.die_at_start {
        eprintln!("the first of my last words\nthe database is missing");
        exit(3);
    }
    if options.noise {
        (0..2048).for_each(|_| print_noise());
    }
    if let Some(words) = &options.say_first {
        println!("{words}");
        std::thread::sleep(MOMENT);
    }
    if options.early_port {
        let (early, options) = (TcpListener::bind("127.0.0.1:0")?, options.clone());
        let served = Arc::new(AtomicU64::new(0));
        let asked = served.clone();
        std::thread::spawn(move || accept(&early, &options, &served));
        while asked.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(MOMENT / 40);
        }
    }
    let _other = options.listen_twice.then(|| TcpListener::bind("127.0.0.1:0"));
    let listener = TcpListener::bind(("127.0.0.1", options.port.unwrap_or(0)))?;
    let port = listener.local_addr()?.port();
    if let Some(busy_with) = &options.busy_with {
        println!("{busy_with}");
    }
    if options.port.is_none() {
        let port = options.announce.unwrap_or(port);
        println!("listening on http://127.0.0.1:{port}");
    }
    accept(&listener, &options, &Arc::default())
}

fn accept(
    listener: &TcpListener,
    options: &Options,
    served: &Arc<AtomicU64>,
) -> std::io::Result<()> {
    for stream in listener.incoming() {
        let (stream, options, served) = (stream?, options.clone(), served.clone());
        std::thread::spawn(move || serve(stream, &options, &served));
    }
    Ok(())
}

/// 64 bytes that are not UTF-8, to both outputs. A closed output ends this process, as the signal
/// SIGPIPE ends most others.
fn print_noise() {
    let line = [[0xff; 63].as_slice(), b"\n"].concat();
    let printed = std::io::stdout().write_all(&line).and(std::io::stderr().write_all(&line));
    printed.unwrap_or_else(|_| exit(5));
}

/// Answers requests without a body until the connection ends.
fn serve(mut stream: TcpStream, options: &Options, served: &AtomicU64) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?;
        if !line.is_empty() {
            continue;
        }
        let request = served.fetch_add(1, Ordering::Relaxed) + 1;
        if Some(request) == options.die_at_request {
            eprintln!("out of memory, says the stand-in");
            exit(4);
        }
        if Some(request) == options.close_at_request {
            break;
        }
        if Some(request) == options.hang_at_request {
            continue;
        }
        if let Some(ms) = options.turn_ms {
            let _turn = TURN.lock();
            std::thread::sleep(Duration::from_millis(ms));
        }
        if options.noise {
            print_noise();
        }
        let count = if options.count { request.to_string() } else { String::new() };
        let (answer, status) = (format!("{}{count}", options.answer), options.status);
        let length = answer.len();
        let location = if status == 302 { "location: /elsewhere\r\n" } else { "" };
        write!(stream, "HTTP/1.1 {status} \r\n{location}content-length: {length}\r\n\r\n{answer}")?;
    }
    Ok(())
}
