"""Troubles of `lab` next to the load: a signal in the middle of a run, or a supervisor that is killed."""

import contextlib
import itertools
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness import ROOT
from harness.lab import find_binary
from harness.processes import below, listening

# What all processes below a run have in their environment.
MARK = ("LAB_SOAK", str(os.getpid()))
# In seconds: how long `lab` may take to start a server, and to end.
START, END = 60, 60
# After the run has begun, at most so many seconds pass until the trouble.
LATEST = 3
INTERRUPTED, FAILED = 130, 2
# The signals that `lab` gets, and then the one that its supervisor gets.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
KINDS = tuple(itertools.product(("compare", "bench"), (signal.SIGKILL, *SIGNALS)))
# The first ones are of each sort, for a short soak.
ORDER = [KINDS[0], KINDS[6], KINDS[3], *(kind for index, kind in enumerate(KINDS) if index not in {0, 3, 6})]


@dataclass
class Troubles:
    """Runs of `lab`, each with a trouble, and how they ended."""

    bin_dir: str
    scratch: Path
    kinds: Iterator[tuple[str, signal.Signals]] = field(default_factory=lambda: itertools.cycle(ORDER))
    # As (verb, signal, exit code).
    ends: Counter[tuple[str, signal.Signals, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    # Set by a script that ends early: then no other trouble begins.
    stopped: threading.Event = field(default_factory=threading.Event)

    def make(self, seconds: float, least: int = 1) -> None:
        """Troubles one after another for so long, with pauses as long as a trouble takes on average."""
        end, made = time.monotonic() + seconds, 0
        while not self.stopped.is_set() and (made < least or time.monotonic() < end):
            began = time.monotonic()
            verb, kind = next(self.kinds)
            self.faults += [f"{kind.name} during `lab {verb}`: {fault}" for fault in self.one(verb, kind)]
            made += 1
            pause = random.uniform(0, 2) * (time.monotonic() - began)
            self.stopped.wait(max(0, min(pause, end - time.monotonic())))

    def one(self, verb: str, kind: signal.Signals) -> Iterator[str]:
        """What is wrong after a trouble."""
        server = f"{find_binary(self.bin_dir, 'hot-clone-fixed')} --addr 127.0.0.1:{{port}}"
        what = {
            "compare": [server, server, "--get", "/cpu?rounds=10", "--users", "2",
                        "--think-ms", "2"],
            "bench": ["lock-scope", "--users", "20", "--root", str(ROOT), "--bin-dir", self.bin_dir],
        }[verb]
        # The trouble comes before the first measurement ends.
        long = ["--warm-up", "0.2", "--measurement", "600", "--open-loop", "0"]
        command = [find_binary(self.bin_dir, "lab"), verb, *what, *long]
        lab = subprocess.Popen(
            command, cwd=self.scratch, env=os.environ | dict([MARK]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace",
        )
        try:
            # A supervisor means nothing to a run that has just stopped its server; under load, it does.
            begun = " generate" if kind is signal.SIGKILL else " supervise "
            if not wait_until(lambda: lab.poll() is not None or find(begun), START):
                yield f"no server runs after {START} s"
                return
            time.sleep(random.uniform(0, LATEST))
            ports = listening(below(*MARK))
            victim = find(" supervise -- ") if kind is signal.SIGKILL else lab.pid
            # A run that has ended by itself has an exit code that says so.
            if victim:
                send(kind, victim)
            try:
                _, said = lab.communicate(timeout=END)
            except subprocess.TimeoutExpired:
                yield f"it still runs after {END} s"
                return
            yield from self.wrong(verb, kind, lab.returncode, said)
            # `lab` ends only after its servers.
            if left := below(*MARK):
                yield f"left behind: {', '.join(left.values())}"
            if open_ports := ports & listening():
                yield f"{len(open_ports)} ports are still open"
        finally:
            for pid in below(*MARK):
                send(signal.SIGKILL, pid)
            lab.communicate()

    def wrong(self, verb: str, kind: signal.Signals, code: int, said: str) -> Iterator[str]:
        """What is wrong with the end of `lab`."""
        self.ends[verb, kind, code] += 1
        expected, first = (FAILED, "error: ") if kind is signal.SIGKILL else (INTERRUPTED, "interrupted: ")
        if code != expected:
            yield f"exit code {code} instead of {expected}: {said.strip()[-300:]}"
        # The last lines of a server follow, each after a bar.
        lines = [line for line in said.splitlines() if not line.startswith("  | ")]
        starts = [index for index, line in enumerate(lines) if re.match("error: |interrupted: ", line)]
        if len(starts) != 1 or len(lines) - starts[0] > 2 or not lines[starts[0]].startswith(first):
            yield f"not one {first.strip(': ')} of at most two lines: {' / '.join(lines)[-300:]}"

    def table(self):
        rows = []
        for verb, kind in KINDS:
            ends = sorted((code, count) for (of, sent, code), count in self.ends.items() if (of, sent) == (verb, kind))
            target = f"the supervisor below lab {verb}" if kind is signal.SIGKILL else f"lab {verb}"
            codes = ", ".join(f"exit code {code}: {count:,}" for code, count in ends)
            rows.append([f"{kind.name} to {target}", codes or "-"])
        return ["trouble", "how lab ended"], rows


def wait_until(happened: Callable[[], object], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def send(kind: signal.Signals, pid: int) -> None:
    # A process may end at any moment.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, kind)


def find(words: str) -> int | None:
    """A process of the run whose command has these words."""
    return next((pid for pid, command in below(*MARK).items() if words in f"{command} "), None)
