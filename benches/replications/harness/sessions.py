"""A server of a case, which `lab load` runs together with those that it needs, loads, and checks."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cases import ROOT, find_binary


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
    lab = [find_binary(bin_dir, "lab"), "--root", str(ROOT), "--bin-dir", str(bin_dir)]
    # In a process group of its own, so that Ctrl-C reaches only this script.
    child = subprocess.Popen(
        [*lab, "load", server, *flags, "--", *args],
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
