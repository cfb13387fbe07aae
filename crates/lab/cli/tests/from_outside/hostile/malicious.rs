//! Servers that do what no server should, a line each, and what `lab compare` says to them: it neither hangs nor
//! fills the memory, reports no verdict on them, and leaves no process.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Output},
    sync::Mutex,
    thread::{scope, sleep},
    time::Duration,
};

use crate::toy::{CALM, SHORT, Toy, stderr, stdout, with_itself};

/// A server in Python. Its arguments are a port, when it misbehaves, and how: a statement.
///
/// In the statement, `c` is a connection, and `n` is how many requests came before this one; `nth`, how many of them
/// over this connection. In HTTP/2, `s` is the stream of a request.
const SERVER: &str = r#"
import os, signal, socket, subprocess, sys, threading, time
port, when, how = int(sys.argv[1]), sys.argv[2], compile(sys.argv[3], "how", "exec")
open(f"pids/{os.getpid()}", "w").close()
lock, served = threading.Lock(), 0
def ok(body=b"6", head=b"", status=b"200 OK"):
    return b"HTTP/1.1 " + status + b"\r\n" + head + b"content-length: %d\r\n\r\n" % len(body) + body
def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
def forever(c, data, pause=0):
    while True:
        c.sendall(data)
        time.sleep(pause)
def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
def header(name, value):
    return b"\0" + b"".join(bytes([len(it)]) + it for it in (name, value))
def head2(stream, more=b"", flags=4):
    return frame(1, flags, stream, b"\x88" + more)
def ok2(stream):
    return head2(stream) + frame(0, 1, stream, b"6")
def http2(c, answer, settings=b""):
    # Calls `answer` for each request, with how many came before it. One in HTTP/1.1 only gets the settings.
    global served
    c.sendall(frame(4, 0, 0, settings))
    asked = c.makefile("rb")
    if asked.read(24)[:3] == b"PRI":
        while (head := asked.read(9)):
            kind, stream, payload = head[3], int.from_bytes(head[5:], "big"), asked.read(int.from_bytes(head[:3], "big"))
            if kind == 4 and head[4] == 0:
                c.sendall(frame(4, 1))
            if kind == 1:
                with lock:
                    n, served = served, served + 1
                answer(c, stream, n)
def listen(at):
    server = socket.create_server(("127.0.0.1", at), backlog=100)
    threading.Thread(target=accept, args=[server], daemon=True).start()
    return server
def accept(server):
    while True:
        threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
def serve(c):
    global served
    nth = 0
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        if when == "accept":
            exec(how, globals(), {"c": c})
        while (asked := c.recv(4096)):
            for _ in range(asked.count(b"\r\n\r\n")):
                with lock:
                    n, served = served, served + 1
                if when == "ask":
                    exec(how, globals(), {"c": c, "n": n, "nth": nth})
                else:
                    c.sendall(ok())
                nth += 1
    except OSError:
        pass
    c.close()
if when == "start":
    exec(how)
main = listen(port)
if when == "listening":
    exec(how)
signal.pause()
"#;

/// What a server does, when, and how; the exit code of `lab`, and a part of what it prints.
type Malice = (&'static str, &'static str, &'static str, i32, &'static str);

