//! A stand-in for a case's server, which misbehaves on request: for the tests of `lab`.
//!
//! It is plain `std`, a thread a connection, so that its failures are its own and not a framework's, and
//! so that a test can build it as a package without dependencies.

#![expect(clippy::disallowed_macros, reason = "a stand-in prints as most servers do")]

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Result, Write as _},
    net::{TcpListener, TcpStream},
    process::exit,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread::{sleep, spawn},
    time::{Duration, Instant},
};

const OPTIONS: &str = "
--answer TEXT          What every request is answered, instead of the file `answer.txt` or 6
--status N             Answer with this status
--type TEXT            Answer with this content type
--count                Count the requests in the answers
--turn-ms N            Answer one request at a time, each after this many milliseconds
--stall-ms N           Answer nothing for this long, each second
--trace FILE           Write a span of each request and of its wait for a stall, as `tracing-chrome` does
--wrong-at-request N   Answer this request, and no other, with 7
--die-at-start         Fail before listening
--die-at-request N     Fail in the middle of this request
--close-at-request N   Close the connection instead of answering this request
--hang-at-request N    Never answer this request
--work-at PATH         Compute for some milliseconds before answering a request of this path
--keep KIB             Keep so much memory of each request
--keep-at-most N       But of no more than so many requests
--noise                Print more than a pipe holds before listening, and something at every request; none of it text
--say-first TEXT       Print this before listening, and listen a moment later
--busy-with TEXT       Say that this is done besides, as a server that counts or is profiled does
--port N               Listen on this port, and say nothing about it
--announce N           Announce this port instead of the real one
--listen-twice         Listen on another port too
--early-port           Answer on another port first, and listen once that one was asked
--pid-dir DIR          Leave a file with the process id as its name here
";

/// Longer than `lab` watches whether the listeners of a server stay the same.
const MOMENT: Duration = Duration::from_millis(400);

const STALL_EVERY: Duration = Duration::from_secs(1);

/// Held by the request whose turn it is, and during a stall.
static TURN: Mutex<()> = Mutex::new(());
static START: LazyLock<Instant> = LazyLock::new(Instant::now);
/// Where the spans are written.
static FILE: LazyLock<Option<File>> = LazyLock::new(|| {
    text("--trace").map(|path| File::create(path).expect("the file of the spans can be made"))
});

fn is_set(option: &str) -> bool {
    std::env::args().any(|arg| arg == option)
}

fn text(option: &str) -> Option<String> {
    std::env::args().skip_while(|arg| arg != option).nth(1)
}

fn number(option: &str) -> Option<u64> {
    text(option)?.parse().ok()
}

fn main() -> Result<()> {
    let is_known = |arg: &String| OPTIONS.contains(&format!("\n{arg} "));
    let unknown = std::env::args().find(|arg| arg.starts_with("--") && !is_known(arg));
    assert_eq!(unknown, None, "the options are:{OPTIONS}");
    if let Some(dir) = text("--pid-dir") {
        std::fs::write(format!("{dir}/{}", std::process::id()), "")?;
    }
    if is_set("--die-at-start") {
        eprintln!("the first of my last words\nthe database is missing");
        exit(3);
    }
    if is_set("--noise") {
        (0..2048).for_each(|_| print_noise());
    }
    if let Some(words) = text("--say-first") {
        println!("{words}");
        sleep(MOMENT);
    }
    if is_set("--early-port") {
        let (early, served) = (TcpListener::bind("127.0.0.1:0")?, Arc::new(AtomicU64::new(0)));
        let asked = served.clone();
        spawn(move || accept(&early, &served));
        while asked.load(Ordering::Relaxed) == 0 {
            sleep(MOMENT / 40);
        }
    }
    let _other = is_set("--listen-twice").then(|| TcpListener::bind("127.0.0.1:0"));
    let given = number("--port");
    // A port that was free may meanwhile be that of another test's connection, for a moment.
    let bind = || TcpListener::bind(format!("127.0.0.1:{}", given.unwrap_or(0)));
    let tries = (0..20).map(|_| bind().inspect_err(|_| sleep(MOMENT / 4)));
    let listener = tries.filter_map(Result::ok).next().map_or_else(bind, Ok)?;
    let port = listener.local_addr()?.port();
    if let Some(busy_with) = text("--busy-with") {
        println!("{busy_with}");
    }
    if given.is_none() {
        let port = number("--announce").unwrap_or(port.into());
        println!("listening on http://127.0.0.1:{port}");
    }
    if let Some(stall) = number("--stall-ms").map(Duration::from_millis) {
        spawn(move || {
            loop {
                sleep(STALL_EVERY.saturating_sub(stall));
                let _turn = TURN.lock();
                sleep(stall);
            }
        });
    }
    accept(&listener, &Arc::default())
}

