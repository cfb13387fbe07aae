"""What else happens to `lab`, besides system calls that fail: one function for each class of faults, of the long form.

Each yields what is wrong. It raises `Skipped` where the machine lacks something.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import Skipped
from harness.processes import below
from harness.quota import quota

PATIENCE = 120
# At once in one directory.
MANY = 8


class Hangs(Exception):
    """A `lab` that doesn't end."""


@dataclass(frozen=True)
class Site:
    """Where the runs take place."""

    lab: Path
    # A server that answers `GET /cpu?rounds=10`.
    server: str
    # Of the runs, and of the records.
    directory: Path
    # What the processes of a run have in their environment.
    mark: tuple[str, str]
    # The processes of the runs that are still there a moment later.
    left: Callable[[], list[str]]
    # What is wrong with the files of all runs.
    broken: Callable[[], Iterator[str]]

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            [self.lab, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
            env=os.environ | dict([self.mark]) | {"RUST_BACKTRACE": "0"},
        )

    def compare(self, candidate: str, *more: str, get: str = "/cpu?rounds=10",
                baseline: str | None = None) -> subprocess.Popen:
        load = ["--users", "2", "--think-ms", "2", "--get", get, "--open-loop", "0", "--warm-up", "0.1"]
        return self.start("compare", baseline or self.server, candidate, *load, *more)

    def end(self, lab: subprocess.Popen) -> tuple[str, str]:
        """What it prints until it ends. If it doesn't, nothing of it stays."""
        try:
            return lab.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            lab.kill()
            self.left()
            raise Hangs(f"does not end within {PATIENCE} s") from None

    def untidy(self) -> Iterator[str]:
        """What runs left behind."""
        if left := self.left():
            yield f"left behind: {', '.join(left)}"
        yield from self.broken()

    def faults(self, lab: subprocess.Popen, codes: set[int]) -> Iterator[str]:
        """What is wrong with a run that ends now, and has to end with one of these codes."""
        try:
            out, err = self.end(lab)
        except Hangs as fault:
            yield str(fault)
            return
        if lab.returncode not in codes:
            yield f"exit code {lab.returncode} instead of {sorted(codes)}: {(out + err).strip()[-400:]}"
        if "panicked at" in "".join(line for line in err.splitlines() if not line.startswith("  | ")):
            yield f"panicked: {err.strip()[-400:]}"
        yield from self.untidy()


# Its arguments are a port, and from which request on, counted from 0, up to which one its answers are wrong.
ODD_SERVER = '''
import socket, sys, threading
port, first, last = map(int, sys.argv[1:4])
lock, served = threading.Lock(), 0
def serve(c):
    global served
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while asked := c.recv(4096):
        for _ in range(asked.count(b"\\r\\n\\r\\n")):
            with lock:
                n, served = served, served + 1
            status = b"500 X" if first <= n < last and sys.argv[4] == "status" else b"200 OK"
            body = b"7" if first <= n < last and sys.argv[4] == "body" else b"6"
            c.sendall(b"HTTP/1.1 " + status + b"\\r\\ncontent-length: 1\\r\\n\\r\\n" + body)
server = socket.create_server(("127.0.0.1", port), backlog=100)
while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
'''


def warm_up(site: Site) -> Iterator[str]:
    """A wrong answer is an error, although it came before the measurement."""
    script = site.directory / "odd.py"
    script.write_text(ODD_SERVER)

    def server(first: int, last: int, how: str) -> str:
        return f"{sys.executable} {script} {{port}} {first} {last} {how}"

    good = server(0, 0, "body")
    short = ["--pairs", "1", "--measurement", "0.2"]
    yield from site.faults(site.compare(good, *short, get="/", baseline=good), {3})
    # The answers are compared by up to 4 requests before.
    yield from site.faults(site.compare(good, *short, get="/", baseline=server(6, 7, "body")), {2})
    for first, last in ((6, 7), (10, 60)):
        for how in ("status", "body"):
            wrong = server(first, last, how)
            yield from site.faults(site.compare(wrong, *short, get="/", baseline=good), {2})


