//! Connections in HTTP/2, against servers of the crate `h2` and servers that write frames by hand.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use bytes::Bytes;
use h2::{
    Reason, RecvStream,
    server::{SendResponse, handshake},
};
use http::{HeaderMap, Response};
use lab_protocol::{Answer, Http2, Request, Target};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    task::{LocalSet, spawn_local, yield_now},
    time::{sleep, timeout},
};

use super::{ask, closed_loop, memory::Memory, open_loop, outcome, plan};
use crate::{Connection, Fault, Visitor, WireRequest};

const SECOND: Duration = Duration::from_secs(1);

type HttpRequest = http::Request<RecvStream>;
type Respond = SendResponse<Bytes>;

fn target(streams: usize) -> Target {
    let http2 = Some(Http2 { streams });
    Target { http2, ..std::net::SocketAddr::from(([127, 0, 0, 1], 80)).into() }
}

fn prepared(request: &Request) -> WireRequest {
    WireRequest::new(request, target(1)).unwrap()
}

/// A server that calls `answer` for each request, and the number of its connections.
fn server(answer: impl AsyncFn(HttpRequest, Respond) + 'static) -> (Memory, Rc<Cell<u32>>) {
    let (answer, connections) = (Rc::new(answer), Rc::<Cell<u32>>::default());
    let count = connections.clone();
    let memory = Memory::new(move |stream| {
        count.set(count.get() + 1);
        spawn_local(serve(stream, answer.clone()));
    });
    (memory, connections)
}

async fn serve(stream: DuplexStream, answer: Rc<impl AsyncFn(HttpRequest, Respond) + 'static>) {
    let mut connection = handshake(stream).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        let answer = answer.clone();
        spawn_local(async move { answer(request, respond).await });
    }
}

/// The right answer.
fn six(mut respond: Respond) {
    let mut body = respond.send_response(Response::new(()), false).unwrap();
    body.send_data(Bytes::from_static(b"6"), true).unwrap();
}

/// Sends `N` requests over one connection to a server. Returns their results, and the connection.
async fn ask_times<const N: usize>(
    server: Memory,
    request: &Request,
) -> ([Result<(), Fault>; N], Connection<Memory>) {
    let request = prepared(request);
    let mut connection = Connection::to(&target(1), server, &[]).await.unwrap();
    let mut results = [const { Ok(()) }; N];
    for result in &mut results {
        *result = connection.ask(&request).await;
        // The server may have something to do before the next request, such as to close.
        for _ in 0..9 {
            yield_now().await;
        }
    }
    (results, connection)
}

async fn locally<T>(test: impl Future<Output = T>) -> T {
    LocalSet::new().run_until(test).await
}

/// A request with a body.
fn post(body: &[u8]) -> (Request, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, body).unwrap();
    let body = Some(file.path().to_owned());
    (Request { method: "POST".to_owned(), body, ..ask() }, file)
}

