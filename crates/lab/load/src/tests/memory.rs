//! A connection to a server that takes no socket and no time.

use std::{io, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    sync::Semaphore,
    time::sleep,
};

use crate::Dial;

/// The right answer.
pub const SIX: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6";

/// The begin of an answer that never ends.
pub const HANGS: &[u8] = b"HTTP";
/// The begin of an answer, after which the server closes the connection.
pub const BREAKS_OFF: &[u8] = b"HTTP/1.1 ";

/// Hands the server's end of each connection to a function.
#[derive(Clone)]
pub struct Memory {
    accept: Rc<dyn Fn(DuplexStream)>,
    /// How many bytes a connection buffers in each direction.
    room: usize,
}

impl Memory {
    pub fn new(accept: impl Fn(DuplexStream) + 'static) -> Self {
        Self { accept: Rc::new(accept), room: 64 * 1024 }
    }

    pub fn with_room(self, room: usize) -> Self {
        Self { room, ..self }
    }
}

impl Dial for Memory {
    type Stream = DuplexStream;

    async fn dial(&self) -> io::Result<DuplexStream> {
        let (near, far) = duplex(self.room);
        (self.accept)(far);
        Ok(near)
    }
}

/// A server that calls `answer` for each request.
pub fn server(answer: impl AsyncFn() -> &'static [u8] + 'static) -> Memory {
    by_path(async move |_| answer().await)
}

/// A server that calls `answer` with the path of each request.
pub fn by_path(answer: impl AsyncFn(&str) -> &'static [u8] + 'static) -> Memory {
    let answer = Rc::new(answer);
    Memory::new(move |mut stream| {
        let answer = answer.clone();
        tokio::task::spawn_local(async move {
            while let Some(head) = read_head(&mut stream).await {
                let path = head.split(' ').nth(1).unwrap();
                let answer = answer(path).await;
                if stream.write_all(answer).await.is_err() || answer == BREAKS_OFF {
                    break;
                }
            }
        });
    })
}

/// Accepts connections and answers nothing.
pub fn silent() -> Memory {
    server(async || std::future::pending().await)
}

/// Answers one request after the other, each in this time.
pub fn one_at_a_time(time: Duration) -> Memory {
    let turn = Semaphore::new(1);
    server(async move || {
        let _turn = turn.acquire().await.unwrap();
        sleep(time).await;
        SIX
    })
}

/// Reads the head of one request. Returns false at the end of the stream.
pub async fn read_request(stream: &mut DuplexStream) -> bool {
    read_head(stream).await.is_some()
}

pub async fn read_head(stream: &mut DuplexStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}
