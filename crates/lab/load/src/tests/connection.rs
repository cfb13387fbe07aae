//! One connection, and servers that answer in all the ways that HTTP allows, and some it forbids.

use std::{cell::Cell, rc::Rc, time::Duration};

use lab_protocol::{Answer, Expected, Request};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    task::{LocalSet, yield_now},
    time::timeout,
};

use super::{
    ask, closed_loop,
    memory::{Memory, SIX, read_request, server, silent},
    plan,
};
use crate::{Alarm, Connection, Dial, Fault, PATIENCE, Visitor, WireRequest, run_over};

const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n6\r\n0\r\nx: y\r\n\r\n";
const CONTINUED: &[u8] =
    b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6";
const UNTIL_CLOSED: &[u8] = b"HTTP/1.0 200 OK\r\n\r\n6";

fn prepared(request: &Request) -> WireRequest {
    WireRequest::new(request, std::net::SocketAddr::from(([127, 0, 0, 1], 80))).unwrap()
}

type Results<const N: usize> = [Result<(), Fault>; N];

/// Sends `N` requests over connections that `accept` serves. Returns their results and the number
/// of connections.
async fn ask_times<const N: usize>(
    accept: impl Fn(DuplexStream) + 'static,
    request: &Request,
) -> (Results<N>, u32) {
    let dialed = Rc::new(Cell::new(0));
    let count = dialed.clone();
    let server = Memory::new(move |stream| {
        count.set(count.get() + 1);
        accept(stream);
    });
    LocalSet::new()
        .run_until(async move {
            let request = prepared(request);
            let mut connection = Connection::over(server).await.unwrap();
            let mut results = [const { Ok(()) }; N];
            for result in &mut results {
                *result = connection.ask(&request).await;
                // The server may have something to do before the next request, such as to close.
                yield_now().await;
            }
            (results, dialed.get())
        })
        .await
}

/// Answers each request in these pieces, then closes the connection if `close` is set.
fn in_pieces(pieces: &[&'static [u8]], close: bool) -> impl Fn(DuplexStream) + use<> {
    let pieces = pieces.to_vec();
    move |mut stream| {
        let pieces = pieces.clone();
        tokio::task::spawn_local(async move {
            while read_request(&mut stream).await {
                for piece in &pieces {
                    stream.write_all(piece).await.unwrap();
                    yield_now().await;
                }
                if close {
                    return;
                }
            }
        });
    }
}

#[tokio::test]
async fn an_answer_may_be_split_anywhere() {
    for answer in [SIX, CHUNKED, CONTINUED] {
        for end in 0..answer.len() {
            let (one, other) = answer.split_at(end);
            let results = ask_times(in_pieces(&[one, other], false), &ask()).await;
            assert_eq!(results, ([Ok(()), Ok(())], 1), "at {end}");
        }
        let bytes: Vec<_> = answer.chunks(1).collect();
        assert_eq!(ask_times(in_pieces(&bytes, false), &ask()).await.0, [Ok(())]);
    }
}

#[tokio::test]
async fn an_incomplete_or_malformed_answer_is_a_failure() {
    for answer in [SIX, CHUNKED, CONTINUED] {
        for end in 0..answer.len() {
            let ([result], _) = ask_times(in_pieces(&[&answer[..end]], true), &ask()).await;
            assert!(matches!(result, Err(Fault::Failure(_))), "at {end}: {result:?}");
        }
    }
    for chunks in ["x\r\n", "1\r\n67\r\n", "1\r\n6\r\n0\r\nno header\r\n\r\n"] {
        let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
        let pieces = [answer.leak().as_bytes()];
        let ([result], _) = ask_times(in_pieces(&pieces, false), &ask()).await;
        assert!(matches!(result, Err(Fault::Failure(_))), "{chunks}: {result:?}");
    }
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(400_000)).leak().as_bytes();
    let ([Err(fault)], _) = ask_times(in_pieces(&[endless], false), &ask()).await else { panic!() };
    assert!(fault.to_string().contains("a head or a line of more than 307200 bytes"), "{fault}");
}

#[tokio::test]
async fn a_closed_connection_is_reopened() {
    const CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n6";
    // Announced, with the end of the body, and silently after a complete answer.
    for (answer, closes) in [(CLOSE, false), (CLOSE, true), (UNTIL_CLOSED, true), (SIX, true)] {
        let results = ask_times(in_pieces(&[answer], closes), &ask()).await;
        assert_eq!(results, ([Ok(()), Ok(()), Ok(())], 3));
    }
}