#[tokio::test]
async fn requests_in_http_2_share_a_connection_and_have_no_host_header() {
    let heads = Rc::<RefCell<Vec<_>>>::default();
    let seen = heads.clone();
    let (server, connections) = server(async move |request: HttpRequest, respond| {
        let (head, _) = request.into_parts();
        seen.borrow_mut().push((head.uri.to_string(), head.headers));
        six(respond);
    });
    let (results, connection) = locally(ask_times::<3>(server, &ask())).await;
    assert_eq!((results, connections.get()), ([const { Ok(()) }; 3], 1));
    assert_eq!((connection.closed, connection.resent), (0, 0));
    let head = ("http://127.0.0.1:80/".to_owned(), HeaderMap::new());
    assert_eq!(*heads.borrow(), vec![head; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_plan_says_how_many_connections_are_streams_of_one() {
    for (streams, wanted) in [(1, 6), (4, 2), (6, 1), (100, 1)] {
        for arrivals in [closed_loop(6), open_loop(100.0, 6)] {
            let busy = Rc::<Cell<u32>>::default();
            let (now, most) = (busy.clone(), Rc::<Cell<u32>>::default());
            let found = most.clone();
            let (server, connections) = server(async move |_, respond| {
                now.set(now.get() + 1);
                most.set(most.get().max(now.get()));
                sleep(Duration::from_millis(60)).await;
                now.set(now.get() - 1);
                six(respond);
            });
            let plan = lab_protocol::LoadPlan { target: target(streams), ..plan(arrivals) };
            let outcome = outcome(&plan, server).await;
            assert!(outcome.ok > 300 && outcome.ok == outcome.sent, "{outcome:?}");
            assert_eq!((connections.get(), found.get()), (wanted, 6), "{streams} streams");
            assert_eq!(outcome.reopened, 0);
        }
    }
}

#[tokio::test]
async fn a_body_may_be_longer_than_the_window() {
    const LENGTH: u64 = 40 << 20;
    let (server, _) = server(async |_, mut respond: Respond| {
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from(vec![b'6'; LENGTH as usize]), true).unwrap();
    });
    let mut request = ask();
    request.expected.answer = Answer::Length { from: LENGTH, to: LENGTH };
    let (results, _) = locally(ask_times::<2>(server, &request)).await;
    assert_eq!(results, [Ok(()), Ok(())]);
}

#[tokio::test]
async fn a_long_request_is_sent_as_the_windows_of_the_server_permit() {
    let (server, _) = server(async |request: HttpRequest, respond| {
        assert_eq!(request.headers()["content-length"], "1000000");
        let (mut body, mut length) = (request.into_body(), 0);
        while let Some(piece) = body.data().await {
            let piece = piece.unwrap();
            length += piece.len();
            body.flow_control().release_capacity(piece.len()).unwrap();
        }
        assert_eq!(length, 1_000_000);
        six(respond);
    });
    let (request, _file) = post(&[b'x'; 1_000_000]);
    let (results, _) = locally(ask_times::<2>(server, &request)).await;
    assert_eq!(results, [Ok(()), Ok(())]);
}

#[tokio::test]
async fn a_server_may_answer_in_http_2_before_it_has_read_the_request() {
    let (server, connections) = server(async |request: HttpRequest, mut respond: Respond| {
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"6"), true).unwrap();
        yield_now().await;
        respond.send_reset(Reason::NO_ERROR);
        drop(request);
    });
    let (request, _file) = post(&[b'x'; 1_000_000]);
    let (results, _) = locally(ask_times::<2>(server, &request)).await;
    assert_eq!((results, connections.get()), ([Ok(()), Ok(())], 1));
}

#[tokio::test(start_paused = true)]
async fn a_window_of_zero_ends_with_the_patience() {
    let server = Memory::new(|stream| {
        spawn_local(async move {
            let mut builder = h2::server::Builder::new();
            let server = builder.initial_window_size(0).handshake::<_, Bytes>(stream);
            let mut connection = server.await.unwrap();
            while let Some(Ok((_request, _respond))) = connection.accept().await {
                std::future::pending::<()>().await;
            }
        });
    });
    let (request, _file) = post(b"hello");
    let fault = locally(async {
        let mut visitor = Visitor::over(server, &target(1), &[request], SECOND).await.unwrap();
        visitor.visit().await.unwrap_err()
    });
    assert_eq!(fault.await.to_string(), "POST /: no answer within 1 s");
}

/// Closes each connection after so many answers, with a GOAWAY or without.
fn closing_after(answers: usize, says_so: bool) -> (Memory, Rc<Cell<u32>>) {
    let connections = Rc::<Cell<u32>>::default();
    let count = connections.clone();
    let memory = Memory::new(move |stream| {
        count.set(count.get() + 1);
        spawn_local(async move {
            let mut connection = handshake(stream).await.unwrap();
            for nth in 1.. {
                let Some(Ok((_, respond))) = connection.accept().await else { break };
                if nth > answers {
                    // Without an answer to this one.
                    break;
                }
                six(respond);
                if nth == answers && says_so {
                    connection.graceful_shutdown();
                }
            }
        });
    });
    (memory, connections)
}

