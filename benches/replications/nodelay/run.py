"""When does an answer wait for a delayed acknowledgement? Asks servers of several frameworks, each as its documentation
has it, over one connection; and the case small-writes under other loads: `just replicate nodelay`.

Takes two minutes, and one before the first run, in which cargo builds the servers in Rust.
"""

import argparse
import json
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from harness import TARGET, Problem
from harness.lab import find_binary
from harness.processes import Process, started, wait_for_url
from harness.report import SHORT, add_options, number, save, say, table
from harness.tools import TOOLS

HERE = Path(__file__).resolve().parent
OUT = TARGET / "replications"
# What the servers answer with, as text in memory and as a file.
BODY = b"".join(b"line %03d of a page\n" % line for line in range(700))
ANSWERS, FEW = 200, 20
# The first answers over a new connection are acknowledged at once.
WARM_UP = 20
# The least wait of Linux before an acknowledgement that nothing else carries.
DELAYED_MS = 30
# Where the numbers of segments are in the kernel's `struct tcp_info`: received with data, since the connection began.
DATA_SEGMENTS_IN = 152
PAUSES_MS = (0, 20, 60, 200)
SIZES = (200, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)


class Connection:
    """A client of its own, which says how many segments it got."""

    def __init__(self, url: str):
        host, port = re.fullmatch(r"http://([\d.]+):(\d+)", url).groups()
        self.host = f"{host}:{port}"
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def segments(self) -> int | None:
        if not hasattr(socket, "TCP_INFO"):
            return None
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return struct.unpack_from("I", info, DATA_SEGMENTS_IN)[0] if len(info) >= DATA_SEGMENTS_IN + 4 else None

    def ask(self, path: str, body: bytes | None = None) -> tuple[bytes, float]:
        """A body, and the milliseconds until its last byte."""
        head = f"GET {path}" if body is None else f"PUT {path}"
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        start = time.perf_counter()
        self.socket.sendall(f"{head} HTTP/1.1\r\nHost: {self.host}\r\n{length}\r\n".encode() + (body or b""))
        received = b""
        while (answer := whole(received)) is None:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise Problem(f"{self.host} closes the connection: {received[:60]!r}")
            received += piece
        return answer, 1000 * (time.perf_counter() - start)

    def close(self):
        self.socket.close()


def whole(received: bytes) -> bytes | None:
    """The body of an answer, once all of it is here."""
    head, found, body = received.partition(b"\r\n\r\n")
    if not found:
        return None
    if not re.match(rb"HTTP/1\.1 20[04]", head):
        raise Problem(f"a server answers {head.splitlines()[0]!r}")
    if b" 204 " in head.splitlines()[0]:
        return b""
    length = re.search(rb"(?im)^content-length: *(\d+)", head)
    if length:
        return body if len(body) >= int(length[1]) else None
    chunks = b""
    while True:
        size, found, rest = body.partition(b"\r\n")
        if not found:
            return None
        size = int(size, 16)
        if len(rest) < size + 2:
            return None
        chunks, body = chunks + rest[:size], rest[size + 2:]
        if size == 0:
            return chunks


def over_one_connection(url: str, path: str, answers: int, expected: bytes, pause_ms: float = 0) -> dict:
    """The answers to one request after the other: their times, and the segments in which one came."""
    connection, times = Connection(url), []
    for turn in range(WARM_UP + answers):
        if turn == WARM_UP:
            before = connection.segments()
        time.sleep(pause_ms / 1000)
        answer, ms = connection.ask(path)
        if answer != expected:
            raise Problem(f"{url}{path} answers {answer[:60]!r}…")
        times += [ms] * (turn >= WARM_UP)
    after = connection.segments()
    connection.close()
    per_answer = None if after is None else (after - before) / answers
    return {"p50_ms": statistics.median(times), "late": sum(ms >= DELAYED_MS for ms in times) / answers,
            "segments": per_answer}


def over_new_connections(url: str, path: str, answers: int) -> dict:
    times = []
    for _ in range(answers):
        start = time.perf_counter()
        connection = Connection(url)
        connection.ask(path)
        times.append(1000 * (time.perf_counter() - start))
        connection.close()
    return {"p50_ms": statistics.median(times), "late": sum(ms >= DELAYED_MS for ms in times) / answers,
            "segments": None}


def sets_nodelay(process: Process, url: str, scratch: Path) -> bool | None:
    """Whether a server sets the option on a connection that it accepts; None without strace."""
    if not TOOLS["strace"].find("strace"):
        return None
    log = scratch / "strace"
    command = ["strace", "-f", "-qq", "-e", "trace=setsockopt,accept,accept4", "-o", log]
    with started("strace", [*command, *(f"-p{pid}" for pid in process.family())], scratch) as tracer:
        time.sleep(0.7)
        connection = Connection(url)
        connection.ask("/ready")
        connection.close()
        time.sleep(0.3)
        tracer.child.send_signal(signal.SIGINT)
        tracer.child.wait(timeout=30)
    said = log.read_text(errors="replace")
    if "accept" not in said:
        raise Problem("strace saw no connection; may it trace other processes (kernel.yama.ptrace_scope)?")
    return "TCP_NODELAY, [1]" in said