/// Answers the first request of each connection and sends these bytes, but not more, as the second one's.
fn closing_on_the_second(bytes: &'static [u8]) -> impl Fn(DuplexStream) {
    move |mut stream| {
        tokio::task::spawn_local(async move {
            read_request(&mut stream).await;
            stream.write_all(SIX).await.unwrap();
            read_request(&mut stream).await;
            let _ = stream.write_all(bytes).await;
        });
    }
}

#[tokio::test]
async fn a_request_is_sent_again_if_a_used_connection_closes_instead_of_answering() {
    let (results, connections) = ask_times::<4>(closing_on_the_second(b""), &ask()).await;
    assert_eq!((results, connections), ([const { Ok(()) }; 4], 4));
    // Not if an answer has begun, if sending it twice may do harm, or if the connection is new.
    let post = Request { method: "POST".to_owned(), ..ask() };
    for (bytes, request) in [(&b"H"[..], ask()), (b"", post)] {
        let (results, connections) = ask_times::<3>(closing_on_the_second(bytes), &request).await;
        assert!(matches!(results, [Ok(()), Err(Fault::Failure(_)), Ok(())]), "{results:?}");
        assert_eq!(connections, 2);
    }
    let ([result], connections) = ask_times(in_pieces(&[b""], true), &ask()).await;
    assert!(result.is_err() && connections == 1, "{result:?}");
}

#[tokio::test]
async fn answers_without_a_body_leave_the_connection_usable() {
    const NO_CONTENT: &[u8] = b"HTTP/1.1 204 No Content\r\ncontent-length: 1\r\n\r\n";
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n";
    for (method, status, answer) in [("GET", 204, NO_CONTENT), ("HEAD", 200, HEAD)] {
        let mut request = Request { method: method.to_owned(), ..ask() };
        request.expected.status = status;
        request.expected.answer = Answer::Text(String::new());
        let results = ask_times(in_pieces(&[answer], false), &request).await;
        assert_eq!(results, ([Ok(()), Ok(())], 1));
    }
}

#[tokio::test]
async fn surplus_bytes_are_not_read_as_the_next_answer() {
    const TWO: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6HTTP/1.1 500 Oops\r\n\r\n";
    for pieces in [&[TWO][..], &[SIX, b"HTTP/1.1 500 Oops\r\n\r\n"]] {
        let results = ask_times(in_pieces(pieces, false), &ask()).await;
        assert_eq!(results, ([Ok(()), Ok(())], 2));
    }
}

#[tokio::test]
async fn bytes_after_an_answer_that_mean_nothing_keep_the_connection() {
    const LINE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6\r\n";
    let lengths = "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello";
    let chunks = "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n1\r\n6\r\n0\r\n\r\n";
    let endless = "HTTP/1.1 204 No Content\r\n\r\nhello";
    let mut empty = ask();
    (empty.expected.status, empty.expected.answer) = (204, Answer::Text(String::new()));
    let apart: [&'static [u8]; 2] = [SIX, b"\r\n"];
    for pieces in [&[LINE][..], &apart] {
        let results = ask_times(in_pieces(pieces, false), &ask()).await;
        assert_eq!(results, ([Ok(()), Ok(()), Ok(())], 1));
    }
    for answer in [lengths, chunks].map(str::as_bytes) {
        let results = ask_times(in_pieces(&[answer], false), &empty).await;
        assert_eq!(results, ([Ok(()), Ok(()), Ok(())], 1), "{answer:?}");
        let (head, body) =
            answer.split_at(answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4);
        let results = ask_times(in_pieces(&[head, body], false), &empty).await;
        assert_eq!(results, ([Ok(()), Ok(()), Ok(())], 1), "{answer:?}");
    }
    // Nothing says where this body ends, so the next answer could be taken for a part of it.
    let results = ask_times(in_pieces(&[endless.as_bytes()], false), &empty).await;
    assert_eq!(results, ([Ok(()), Ok(()), Ok(())], 3));
}

#[tokio::test]
async fn an_answer_in_another_protocol_is_named() {
    for (answer, name) in [
        (&b"\x15\x03\x01\x00\x02\x02\x46"[..], "answers in TLS"),
        (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "answers in HTTP/2"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "begins with `SSH-2.0-OpenSSH_9.2\\r\\n`"),
    ] {
        let ([result], _) = ask_times(in_pieces(&[answer], true), &ask()).await;
        let fault = result.unwrap_err().to_string();
        assert!(fault.contains(name), "{fault}");
    }
}

/// Posts a long body over a connection that buffers little, twice.
async fn upload(
    length: usize,
    status: u16,
    answer: String,
    accept: impl Fn(DuplexStream) + 'static,
) {
    let body = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&body, "6".repeat(length)).unwrap();
    let expected = Expected::new(status, Answer::Text(answer));
    let body = Some(body.path().to_owned());
    let request = prepared(&Request { method: "POST".to_owned(), body, expected, ..ask() });
    let server = Memory::new(accept).with_room(512);
    LocalSet::new()
        .run_until(async {
            let mut connection = Connection::over(server).await.unwrap();
            for _ in 0..2 {
                assert_eq!(connection.ask(&request).await, Ok(()));
            }
        })
        .await
}

