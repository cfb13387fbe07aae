//! A server without dependencies: `tiny --port PORT` answers everything with 6.

use std::io::{BufRead, BufReader, Write};

fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(2).and_then(|port| port.parse().ok()).unwrap_or(0);
    for stream in std::net::TcpListener::bind(("127.0.0.1", port))?.incoming() {
        let mut stream = stream?;
        std::thread::spawn(move || -> std::io::Result<()> {
            for line in BufReader::new(stream.try_clone()?).lines() {
                if line?.is_empty() {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6")?;
                }
            }
            Ok(())
        });
    }
    Ok(())
}