#[tokio::test]
async fn a_connection_in_http_2_is_reopened_after_a_goaway() {
    let (server, connections) = closing_after(1, true);
    let (results, connection) = locally(ask_times::<3>(server, &ask())).await;
    assert_eq!((results, connections.get()), ([const { Ok(()) }; 3], 3));
    assert_eq!((connection.closed, connection.resent), (2, 0));
}

#[tokio::test]
async fn a_request_in_http_2_is_sent_again_if_a_used_connection_closes_instead_of_answering() {
    let (server, connections) = closing_after(1, false);
    let (results, connection) = locally(ask_times::<3>(server, &ask())).await;
    assert_eq!((results, connections.get()), ([const { Ok(()) }; 3], 3));
    assert_eq!((connection.closed, connection.resent), (2, 2));
    // Not if sending it twice may do harm, or if the connection is new.
    let (server, connections) = closing_after(1, false);
    let post = Request { method: "POST".to_owned(), ..ask() };
    let (results, connection) = locally(ask_times::<3>(server, &post)).await;
    assert!(matches!(results, [Ok(()), Err(Fault::Failure(_)), Ok(())]), "{results:?}");
    assert_eq!((connections.get(), connection.closed, connection.resent), (2, 0, 0));
    let (server, connections) = closing_after(0, false);
    let ([result], connection) = locally(ask_times(server, &ask())).await;
    let fault = result.unwrap_err().to_string();
    assert_eq!(fault, "GET /: no answer: the server closed the connection");
    assert_eq!((connections.get(), connection.closed, connection.resent), (1, 0, 0));
}

#[tokio::test]
async fn a_refused_request_is_sent_again_once() {
    for (refused, wanted) in [(1, None), (2, Some("reset the stream (REFUSED_STREAM)"))] {
        let asked = Cell::new(0);
        let (server, connections) = server(async move |_, mut respond: Respond| {
            asked.set(asked.get() + 1);
            if asked.get() <= refused {
                respond.send_reset(Reason::REFUSED_STREAM);
            } else {
                six(respond);
            }
        });
        let request = Request { method: "POST".to_owned(), ..ask() };
        let ([result], connection) = locally(ask_times(server, &request)).await;
        match wanted {
            None => assert_eq!(result, Ok(())),
            Some(words) => assert!(result.unwrap_err().to_string().contains(words)),
        }
        assert_eq!((connection.closed, connection.resent, connections.get()), (0, 1, 1));
    }
}

/// A frame without flags.
fn frame(kind: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, 0, 0, 0, 0, stream], payload].concat()
}

#[tokio::test]
async fn a_request_that_a_goaway_leaves_out_is_sent_again_over_a_new_connection() {
    let connections = Rc::<Cell<u32>>::default();
    let count = connections.clone();
    let server = Memory::new(move |mut stream| {
        count.set(count.get() + 1);
        let is_first = count.get() == 1;
        spawn_local(async move {
            if is_first {
                let goaway = frame(7, 0, &[0; 8]);
                stream.write_all(&[frame(4, 0, b""), goaway].concat()).await.unwrap();
                while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
            } else {
                serve(stream, Rc::new(async |_, respond| six(respond))).await;
            }
        });
    });
    let request = Request { method: "POST".to_owned(), ..ask() };
    let ([result], connection) = locally(ask_times(server, &request)).await;
    assert_eq!((result, connections.get()), (Ok(()), 2));
    assert_eq!((connection.closed, connection.resent), (1, 1));
}

