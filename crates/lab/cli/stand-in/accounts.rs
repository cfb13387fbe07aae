//! A stand-in that no fixed request gets far with: a login, a page behind it, and orders whose ids are used once. Its
//! argument is the port.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Read as _, Result, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread::spawn,
};

/// The number of the last session.
static SESSION: AtomicU64 = AtomicU64::new(0);
/// The ids of all orders.
static ORDERS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct Received {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

fn main() -> Result<()> {
    let port = std::env::args().nth(1).unwrap_or_default();
    for stream in TcpListener::bind(format!("127.0.0.1:{port}"))?.incoming() {
        let stream = stream?;
        spawn(move || serve(stream));
    }
    Ok(())
}

/// Answers requests until the connection ends.
fn serve(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        let (status, header, body) = answer(&request);
        let length = body.len();
        let head = format!("HTTP/1.1 {status} \r\n{header}content-length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes())?;
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> Result<Option<Received>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers: Vec<_> =
        headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap_or(0))];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(Received { line: lines.swap_remove(0), headers, body }))
}

/// The status, the headers and the body.
fn answer(request: &Received) -> (u16, String, String) {
    let mut words = request.line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let has = |name: &str, value: &str| {
        request.headers.iter().any(|(key, given)| key == name && given.starts_with(value))
    };
    let plain = |status, body: &str| (status, String::new(), body.to_owned());
    match (method, path) {
        ("POST", "/login") if request.body.contains("ada") => {
            let session = SESSION.fetch_add(1, Ordering::Relaxed);
            let cookie = format!("set-cookie: sid=s{session}; HttpOnly\r\n");
            (200, cookie, format!("{{\"token\":\"t{session}\"}}"))
        }
        ("GET", "/me") if has("cookie", "sid=s") || has("authorization", "Bearer t") => {
            plain(200, "{\"user\":\"ada\"}")
        }
        ("POST", "/login") | ("GET", "/me") => plain(401, "log in first"),
        ("GET", _) if path.starts_with("/orders/") => {
            let id = path.trim_start_matches("/orders/");
            let is_there = ORDERS.lock().is_ok_and(|orders| orders.contains(id));
            if is_there {
                plain(200, &format!("{{\"order\":{id}}}"))
            } else {
                plain(404, "no such order")
            }
        }
        ("POST", _) if path.starts_with("/orders/") => {
            let id = path.trim_start_matches("/orders/");
            let is_new = ORDERS.lock().is_ok_and(|mut orders| orders.insert(id.to_owned()));
            if is_new {
                plain(201, &format!("{{\"id\":{id},\"total\":70}}"))
            } else {
                plain(409, "taken")
            }
        }
        _ => plain(404, "nothing here"),
    }
}