#[tokio::test]
async fn a_server_may_answer_before_it_has_read_the_request() {
    let accept = |mut stream: DuplexStream| {
        tokio::task::spawn_local(async move {
            stream.read_exact(&mut [0; 10]).await.unwrap();
            let answer = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 1\r\n\r\n6";
            stream.write_all(answer).await.unwrap();
            // Reads nothing more and does not close.
            std::future::pending::<()>().await;
        });
    };
    upload(10_000, 413, "6".to_owned(), accept).await;
}

/// Sends back each piece of the body as soon as it has it, as a server does that compresses.
#[tokio::test]
async fn an_answer_may_begin_during_a_large_upload() {
    const BODY: usize = 300_000;
    let accepted = Cell::new(false);
    let accept = move |mut stream: DuplexStream| {
        assert!(!accepted.replace(true), "one connection is enough");
        tokio::task::spawn_local(async move {
            while read_request(&mut stream).await {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {BODY}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                let mut piece = [0; 1000];
                for _ in 0..BODY / piece.len() {
                    stream.read_exact(&mut piece).await.unwrap();
                    stream.write_all(&piece).await.unwrap();
                }
            }
        });
    };
    upload(BODY, 200, "6".repeat(BODY), accept).await;
}

#[tokio::test(start_paused = true)]
async fn the_answer_to_an_abandoned_request_is_not_read_as_the_next() {
    let asked = Cell::new(0);
    let server = server(async move || {
        asked.set(asked.get() + 1);
        if asked.get() > 1 {
            return SIX;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1"
    });
    LocalSet::new()
        .run_until(async {
            let request = prepared(&ask());
            let mut connection = Connection::over(server).await.unwrap();
            let second = Duration::from_secs(1);
            assert!(timeout(second, connection.ask(&request)).await.is_err());
            tokio::time::sleep(2 * second).await;
            assert_eq!(connection.ask(&request).await, Ok(()));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_events_that_does_not_end_is_named_early() {
    const EVENTS: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: x\n\n";
    let plan = plan(closed_loop(1));
    LocalSet::new()
        .run_until(async {
            for (closes, wanted) in [(true, None), (false, Some("after 5 s and 9 bytes"))] {
                let server = Memory::new(in_pieces(&[EVENTS], closes));
                let opened = Visitor::over(server, &plan.target, &plan.requests, PATIENCE).await;
                let answers = opened.unwrap().answers().await;
                let error = answers.err().map(|error| format!("{error:#}"));
                match wanted {
                    None => assert_eq!(error, None),
                    Some(words) => assert!(error.unwrap().contains(words)),
                }
            }
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn nothing_outside_a_measurement_is_awaited_for_ever() {
    /// A server that cannot be reached, such as one with a full backlog.
    #[derive(Clone, Debug)]
    struct Nowhere;

    impl Dial for Nowhere {
        type Stream = DuplexStream;

        async fn dial(&self) -> std::io::Result<DuplexStream> {
            std::future::pending().await
        }
    }

    let plan = plan(closed_loop(2));
    let error = run_over(&plan, Nowhere, || Alarm::Ticks).await.unwrap_err();
    assert_eq!(format!("{error:#}"), "connection 1 of 2: no answer within 30 s");
    let error = Visitor::over(Nowhere, &plan.target, &plan.requests, PATIENCE).await.err().unwrap();
    assert_eq!(error.to_string(), "no answer within 30 s");
    LocalSet::new()
        .run_until(async {
            let open = async || {
                Visitor::over(silent(), &plan.target, &plan.requests, PATIENCE).await.unwrap()
            };
            let fault = open().await.visit().await.unwrap_err();
            assert_eq!(fault.to_string(), "GET /: no answer within 30 s");
            let error = open().await.visit_in_steps(async || Ok(())).await.unwrap_err();
            assert_eq!(error.to_string(), "GET /: no answer within 30 s");
            let error = open().await.answers().await.unwrap_err();
            assert_eq!(format!("{error:#}"), "GET /: no answer within 30 s");
        })
        .await;
}