#[tokio::test]
async fn a_call_of_grpc_that_fails_is_a_wrong_answer() {
    for (in_trailers, status, message, wanted) in [
        (true, "0", "", None),
        (true, "13", "no%20stock", Some("grpc-status 13: no stock")),
        (false, "5", "", Some("grpc-status 5: ")),
        (false, "2", "%1b[2J", Some("grpc-status 2: \\u{1b}[2J")),
    ] {
        let (server, _) = server(async move |_, mut respond: Respond| {
            let mut said = HeaderMap::new();
            said.insert("grpc-status", status.parse().unwrap());
            said.insert("grpc-message", message.parse().unwrap());
            let mut head = Response::new(());
            if in_trailers {
                let mut body = respond.send_response(head, false).unwrap();
                body.send_data(Bytes::from_static(b"6"), false).unwrap();
                body.send_trailers(said).unwrap();
            } else {
                *head.headers_mut() = said;
                respond.send_response(head, true).unwrap();
            }
        });
        let ([result], _) = locally(ask_times(server, &ask())).await;
        let wanted = wanted.map(|words| Fault::Mismatch(format!("GET /: {words}")));
        assert_eq!(result.err(), wanted);
    }
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_request_in_http_2_leaves_the_connection_usable() {
    let asked = Cell::new(0);
    let (server, connections) = server(async move |_, respond| {
        asked.set(asked.get() + 1);
        if asked.get() == 1 {
            sleep(2 * SECOND).await;
        }
        six(respond);
    });
    locally(async {
        let request = prepared(&ask());
        let mut connection = Connection::to(&target(1), server, &[]).await.unwrap();
        assert!(timeout(SECOND, connection.ask(&request)).await.is_err());
        assert_eq!(connection.ask(&request).await, Ok(()));
        assert_eq!((connection.closed, connections.get()), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn a_connection_ends_with_its_last_lane() {
    let ended = Rc::<Cell<bool>>::default();
    let end = ended.clone();
    let server = Memory::new(move |stream| {
        let end = end.clone();
        spawn_local(async move {
            serve(stream, Rc::new(async |_, respond| six(respond))).await;
            end.set(true);
        });
    });
    locally(async {
        let ([result], connection) = ask_times(server, &ask()).await;
        assert_eq!((result, ended.get()), (Ok(()), false));
        drop(connection);
        timeout(SECOND, async {
            while !ended.get() {
                yield_now().await;
            }
        })
        .await
        .unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_is_not_http_2_is_named() {
    for (bytes, words) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "without --http 2, `lab` speaks HTTP/1.1"),
        (frame(5, 1, &[0; 4]), "is not HTTP/2"),
        (frame(8, 0, &[0x7f, 0xff, 0xff, 0xff]), "(FLOW_CONTROL_ERROR)"),
    ] {
        let server = Memory::new(move |mut stream| {
            let bytes = bytes.clone();
            spawn_local(async move {
                let _ = stream.write_all(&bytes).await;
                while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
            });
        });
        let ([result], _) = locally(ask_times(server, &ask())).await;
        let fault = result.unwrap_err().to_string();
        assert!(fault.contains(words), "{fault}");
    }
}

#[tokio::test]
async fn the_headers_of_an_answer_in_http_2_are_read() {
    let (server, _) = server(async |_, mut respond: Respond| {
        let head = Response::builder().status(404).header("X-A", "b: c").body(()).unwrap();
        let mut body = respond.send_response(head, false).unwrap();
        body.send_data(Bytes::from_static(b"none"), true).unwrap();
    });
    locally(async {
        let mut connection = Connection::to(&target(1), server, &[]).await.unwrap();
        let answer = connection.fetch(&prepared(&ask()), 4).await.unwrap();
        assert_eq!((answer.status, &answer.body[..]), (404, &b"none"[..]));
        assert_eq!(answer.header("x-a").unwrap(), "b: c");
        let error = connection.fetch(&prepared(&ask()), 3).await.unwrap_err();
        assert!(error.is::<crate::TooLong>(), "{error}");
    })
    .await;
}