def build_rust() -> Path:
    """The program with all servers in Rust."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", HERE / "rust/Cargo.toml",
               "--target-dir", OUT]
    say("building the servers in Rust")
    if subprocess.run(command).returncode:
        raise Problem("cargo did not build the servers; its message is above")
    return OUT / "release/nodelay-servers"


def rust_version(name: str) -> str:
    lock = (HERE / "rust/Cargo.lock").read_text()
    return re.search(rf'name = "{name}"\nversion = "([^"]+)"', lock)[1]


def said_version(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return re.search(r"\d+(\.\d+)+", done.stdout)[0]


def servers(scratch: Path) -> dict[str, list]:
    """The commands of all servers whose languages are here, by framework and version."""
    file = scratch / "small.txt"
    file.write_bytes(BODY)
    found = {}
    if shutil.which("cargo"):
        program = build_rust()
        for name, crate in {"axum::serve": "axum", "warp": "warp", "hyper-util": "hyper-util",
                            "actix-web": "actix-web"}.items():
            found[f"{name} {rust_version(crate)}"] = [program, crate, file]
    if shutil.which("node"):
        found[f"Node http {said_version('node', '--version')}"] = ["node", HERE / "server.js", file]
    if shutil.which("go"):
        program = scratch / "go-server"
        if subprocess.run(["go", "build", "-o", program, HERE / "server.go"]).returncode:
            raise Problem("go did not build server.go; its message is above")
        found[f"Go net/http {said_version('go', 'version')}"] = [program, file]
    version = ".".join(map(str, sys.version_info[:3]))
    found[f"Python http.server {version}"] = [sys.executable, HERE / "server.py", file]
    if shutil.which("javac"):
        if subprocess.run(["javac", "-d", scratch, HERE / "Server.java"]).returncode:
            raise Problem("javac did not compile Server.java; its message is above")
        found[f"JDK HttpServer {said_version('java', '-version')}"] = ["java", "-cp", scratch, "Server", file]
    for tool in ("cargo", "node", "go", "javac"):
        if not shutil.which(tool):
            say(f"skipped: no {tool}; {TOOLS[tool].install}")
    return found


def of_frameworks(scratch: Path, answers: int) -> list[dict]:
    rows = []
    for name, command in servers(scratch).items():
        say(name)
        with started("server", command, scratch) as process:
            url = wait_for_url(process)
            row = {"server": name, "nodelay": sets_nodelay(process, url, scratch)}
            for path in ("/ready", "/file"):
                row[path[1:]] = over_one_connection(url, path, answers, BODY)
        rows.append(row)
    return rows


def of_case(chosen: argparse.Namespace, scratch: Path, answers: int) -> tuple[list[dict], list[dict]]:
    """Both servers of the case: under other loads, and with labels of other sizes."""
    loads, sizes = {}, {}
    for variant in ("slow", "fixed"):
        say(f"small-writes-{variant}")
        with started("case", [find_binary(chosen.bin_dir, f"small-writes-{variant}")], scratch) as process:
            url = wait_for_url(process)
            asked = Connection(url)
            label, _ = asked.ask("/labels/17")
            for pause in PAUSES_MS:
                few = answers if pause <= 20 else max(FEW, answers // 4)
                what = "asks again at once" if pause == 0 else f"pauses for {pause} ms"
                loads.setdefault(what, {})[variant] = over_one_connection(url, "/labels/17", few, label, pause)
            loads.setdefault("opens a connection each time", {})[variant] = over_new_connections(url, "/labels/17", answers)
            for size in SIZES:
                text = (BODY * (size // len(BODY) + 1))[:size]
                asked.ask("/labels/18", text)
                sizes.setdefault(size, {})[variant] = over_one_connection(url, "/labels/18", answers // 2, text)
            asked.close()
    return ([{"load": load, **of} for load, of in loads.items()], [{"bytes": size, **of} for size, of in sizes.items()])


def yes(known: bool | None) -> str:
    return "-" if known is None else "yes" if known else "no"


def options():
    parser = argparse.ArgumentParser(prog="just replicate nodelay", description=__doc__)
    add_options(parser, f"{FEW} answers of each")
    return parser.parse_args()


def main():
    chosen = options()
    answers = FEW if chosen.short else ANSWERS
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        frameworks = of_frameworks(scratch, answers)
        loads, sizes = of_case(chosen, scratch, answers)

    head = ["", "sets TCP_NODELAY", "ready: segments", "ready: p50 ms", "file: segments", "file: p50 ms", "file: late"]
    rows = [[row["server"], yes(row["nodelay"])] + [number(row[kind][figure], digits) for kind in ("ready", "file")
            for figure, digits in (("segments", 1), ("p50_ms", 2))] + [f"{100 * row['file']['late']:.0f} %"]
            for row in frameworks]
    pair = ["slow: p50 ms", "slow: late", "fixed: p50 ms", "fixed: late"]

    def both(row):
        return [cell for variant in ("slow", "fixed")
                for cell in (number(row[variant]["p50_ms"], 2), f"{100 * row[variant]['late']:.0f} %")]

    load_table = ["the client", *pair], [[row["load"], *both(row)] for row in loads]
    size_table = ["bytes of a label", *pair], [[number(row["bytes"], 0), *both(row)] for row in sizes]
    print(table(head, rows), table(*load_table), table(*size_table), sep="\n\n")
    notes = [f"{answers} answers each over one connection, after {WARM_UP} that don't count; late is {DELAYED_MS} ms or more",
             *[SHORT] * chosen.short]
    print("".join(f"note: {note}\n" for note in notes))
    record = {"answers": answers, "body_bytes": len(BODY), "frameworks": frameworks, "loads": loads, "sizes": sizes, "notes": notes}
    save("nodelay", record, chosen, ["strace"], frameworks=(head, rows), loads=load_table, sizes=size_table)
    return 0