def quotas(site: Site) -> Iterator[str]:
    """Equal servers, of which a quota stops one, get no verdict."""
    with quota(0.2) as group:
        members = group / "cgroup.procs"
        inside = f"sh -c 'echo $$ > {members}; exec {site.server}'"
        # Long enough for several periods. Without a pause, so that it uses its quota up.
        runs = ["--pairs", "6", "--measurement", "0.6", "--think-ms", "0", "--json"]
        runs_of = [("candidate", site.server, inside), ("baseline", inside, site.server)]
        for side, baseline, candidate in runs_of:
            lab = site.start("compare", baseline, candidate, "--users", "2",
                             "--get", "/cpu?rounds=2000", "--open-loop", "0", "--warm-up", "0.1", *runs)
            out, err = site.end(lab)
            reason = json.loads(out)["reason"] if lab.returncode in {0, 1, 3} else {"code": err[-400:]}
            if reason["code"] != "side-throttled" or reason["variant"] != side or lab.returncode != 3:
                yield f"a quota of the {side} gives exit code {lab.returncode}: {reason}"
        # `lab` and all that it starts.
        arguments = ["--pairs", "1", "--measurement", "0.2"]
        lab = site.compare(site.server, *arguments)
        members.write_text(str(lab.pid))
        yield from site.faults(lab, {2, 3})


# The commands of the processes below `lab`.
ROLES = {"generator": re.compile(r" generate$"), "supervisor": re.compile(r" supervise -- "),
         "server": re.compile(r"^\S*hot-clone-fixed$"), "perf": re.compile(r"(^|/)perf (stat|record) ")}


def find(site: Site, lab: subprocess.Popen, role: str) -> int | None:
    """The process of a role, once there is one; None if `lab` ends first."""
    # `lab` itself, once it has a server.
    pattern = ROLES.get(role, ROLES["server"])
    end = time.monotonic() + PATIENCE
    while lab.poll() is None and time.monotonic() < end:
        for pid, command in below(*site.mark).items():
            if pattern.search(command):
                return pid if role in ROLES else lab.pid
        time.sleep(0.01)
    return None


def stopped(site: Site) -> Iterator[str]:
    """A process that is stopped for a while, killed then, or stopped for good, is no verdict and leaves nothing."""
    for role in ("lab", *ROLES):
        if role == "perf" and not shutil.which("perf"):
            raise Skipped("no perf; a stopped perf needs it")
        for then in ("goes on", "is killed", *(["stays"] if role == "server" else [])):
            lab = site.compare(site.server, "--pairs", "1", "--measurement", "0.8")
            if (pid := find(site, lab, role)) is None:
                yield from (f"{role}: {fault}" for fault in site.faults(lab, {3}))
                yield f"there is no {role}"
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.5)
                if then == "goes on":
                    os.kill(pid, signal.SIGCONT)
                elif then == "is killed":
                    os.kill(pid, signal.SIGKILL)
            # A killed count costs no measurement, and a pause may be longer than what `lab` waits for.
            codes = {-9} if (role, then) == ("lab", "is killed") else {2, 3}
            yield from (f"a stopped {role} {then}: {fault}" for fault in site.faults(lab, codes))


