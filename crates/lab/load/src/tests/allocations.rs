//! The generator allocates nothing per request, so its cost does not depend on the allocator or on
//! how full the heap is.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::FutureExt as _;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Builder,
};

use super::{
    ask, evenly,
    visits::{kind, plan_of},
};
use crate::{Alarm, Connection, Dial, WireRequest, run_over};

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

#[derive(Clone)]
struct Here;

impl Dial for Here {
    type Stream = Instantly;

    async fn dial(&self) -> io::Result<Instantly> {
        Ok(Instantly { answer: &[] })
    }
}

#[test]
fn a_request_allocates_nothing() {
    let request =
        WireRequest::new(&ask(), std::net::SocketAddr::from(([127, 0, 0, 1], 80))).unwrap();
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

/// Two runs of equal length: what they allocate once, or every few milliseconds, is the same.
#[test]
fn a_visit_allocates_nothing() {
    let allocated = |rate: u32| {
        let kinds = vec![kind("a", 1.0, &[&["/a", "/b"]]), kind("b", 1.0, &[&["/c"], &["/d"]])];
        let mut plan = plan_of(kinds, evenly(rate.into(), 4));
        plan.server_pid = None;
        let allocated = allocation_counter::measure(|| {
            let runtime =
                Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
            let outcome = runtime.block_on(run_over(&plan, Here, || Alarm::Ticks)).unwrap();
            assert_eq!(outcome.ok, 5 * u64::from(rate), "{:?}", outcome.first_fault);
        });
        allocated.count_total
    };
    let [_, few, many] = [100, 100, 1000].map(allocated);
    // Reading the own CPU time, every 50 ms, allocates more for longer numbers.
    assert!(many.abs_diff(few) < 1000, "{few} for 500 visits, {many} for 5,000");
}
