//! A server without dependencies: `tiny --port PORT` answers everything with the character in the file
//! `answer.txt` of its working directory.

use std::io::{BufRead, BufReader, Write};

fn main() -> std::io::Result<()> {
    let answer = std::fs::read_to_string("answer.txt")?;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}", &answer[..1]);
    let port: u16 = std::env::args().nth(2).and_then(|port| port.parse().ok()).unwrap_or(0);
    for stream in std::net::TcpListener::bind(("127.0.0.1", port))?.incoming() {
        let (mut stream, answer) = (stream?, answer.clone());
        std::thread::spawn(move || -> std::io::Result<()> {
            for line in BufReader::new(stream.try_clone()?).lines() {
                if line?.is_empty() {
                    stream.write_all(answer.as_bytes())?;
                }
            }
            Ok(())
        });
    }
    Ok(())
}
