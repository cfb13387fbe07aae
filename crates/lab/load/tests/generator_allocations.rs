//! The generator allocates nothing per request, so its cost does not depend on the allocator or on
//! how full the heap is.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::FutureExt as _;
use lab_load::{Connection, Dial, Prepared};
use lab_model::{Answer, Ask};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\n6";

/// A server that answers every write at once.
struct Instantly {
    answer: &'static [u8],
}

impl AsyncRead for Instantly {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        if self.answer.is_empty() {
            return Poll::Pending;
        }
        buffer.put_slice(std::mem::take(&mut self.answer));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Instantly {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.answer = ANSWER;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

struct Here;

impl Dial for Here {
    type Stream = Instantly;

    async fn dial(&self) -> io::Result<Instantly> {
        Ok(Instantly { answer: &[] })
    }
}

#[test]
fn a_request_allocates_nothing() {
    let ask = Ask::get("/", Answer::Text("6".to_owned()));
    let request = Prepared::new(&ask, std::net::SocketAddr::from(([127, 0, 0, 1], 80))).unwrap();
    let mut connection = Connection::over(Here).now_or_never().unwrap().unwrap();
    // The first answer allocates the buffer for the start of a body.
    assert_eq!(connection.ask(&request).now_or_never().unwrap(), Ok(()));
    let allocated = allocation_counter::measure(|| {
        for _ in 0..1000 {
            assert_eq!(connection.ask(&request).now_or_never().unwrap(), Ok(()));
        }
    });
    assert_eq!(allocated.count_total, 0);
}