#[rustfmt::skip]
const ROWS: &[Malice] = &[
    // Heads.
    ("an endless head", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\n"); forever(c, b"a: b\r\n")"#, 2, "a head or a line of more than 307200 bytes"),
    ("an endless line", "ask", r#"c.sendall(b"HTTP/1.1 200 "); forever(c, b"x" * 999)"#, 2, "a head or a line of more than 307200 bytes"),
    ("a head of 1,000 headers", "ask", r#"c.sendall(ok(head=b"a: b\r\n" * 1000))"#, 3, "undecided"),
    ("a byte of head each second", "ask", r#"c.sendall(ok()[:17]); forever(c, b"a", 1)"#, 2, "no answer within 30 s"),
    ("half a head", "ask", r#"c.sendall(ok()[:20]); time.sleep(60)"#, 2, "no answer within 30 s"),
    ("a head that breaks off", "ask", r#"c.sendall(ok()[:20]); c.close()"#, 2, "the server closed the connection"),
    ("no answer", "ask", r#"time.sleep(60)"#, 2, "no answer within 30 s"),
    ("HTTP/0.9", "ask", r#"c.sendall(b"<html>6</html>"); c.close()"#, 2, "the answer is not HTTP"),
    ("another protocol", "accept", r#"c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")"#, 2, "the answer is not HTTP"),
    ("a TLS alert", "ask", r#"c.sendall(bytes([21, 3, 1, 0, 2, 2, 40])); c.close()"#, 2, "the server answers in TLS"),
    ("HTTP/2 settings", "ask", r#"c.sendall(frame(4)); time.sleep(60)"#, 2, "no answer within 30 s"),
    ("zero bytes", "ask", r#"forever(c, bytes(4096))"#, 2, "the answer is not HTTP"),
    ("a storm of 100 Continue", "ask", r#"forever(c, b"HTTP/1.1 100 Continue\r\n\r\n" * 99)"#, 2, "no answer within 30 s"),
    ("101 Switching Protocols", "ask", r#"c.sendall(b"HTTP/1.1 101 X\r\nupgrade: h2c\r\n\r\n")"#, 2, "the server switches to another protocol"),
    ("a WebSocket", "ask", r#"c.sendall(b"HTTP/1.1 101 X\r\nupgrade: websocket\r\n\r\n")"#, 2, "this is a WebSocket"),
    ("a WebSocket that asks for an upgrade", "ask", r#"c.sendall(ok(head=b"upgrade: websocket\r\n", status=b"426 X"))"#, 2, "what the baseline has at / is a WebSocket"),
    ("a WebSocket that misses a header", "ask", r#"c.sendall(ok(head=b"sec-websocket-version: 13\r\n", status=b"400 X"))"#, 2, "what the baseline has at / is a WebSocket"),
    ("a stream of events", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"); forever(c, b"data: x\n\n", 0.1)"#, 2, "a stream of events (text/event-stream) that has not ended after 5 s"),
    ("a stream of events that ends", "ask", r#"c.sendall(ok(b"data: x\n\n", b"content-type: text/event-stream\r\n"))"#, 3, "undecided"),
    ("an offer of HTTP/3", "ask", r#"c.sendall(ok(head=b'alt-svc: h3=":443"; ma=86400\r\n'))"#, 3, "undecided"),
    ("status 000", "ask", r#"c.sendall(ok(status=b"000 X"))"#, 2, "the answer is not HTTP"),
    ("status 999", "ask", r#"c.sendall(ok(status=b"999 X"))"#, 2, "with status 999: 6"),
    ("a status that is no number", "ask", r#"c.sendall(ok(status=b"2OO OK"))"#, 2, "the answer is not HTTP/1: it begins with"),
    ("escapes in the status", "ask", r#"c.sendall(ok(status=b"500 \x1b]0;pwned\x07\x1b[2J"))"#, 2, "the answer is not HTTP/1: it begins with"),
    ("a header with escapes", "ask", r#"c.sendall(ok(head=b"content-type: \x1b[2J\r\n"))"#, 3, "undecided"),
    ("a folded header", "ask", r#"c.sendall(ok(head=b"a: b\r\n content-length: 9\r\n"))"#, 3, "undecided"),
    ("a space before the colon", "ask", r#"c.sendall(ok(head=b"content-length : 9\r\n"))"#, 2, "two different lengths"),
    // Lengths.
    ("a longer body than said", "ask", r#"c.sendall(ok() + b"surplus")"#, 3, "`lab` closed them"),
    ("a shorter body than said", "ask", r#"c.sendall(ok()[:-1]); c.close()"#, 2, "the answer broke off: the server closed the connection"),
    ("a body that never ends", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\n\r\n"); forever(c, b"x" * 65536)"#, 2, "the body has more than 256 MiB"),
    ("chunks that never end", "ask", r#"c.sendall(CHUNKED); forever(c, chunk(b"x" * 65536))"#, 2, "the body has more than 256 MiB"),
    ("small chunks that never end", "ask", r#"c.sendall(CHUNKED); forever(c, chunk(b"x" * 64) * 999)"#, 2, "the body has more than 256 MiB"),
    ("chunk extensions that never end", "ask", r#"c.sendall(CHUNKED + b"1;"); forever(c, b"a=b;" * 999)"#, 2, "a head or a line of more than 307200 bytes"),
    ("trailers that never end", "ask", r#"c.sendall(CHUNKED + b"0\r\n"); forever(c, b"a: b\r\n")"#, 2, "but not its end"),
    ("a chunk of 2^64 bytes", "ask", r#"c.sendall(CHUNKED + b"10000000000000000\r\n"); time.sleep(60)"#, 2, "a chunk has no length"),
    ("a chunk without its length", "ask", r#"c.sendall(CHUNKED + b"\r\n6\r\n")"#, 2, "a chunk has no length"),
    ("a negative chunk", "ask", r#"c.sendall(CHUNKED + b"-1\r\n6\r\n")"#, 2, "a chunk has no length"),
    ("a chunk longer than said", "ask", r#"c.sendall(CHUNKED + b"1\r\n66\r\n0\r\n\r\n")"#, 2, "a chunk is longer than it said"),
    ("a length of 2^64", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551616\r\n\r\n6")"#, 2, "`18446744073709551616` is not a number"),
    ("a length of 2^63, and bytes", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775808\r\n\r\n"); forever(c, b"x" * 65536)"#, 2, "the body has more than 256 MiB"),
    ("a length of +1", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n6")"#, 2, "`+1` is not a number"),
    ("a length of -1", "ask", r#"c.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n6")"#, 2, "`-1` is not a number"),
    ("two lengths", "ask", r#"c.sendall(ok(head=b"content-length: 2\r\n"))"#, 2, "two different lengths"),
    ("a length and chunks", "ask", r#"c.sendall(ok(b"1\r\n6\r\n0\r\n\r\n", b"transfer-encoding: chunked\r\n"))"#, 3, "undecided"),
    ("a body after 204", "ask", r#"c.sendall(ok(status=b"204 No Content"))"#, 3, "undecided"),
    ("escapes and HTML in a wrong body", "ask", r#"c.sendall(ok(b"\x1b]0;pwned\x07<script>alert(1)</script>", status=b"500 X"))"#, 2, "with status 500: \\u{1b}]0;pwned\\u{7}<script>"),
    ("a body that is not text", "ask", r#"c.sendall(ok(bytes(range(256)), status=b"500 X"))"#, 2, "with status 500"),
    ("a byte of body each second", "ask", r#"c.sendall(ok(b"6" * 60)[:40]); forever(c, b"6", 1)"#, 2, "no answer within 30 s"),
    // Connections.
    ("a reset after accept", "accept", r#"c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"); c.close()"#, 2, "Connection reset by peer"),
    ("closed after accept", "accept", r#"c.close()"#, 2, "GET /: no answer: "),
    ("a reset instead of an answer", "ask", r#"c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"); c.close()"#, 2, "Connection reset by peer"),
    ("an answer before the request", "accept", r#"c.sendall(ok())"#, 3, "opened again"),
    ("every answer twice", "ask", r#"c.sendall(ok() * 2)"#, 3, "`lab` closed them"),
    ("closed after each answer", "ask", r#"c.sendall(ok()); c.close()"#, 3, "opened again"),
    ("closed after each answer, without saying so", "ask", r#"c.sendall(ok()); c.shutdown(socket.SHUT_WR)"#, 3, "opened again"),
    ("a connection's tenth request closed unanswered", "ask", r#"c.shutdown(2) if nth == 9 else c.sendall(ok())"#, 3, "sent again, because"),
    ("accepts nothing", "start", r#"s = socket.create_server(("127.0.0.1", port)); signal.pause()"#, 2, "no answer within 30 s"),
    // HTTP/2.
    ("HTTP/2", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s)))"#, 3, "over HTTP/2"),
    ("settings that never end", "accept", r#"http2(c, lambda c, s, n: forever(c, frame(4) * 999))"#, 2, "no answer within 30 s"),
    ("pings that never end", "accept", r#"http2(c, lambda c, s, n: forever(c, frame(6, 0, 0, bytes(8)) * 999))"#, 2, "no answer within 30 s"),
    ("pings that never end, after 8 requests", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s)) if n < 8 else forever(c, frame(6, 0, 0, bytes(8)) * 999))"#, 2, "never got an answer"),
    ("priorities that never end", "accept", r#"http2(c, lambda c, s, n: forever(c, frame(2, 0, s, bytes(5)) * 999))"#, 2, "no answer within 30 s"),
    ("a window of 0", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s)), b"\0\4\0\0\0\0")"#, 3, "over HTTP/2"),
    ("no stream at a time", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s)), b"\0\3\0\0\0\0")"#, 2, "no answer within 30 s"),
    ("a window that overflows", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(8, 0, 0, b"\x7f\xff\xff\xff")))"#, 2, "(FLOW_CONTROL_ERROR)"),
    ("every stream reset", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(3, 0, s, b"\0\0\0\x08")))"#, 2, "the server reset the stream (CANCEL)"),
    ("every stream reset after 8 requests", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s) if n < 8 else frame(3, 0, s, b"\0\0\0\x08")))"#, 2, "the server reset the stream (CANCEL)"),
    ("every stream refused", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(3, 0, s, b"\0\0\0\x07")))"#, 2, "the server reset the stream (REFUSED_STREAM)"),
    ("every second stream refused", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(3, 0, s, b"\0\0\0\x07") if s % 4 == 3 else ok2(s)))"#, 3, "sent again"),
    ("GOAWAY at once", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(7, 0, 0, bytes(8))))"#, 2, "the server ended the connection (NO_ERROR)"),
    ("GOAWAY after each answer", "accept", r#"http2(c, lambda c, s, n: c.sendall(ok2(s) + frame(7, 0, 0, s.to_bytes(4, "big") + bytes(4))))"#, 3, "opened again"),
    ("closed instead of an answer", "accept", r#"http2(c, lambda c, s, n: c.shutdown(2))"#, 2, "no answer: the server closed the connection"),
    ("a head in frames that never end", "accept", r#"http2(c, lambda c, s, n: (c.sendall(head2(s, flags=0)), forever(c, frame(9, 0, s, header(b"a", b"b") * 2000))))"#, 2, "a head of more than 307200 bytes"),
    ("a head in empty frames that never end", "accept", r#"http2(c, lambda c, s, n: (c.sendall(head2(s, flags=0)), forever(c, frame(9, 0, s) * 999)))"#, 2, "or a head of more than 307200 bytes"),
    ("a head that grows when it is decoded", "accept", r#"http2(c, lambda c, s, n: c.sendall(head2(s, b"\x40\1a\x7f\xa1\x1e" + b"x" * 4000 + b"\xbe" * 12000)))"#, 2, "a head of more than 307200 bytes"),
    ("a head of 1,000 headers in HTTP/2", "accept", r#"http2(c, lambda c, s, n: c.sendall(head2(s, header(b"a", b"b") * 1000) + frame(0, 1, s, b"6")))"#, 3, "over HTTP/2"),
    ("trailers that never end in HTTP/2", "accept", r#"http2(c, lambda c, s, n: (c.sendall(head2(s) + frame(0, 0, s, b"6") + frame(1, 1, s, header(b"a", b"b"))), forever(c, frame(9, 0, s, header(b"a", b"b") * 2000))))"#, 2, "a head of more than 307200 bytes"),
    ("a storm of 100 Continue in HTTP/2", "accept", r#"http2(c, lambda c, s, n: forever(c, frame(1, 4, s, b"\x08\x03100") * 99))"#, 2, "no answer within 30 s"),
    ("a body that never ends in HTTP/2", "accept", r#"http2(c, lambda c, s, n: (c.sendall(head2(s)), forever(c, frame(0, 0, s, b"x" * 16384))))"#, 2, "the body has more than 256 MiB"),
    ("empty frames that never end", "accept", r#"http2(c, lambda c, s, n: (c.sendall(head2(s)), forever(c, frame(0, 0, s) * 999)))"#, 2, "too many empty frames"),
    ("a pushed answer", "accept", r#"http2(c, lambda c, s, n: c.sendall(frame(5, 4, s, b"\0\0\0\2\x82\x84\x86")))"#, 2, "is not HTTP/2"),
    ("a frame of 16 MiB", "accept", r#"http2(c, lambda c, s, n: c.sendall(head2(s) + b"\xff\xff\xff\0\0\0\0\0\1"))"#, 2, "(FRAME_SIZE_ERROR)"),
    ("bytes after the settings", "accept", r#"http2(c, lambda c, s, n: forever(c, b"x" * 999))"#, 2, "is not HTTP/2"),
    ("a call of gRPC that fails", "accept", r#"http2(c, lambda c, s, n: c.sendall(head2(s) + frame(0, 0, s, b"6") + frame(1, 5, s, header(b"grpc-status", b"13") + header(b"grpc-message", b"no%20stock%1b[2J"))))"#, 2, "GET /: grpc-status 13: no stock"),
    // Redirects and other hosts.
    ("a redirect to a file", "ask", r#"c.sendall(ok(head=b"location: file:///etc/passwd\r\n", status=b"302 X"))"#, 2, "redirect (302) to `file:///etc/passwd`"),
    ("a redirect to itself", "ask", r#"c.sendall(ok(head=b"location: /\r\n", status=b"301 X"))"#, 2, "redirect (301) to `/`"),
    ("a redirect with escapes", "ask", r#"c.sendall(ok(head=b"location: /\x1b[2J\r\n", status=b"307 X"))"#, 2, "redirect (307) to `/\\u{1b}[2J`"),
    // Answers that change.
    ("wrong after 8 requests", "ask", r#"c.sendall(ok(b"6" if n < 8 else b"7"))"#, 2, "with CRC 6abf4a82 instead of"),
    ("a longer body each time", "ask", r#"c.sendall(ok(b"6" * (n + 1)))"#, 2, "only its status, content type and length"),
    ("silent after 8 requests", "ask", r#"c.sendall(ok()) if n < 8 else time.sleep(60)"#, 2, "never got an answer"),
    ("an error after 8 requests", "ask", r#"c.sendall(ok() if n < 8 else ok(b"", status=b"500 X"))"#, 2, "status 500 instead of 200"),
    // Processes.
    ("exits at once", "start", r#"sys.exit(0)"#, 2, "exited before it listened (exit code 0)"),
    ("a daemon", "listening", r#"os.fork() and os._exit(0); os.setsid()"#, 2, "a server must stay in the foreground"),
    ("a daemon before it listens", "start", r#"os.fork() and os._exit(0); os.setsid()"#, 2, "a server must stay in the foreground"),
    ("exits after 8 requests", "ask", r#"c.sendall(ok()) if n < 8 else os._exit(7)"#, 2, "died under load (exit code 7)"),
    ("crashes after 8 requests", "ask", r#"c.sendall(ok()) if n < 8 else os.kill(os.getpid(), signal.SIGSEGV)"#, 2, "died under load (exit code 139)"),
    ("kills its parent", "ask", r#"os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"#, 2, "was killed by signal 9"),
    ("kills its process group", "ask", r#"os.killpg(0, signal.SIGKILL)"#, 2, "died under load (exit code 137)"),
    ("stops its parent", "ask", r#"c.sendall(ok()); n == 8 and os.kill(os.getppid(), signal.SIGSTOP)"#, 2, "still runs 10 s after it was asked to end"),
    ("ignores SIGTERM", "listening", r#"signal.signal(signal.SIGTERM, signal.SIG_IGN)"#, 3, "undecided"),
    ("a child that ignores SIGTERM", "listening", r#"signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork() or (os.setsid(), time.sleep(600))"#, 3, "undecided"),
    ("opens 100 ports", "listening", r#"them = [listen(0) for _ in range(100)]"#, 3, "undecided"),
    ("moves its port", "ask", r#"c.sendall(ok()); n == 8 and (main.shutdown(2), main.close(), listen(0))"#, 2, "stopped listening on port"),
    ("prints 32 MiB", "start", r#"[os.write(1, b"x" * 65536) for _ in range(512)]; os._exit(7)"#, 2, "exited before it listened (exit code 7)"),
    ("last lines with escapes", "start", r#"sys.exit("\033]0;pwned\a\033[2Jit fails")"#, 2, "its last lines: | it fails"),
    ("a last line of a megabyte", "start", r#"sys.exit("x" * 1000000)"#, 2, "xxx…"),
    ("10,000 last lines", "start", r#"sys.exit("why\n" * 10000)"#, 2, "| why | why"),
    ("closes its outputs", "start", r#"os.close(1); os.close(2)"#, 3, "undecided"),
    ("names the ports of others", "start", r#"print("listening on http://127.0.0.1:1\nlistening on http://10.0.0.1:80")"#, 3, "undecided"),
];

/// The most memory that `lab` may have, in KiB.
const MOST_KIB: u64 = 64 << 10;
/// A body that never ends is kept up to the length of the longest answer that `lab` compares.
const TOO_LONG: &str = "the body has more than 256 MiB";
const LONGEST_KIB: u64 = 256 << 10;

/// Runs `lab compare` on such a server. Also returns the peak memory of `lab`, in KiB.
fn run(toy: &Toy, (_, when, how, ..): &Malice) -> (Output, u64) {
    let server = shell_words::join(["python3", "server.py", "{port}", when, how])
        .replace("'{port}'", "{port}");
    let mut lab = with_itself(toy, &server, &[&["--pairs=1"], &SHORT[1..], &CALM].concat());
    // Without `perf`, nothing is counted after the runs.
    let lab = lab.env("PATH", toy.path("programs")).spawn().unwrap();
    let status = format!("/proc/{}/status", lab.id());
    let peak = || {
        let status = fs::read_to_string(&status).ok()?;
        status
            .lines()
            .find_map(|it| it.strip_prefix("VmHWM:"))?
            .trim()
            .strip_suffix(" kB")?
            .parse()
            .ok()
    };
    scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while let Some(now) = peak() {
                most = now;
                sleep(Duration::from_millis(20));
            }
            most
        });
        let output = lab.wait_with_output().unwrap();
        (output, watch.join().unwrap())
    })
}

#[test]
#[ignore = "takes a minute or two; `.ci/build practice-test` runs it"]
fn no_server_makes_lab_hang_lie_or_fill_the_memory() {
    let python = ["-c", "import sys; print(sys.executable)"];
    let python = stdout(&Command::new("python3").args(python).output().unwrap());
    let python = python.trim();
    let queue = Mutex::new(ROWS.iter());
    let next = || queue.lock().unwrap().next();
    let faults = Mutex::new(Vec::new());
    let work = || {
        while let Some(row) = next() {
            let (name, _, _, code, words) = row;
            let toy = Toy::new(&[]);
            toy.write("server.py", SERVER);
            fs::create_dir(toy.path("programs")).unwrap();
            symlink(python, toy.path("programs/python3")).unwrap();
            let (mut output, mut peak) = run(&toy, row);
            // Another test's program may have taken the free port meanwhile.
            let is_taken = |output: &Output| {
                let taken = ["but another process does", "create_server("];
                taken.iter().any(|it| stderr(output).contains(it))
            };
            if is_taken(&output) {
                (output, peak) = run(&toy, row);
            }
            let printed = stdout(&output) + &stderr(&output);
            let text = printed.split_whitespace().collect::<Vec<_>>().join(" ");
            let errors = stderr(&output).matches("error: ").count();
            // On a busy machine, a request may be lost, which is an error.
            let is_lost = ["never got an answer", "no right answer in time"];
            let is_lost = is_lost.iter().any(|it| text.contains(it));
            let found = output.status.code().map(|it| if is_lost { it.max(*code) } else { it });
            let is_right = found == Some(*code)
                && text.contains(words)
                && errors <= 1
                && peak < MOST_KIB + if *words == TOO_LONG { LONGEST_KIB } else { 0 }
                && !printed.contains(|it: char| it.is_control() && it != '\n')
                && toy.all_servers_ended();
            if !is_right {
                let code = output.status.code();
                let fault = format!("== {name}: {code:?}, {errors} errors, {peak} KiB\n{printed}");
                faults.lock().unwrap().push(fault);
            }
        }
    };
    scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), ROWS.len(), faults.join("\n"));
}