FUNCTION = r'''
#[inline(never)]
#[export_name = "SYMBOL"]
pub extern "C" fn workNUMBER(n: u64) -> u64 {
    (0..1_000_000u64).fold(n, |sum, i| std::hint::black_box(sum.rotate_left(5 + NUMBER) ^ i))
}
'''
HOSTILE = r'''
use std::{io::{Read, Write}, net::TcpListener, thread};
fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("listening on http://{}", listener.local_addr().unwrap());
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let name = "\u{1b}[2J<b>&\u{202e}".to_owned();
        thread::Builder::new().name(name).spawn(move || {
            let mut asked = [0; 4096];
            while let Ok(1..) = stream.read(&mut asked) {
                std::hint::black_box(CALLS);
                if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n6").is_err() { break }
            }
        }).unwrap();
    }
}
'''
# Names of functions, each with a word that has to be in the stacks.
SYMBOLS = {
    "alert(1)": r"\x1b]0;owned\x07<script>alert(1)</script>", "lines": r"lines\r\tb\u{202e}c",
    "section": r"]]>--><!-- section &amp; \u{9b}2J", "clear": r"\u{1b}[2J;;clear` ${x} %s",
}
# What a terminal obeys, but for the end of a line.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def symbols(site: Site) -> Iterator[str]:
    """Names of functions and threads write neither a terminal nor a picture nor a page."""
    for needed in ("rustc", "perf"):
        if not shutil.which(needed):
            raise Skipped(f"no {needed}; hostile symbols need it")
    program = site.directory / "hostile"
    source = program.with_suffix(".rs")
    functions = [FUNCTION.replace("SYMBOL", symbol).replace("NUMBER", str(number))
                 for number, symbol in enumerate(SYMBOLS.values())]
    calls = " ^ ".join(f"work{number}({number})" for number in range(len(SYMBOLS)))
    source.write_text(HOSTILE.replace("CALLS", calls) + "".join(functions))
    built = subprocess.run(["rustc", "--edition", "2021", "-O", "-g", "-o", program, source], capture_output=True,
                           text=True)
    if built.returncode:
        yield f"the server can't be built: {built.stderr[-400:]}"
        return
    for arguments in (["flame", "--exec", str(program), "--get", "/", "--seconds", "5"],
                      ["triage", str(program), "--get", "/"]):
        verb = arguments[0]
        lab = site.start(*arguments)
        out, err = site.end(lab)
        if lab.returncode:
            yield f"`lab {verb}`: exit code {lab.returncode}: {err[-400:]}"
        if found := CONTROL.search(out + err):
            yield f"`lab {verb}` prints {found[0]!r}"
        directory = site.directory / "target" / "lab" / verb
        texts = {path: path.read_text() for path in directory.rglob("*") if path.suffix in {".svg", ".html", ".folded"}}
        for path, text in texts.items():
            if found := CONTROL.search(text):
                yield f"{path.name} of `lab {verb}` has {found[0]!r}"
            if path.suffix == ".html" and "<script>alert(1)" in text:
                yield f"{path.name} of `lab {verb}` runs a script"
            if path.suffix == ".svg":
                try:
                    xml.fromstring(text)
                except xml.ParseError as error:
                    yield f"{path.name} of `lab {verb}`: {error}"
        stacks = "".join(text for path, text in texts.items() if path.suffix in {".folded", ".svg"})
        if missing := [word for word in SYMBOLS if word not in stacks]:
            yield f"no stack of `lab {verb}` has {', '.join(missing)}: {(out + err)[-600:]}"
    yield from site.untidy()


def at_once(site: Site) -> Iterator[str]:
    """So many `lab` in one directory keep a record each."""
    runs = site.directory / "target" / "lab" / "runs"
    before = len(list(runs.glob("*.json")))
    labs = [site.compare(site.server, "--pairs", "1", "--measurement", "0.2") for _ in range(MANY)]
    ends = [site.end(lab) for lab in labs]
    for lab, (_, err) in zip(labs, ends, strict=True):
        if lab.returncode != 3:
            yield f"exit code {lab.returncode} instead of 3: {err[-400:]}"
    if (kept := len(list(runs.glob("*.json"))) - before) != MANY:
        yield f"{kept} records of {MANY} runs"
    yield from site.untidy()


CLASSES: dict[str, Callable[[Site], Iterator[str]]] = {
    "warm-up": warm_up, "quotas": quotas, "stopped": stopped, "symbols": symbols, "at-once": at_once,
}