fn accept(listener: &TcpListener, served: &Arc<AtomicU64>) -> Result<()> {
    for stream in listener.incoming() {
        let (stream, served) = (stream?, served.clone());
        spawn(move || serve(stream, &served));
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

/// The lines up to an empty one; `None` at the end of the connection.
fn read_head(reader: &mut BufReader<TcpStream>) -> Result<Option<String>> {
    let mut head = String::new();
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        if head[start..].trim_end().is_empty() {
            return Ok(Some(head));
        }
    }
}

/// The spans of a request. Each event is a line.
struct Trace(Option<u64>);

impl Trace {
    fn of(request: Option<u64>) -> Self {
        let trace = Self(request.filter(|_| FILE.is_some()));
        trace.write('b', "request");
        trace
    }

    fn write(&self, kind: char, name: &str) {
        if let (Some(request), Some(file)) = (self.0, &*FILE) {
            let us = START.elapsed().as_micros();
            let event = format!(
                "{{\"ph\":\"{kind}\",\"name\":\"{name}\",\"id\":{request},\"ts\":{us}}},\n"
            );
            let mut file: &File = file;
            file.write_all(event.as_bytes()).expect("the file of the spans can be written");
        }
    }
}

/// The same work each time, whatever else the machine does.
fn work() {
    let mut sum = 0_u64;
    (0..1_000_000).for_each(|number| sum = std::hint::black_box(sum.wrapping_add(number)));
}

/// Answers requests without a body until the connection ends. The options that stop an answer come before the wait of
/// `--turn-ms`, so that they take effect at once.
fn serve(mut stream: TcpStream, served: &AtomicU64) -> Result<()> {
    let [dies, closes, hangs, errs, turn_ms] = [
        "--die-at-request",
        "--close-at-request",
        "--hang-at-request",
        "--wrong-at-request",
        "--turn-ms",
    ]
    .map(number);
    let (keeps, keeps_at_most) = (number("--keep"), number("--keep-at-most").or(Some(u64::MAX)));
    let [is_noisy, counts] = ["--noise", "--count"].map(is_set);
    let answer = text("--answer").or_else(|| std::fs::read_to_string("answer.txt").ok());
    let answer = answer.unwrap_or_else(|| "6".to_owned());
    let status = number("--status").unwrap_or(200);
    let location = if status == 302 { "location: /elsewhere\r\n" } else { "" };
    let of_type =
        text("--type").map_or(String::new(), |value| format!("content-type: {value}\r\n"));
    let work_at = text("--work-at").map(|path| format!("GET {path} "));
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(head) = read_head(&mut reader)? {
        if work_at.as_ref().is_some_and(|begin| head.starts_with(begin)) {
            work();
        }
        let request = Some(served.fetch_add(1, Ordering::Relaxed) + 1);
        if let Some(kib) = keeps.filter(|_| request <= keeps_at_most) {
            // Written to, because the system has no memory for zeros.
            vec![1_u8; 1024 * kib as usize].leak();
        }
        if request == dies {
            eprintln!("out of memory, says the stand-in");
            exit(4);
        }
        if request == closes {
            break;
        }
        if request == hangs {
            continue;
        }
        let trace = Trace::of(request);
        if is_set("--stall-ms") {
            trace.write('b', "stall");
            drop(TURN.lock());
            trace.write('e', "stall");
        }
        if let Some(ms) = turn_ms {
            let _turn = TURN.lock();
            sleep(Duration::from_millis(ms));
        }
        if is_noisy {
            print_noise();
        }
        let count = request.filter(|_| counts).map(|count| count.to_string()).unwrap_or_default();
        let body = if request == errs { "7" } else { &*answer };
        let length = body.len() + count.len();
        let head =
            format!("HTTP/1.1 {status} \r\n{location}{of_type}content-length: {length}\r\n\r\n");
        trace.write('e', "request");
        stream.write_all(format!("{head}{body}{count}").as_bytes())?;
    }
    Ok(())
}
