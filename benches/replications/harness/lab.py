"""`lab` as a program that answers in JSON: its verbs, the cases, and their servers under load."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import BIN_DIR, ROOT, Problem
from harness.processes import started, wait_for

# Longer than any triage or comparison takes, in seconds.
PATIENCE = 900


def find_binary(bin_dir: str | Path, name: str) -> str:
    path = Path(bin_dir) / name
    if not path.is_file():
        raise Problem(f"no {name} in {bin_dir}; `cargo build --release --workspace` builds it")
    return str(path)


def command(bin_dir: str | Path, *arguments: str) -> list[str]:
    return [find_binary(bin_dir, "lab"), "--root", str(ROOT), "--bin-dir", str(bin_dir), *arguments]


def lab(bin_dir: str | Path, *arguments: str, codes: Sequence[int] = (0,)) -> dict:
    """The JSON document that `lab` prints."""
    with tempfile.TemporaryDirectory() as scratch:
        with started("lab", command(bin_dir, *arguments), Path(scratch)) as process:
            wait_for(process, [], PATIENCE)
            if process.child.returncode not in codes:
                said = [line for line in process.err.read_text(errors="replace").splitlines()
                        if line.startswith("error:")]
                raise Problem(said[-1].removeprefix("error: ") if said else process.died())
            return json.loads(process.output())


def case(name: str, *variants: str, bin_dir: str | Path = BIN_DIR) -> dict:
    """The case with this name or alias, which has to have these variants: its load, requests and counts."""
    found = lab(bin_dir, "load", name)
    for variant in variants:
        if variant not in found["variants"]:
            raise Problem(f"{name} has no variant `{variant}`; it has {', '.join(found['variants'])}")
    return found


def connections(about: dict) -> int:
    return about["load"]["users"] * about["load"]["connections"]


def figures(outcome: dict) -> dict:
    """What the tables and the records show of an outcome."""
    shown = dict(outcome["figures"])
    return {"req_per_s": shown.pop("throughput_rps"), "failed": shown.pop("faults"), **shown}


@dataclass
class Server:
    name: str
    pid: int


class Session:
    """A running server, with its URL and its processes: first its own, then those that it needs."""

    def __init__(self, child: subprocess.Popen):
        self.child = child
        about = self.ask()
        self.url, self.servers = about["url"], [Server(*it) for it in about["servers"]]

    def ask(self, **line: object) -> dict:
        """The next answer of `lab load`. Without a line, it is the first one, which says where the server is."""
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(f"{json.dumps(line)}\n" if line else "")
            self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            # `lab` has said why.
            sys.exit(self.child.wait() or 1)
        return json.loads(answer)

    def load(self, seconds: float, **plan: object) -> dict:
        """The outcome of one run: the case's own load by `lab`'s own generator, unless `plan` has another."""
        return self.ask(measurement_s=seconds, **plan)


@contextlib.contextmanager
def serving(bin_dir: str | Path, server: str, *flags: str, args: Sequence[str] = ()) -> Iterator[Session]:
    """A session with `server`, such as lock-scope-slow. It ends in the end, and with this script.

    `flags` are those of `lab load`, and `args` more arguments of the server.
    """
    # In a process group of its own, so that Ctrl-C reaches only this script.
    child = subprocess.Popen(
        command(bin_dir, "load", server, *flags, "--", *args),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )
    try:
        yield Session(child)
    finally:
        child.stdin.close()
        child.wait()
        child.stdout.close()
    if child.returncode:
        sys.exit(child.returncode)
