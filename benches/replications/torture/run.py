"""Fails one system call in each run of `lab`, and checks that nothing is lost: `just replicate torture`.

First comes what classes.py has, which takes five minutes more, and which the short form leaves out.

strace lets the Nth openat, write, fsync and so on of each process fail, for N = 1 to 8, 16, 32, ... as far as `lab`
gets, in random order until the time is over. After each run, `lab` must have ended with an exit code of its own and
with at most one error. No process is left, `lab` reads every record in the directory, two equal servers never get a
verdict, and a right fix is never judged as wrong.
"""

import argparse
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness import BIN_DIR, ROOT, Problem, Skipped
from harness.lab import find_binary
from harness.processes import below
from harness.report import say
from torture.classes import CLASSES, Hangs, Site

# How each call fails.
CALLS = {
    "openat": "EMFILE", "read": "EIO", "write": "ENOSPC", "rename": "EIO", "fsync": "EIO", "mkdir": "EACCES",
    "socket": "EMFILE", "connect": "ECONNREFUSED", "accept4": "EMFILE", "clone3": "EAGAIN", "vfork": "EAGAIN",
    "execve": "EACCES", "mmap": "ENOMEM", "epoll_wait": "EINTR", "prctl": "EPERM", "flock": "ENOLCK",
}
# The first call of a Rust program. What fails before is the system's loader, which may crash.
BEGUN = "sigaltstack"
CODES = {0, 1, 2, 3, 130}
# Tokio wakes itself by an eventfd, whose write no full disk can fail.
NO_SIGNAL_STACK = "failed to allocate an alternative stack"
WAKER = re.compile(r'write\(\d+, "\\1(\\0){7}", 8(\).*INJECTED| <unfinished)')
PATIENCE = 120
MINUTES, SHORT_MINUTES = 10, 0.8
# Up to here each call fails in turn, and then one in each power of two.
EACH = 8
# What all processes below a run have in their environment.
MARK = ("LAB_TORTURE", str(os.getpid()))


@dataclass(frozen=True)
class Verb:
    """A call of `lab`, and the exit codes that would be a wrong verdict."""

    name: str
    arguments: list[str]
    wrong: frozenset[int] = frozenset()
    # Whether a short form has the time for it.
    is_quick: bool = True
    # Whether its servers are disturbed, too. Not those that are judged: they may fail.
    follows: bool = True
    # What is printed if a wrong verdict has another cause: a server that refuses a connection is to blame for
    # that, and on a busy machine, quick requests overtake slow ones anyway.
    excused: re.Pattern[str] | None = None


# What `lab practice check` judges: a right fix.
EXERCISE = "lock-scope"


def prepare(bin_dir: Path, directory: Path) -> list[str]:
    """A workspace with one exercise and its servers; returns the options that name them."""
    source, servers = directory / "crates" / EXERCISE / "src", directory / "bin"
    source.mkdir(parents=True)
    servers.mkdir()
    shutil.copy(ROOT / "crates" / EXERCISE / "case.toml", source.parent)
    for variant, of in (("slow", "slow"), ("fixed", "fixed"), ("mine", "fixed")):
        shutil.copy(ROOT / "crates" / EXERCISE / "src" / f"{of}.rs", source / f"{variant}.rs")
        shutil.copy(find_binary(bin_dir, f"{EXERCISE}-{of}"), servers / f"{EXERCISE}-{variant}")
    return ["--root", str(directory), "--bin-dir", str(servers)]


def verbs(server: str, exercise: list[str]) -> list[Verb]:
    load = ["--users", "2", "--think-ms", "2", "--get", "/cpu?rounds=10"]
    short = ["--pairs", "1", "--measurement", "0.2", "--warm-up", "0.1", "--open-loop", "0"]
    sides = [server, server]
    return [
        Verb("compare", ["compare", *sides, *load, *short], frozenset({0, 1})),
        Verb("report", ["report"]),
        Verb("check", ["practice", "check", EXERCISE, "--fast", *exercise], frozenset({1}), follows=False,
             excused=re.compile("refused|✗ mechanism")),
        Verb("triage", ["triage", server, "--get", "/cpu?rounds=10"], is_quick=False),
        Verb("flame", ["flame", "--exec", server, "--get", "/cpu?rounds=10", "--seconds", "1"], is_quick=False),
    ]


@dataclass
class Torture:
    lab: Path
    directory: Path
    # The options of its workspace.
    exercise: list[str]
    # How the runs ended, as (verb, exit code).
    ends: Counter[tuple[str, int]] = field(default_factory=Counter)
    # The records that have been read.
    read: set[Path] = field(default_factory=set)

    def run(self, verb: Verb, trace: list[str]) -> tuple[subprocess.CompletedProcess[str], str]:
        """A run of `lab` under strace; also returns what strace wrote."""
        log = self.directory / "strace"
        follow = ["-f", "--seccomp-bpf"] if verb.follows else []
        strace = ["strace", *follow, "-qq", "-o", str(log), *trace, "--", str(self.lab), *verb.arguments]
        # A backtrace has many lines, which are no second error.
        environment = os.environ | dict([MARK]) | {"RUST_BACKTRACE": "0"}
        done = subprocess.run(
            strace, cwd=self.directory, env=environment, timeout=PATIENCE, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace",
        )
        return done, log.read_text(errors="replace")

    def reach(self, verb: Verb) -> Counter[str]:
        """The most that one process makes of each call, without a failure."""
        done, log = self.run(verb, ["-e", f"trace={','.join(CALLS)}"])
        if done.returncode not in CODES - verb.wrong or done.returncode == 2:
            raise Problem(f"`lab {verb.name}` fails without any torture: {done.stderr.strip()[-300:]}")
        most: Counter[str] = Counter()
        for (_, call), count in Counter(re.findall(r"^(\d+ +|)(\w+)\(", log, re.MULTILINE)).items():
            most[call] = max(most[call], count)
        return most

    def faults(self, verb: Verb, call: str, nth: int) -> Iterator[str]:
        """What is wrong after the `nth` call failed."""
        error = CALLS[call]
        try:
            inject = f"inject={call}:error={error}:when={nth}"
            done, log = self.run(verb, ["-e", f"trace={call},{BEGUN}", "-e", inject])
        except subprocess.TimeoutExpired:
            yield f"does not end within {PATIENCE} s"
            return
        if f"{BEGUN}(" not in log or WAKER.search(log):
            return
        self.ends[verb.name, done.returncode] += 1
        # Rust's own library ends a process whose new thread gets no stack for signals: no program can prevent that.
        is_excused = (call, done.returncode) == ("mmap", -signal.SIGABRT) and NO_SIGNAL_STACK in done.stderr
        is_wrong = done.returncode in verb.wrong and not (verb.excused and verb.excused.search(done.stdout))
        if not is_excused and (done.returncode not in CODES or is_wrong):
            yield f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"
        own = [line for line in done.stderr.splitlines() if not line.startswith("  | ")]
        errors = len([line for line in own if line.startswith("error: ")])
        if errors > 1 or any("panicked at" in line for line in own) and not is_excused:
            yield f"more than one error: {' / '.join(own)[-400:]}"
        if left := processes():
            yield f"left behind: {', '.join(left)}"
        yield from self.broken_records()

    def unread(self, *arguments: str) -> Iterator[str]:
        """What `lab` says if it cannot read a file."""
        done = subprocess.run([self.lab, *arguments], cwd=self.directory, capture_output=True, text=True,
                              errors="replace")
        if done.returncode:
            yield f"`lab {' '.join(arguments)}` fails: {done.stderr.strip()[-300:]}"

    def broken_records(self) -> Iterator[str]:
        results = self.directory / "target" / "lab"
        for path in set(results.rglob("*")) - self.read:
            if path.parent.name == "runs" and path.suffix == ".json":
                yield from self.unread("report", str(path), "--output", os.devnull)
                # What was kept once stays as it is.
                self.read.add(path)
            elif path.suffix == ".json":
                try:
                    json.loads(path.read_text())
                except ValueError as error:
                    yield f"{path.name} cannot be read: {error}"
            elif path.is_file() and path.suffix not in {".html", ".svg", ".folded"}:
                yield f"{path.relative_to(results)} is left"
        if results.is_dir() and (page := results / "report.html").is_file() and "</html>" not in page.read_text():
            yield "report.html is half written"
        yield from self.unread("practice", "try", *self.exercise)


def judged(name: str, site: Site) -> int:
    """How many faults a class has."""
    began, count = time.monotonic(), 0
    try:
        for fault in CLASSES[name](site):
            count += 1
            print(f"{name}: {fault}", flush=True)
    except Hangs as fault:
        count += 1
        print(f"{name}: {fault}", flush=True)
    except Skipped as why:
        print(f"left out: {why}", flush=True)
    print(f"{name}: {count} faults in {time.monotonic() - began:.0f} s", flush=True)
    return count


def turns(most: int) -> list[int]:
    """Which of so many calls fail."""
    powers = itertools.takewhile(lambda nth: nth <= most, (EACH << n for n in itertools.count(1)))
    return [*range(1, min(most, EACH) + 1), *powers]


def processes() -> list[str]:
    """The processes of a run that are still there a moment later. Ends them."""
    end = time.monotonic() + 5
    while (found := below(*MARK)) and time.monotonic() < end:
        time.sleep(0.05)
    for pid in found:
        os.kill(pid, 9)
    return list(found.values())


def main() -> int:
    parser = argparse.ArgumentParser(prog="just replicate torture", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("minutes", type=float, nargs="?", default=MINUTES, help=f"how long [{MINUTES}]")
    parser.add_argument("--short", action="store_true", help=f"{60 * SHORT_MINUTES:.0f} s, without the long verbs")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="repeat the order of an earlier run")
    parser.add_argument("--only", metavar="VERB", help="this verb alone: compare, report, check, triage or flame,\nor this "
                        f"class: {', '.join(CLASSES)}")
    parser.add_argument("--bin-dir", type=lambda text: Path(text).resolve(), default=BIN_DIR, help="where `lab` is")
    chosen = parser.parse_args()
    if not shutil.which("strace"):
        print("skipped: no strace; apt install strace")
        return 0
    say(f"--seed {chosen.seed}")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        exercise = prepare(chosen.bin_dir, directory / "course")
        torture = Torture(chosen.bin_dir / "lab", directory, exercise)
        server = find_binary(chosen.bin_dir, "hot-clone-fixed")
        every = verbs(server, exercise)
        wanted = [verb for verb in every if chosen.only in (None, verb.name) and verb.is_quick >= chosen.short]
        failed = 0
        for name in [] if chosen.short else [name for name in CLASSES if chosen.only in (None, name)]:
            site = Site(torture.lab, server, directory, MARK, processes, torture.broken_records)
            failed += judged(name, site)
        end = time.monotonic() + 60 * (SHORT_MINUTES if chosen.short else chosen.minutes)
        points = []
        # The report needs a record.
        if wanted:
            torture.reach(every[0])
        for verb in wanted:
            points += [(verb, call, nth) for call, most in torture.reach(verb).items() for nth in turns(most)]
        # How far a verb gets differs a little from run to run, and the order must not depend on that.
        points.sort(key=lambda point: random.Random(f"{chosen.seed} {point[0].name} {point[1:]}").random())
        done = 0
        for verb, call, nth in points:
            if time.monotonic() > end:
                break
            for fault in torture.faults(verb, call, nth):
                failed += 1
                print(f"lab {verb.name}, {call} {nth} fails with {CALLS[call]}: {fault}", flush=True)
            done += 1
    for verb in wanted:
        ends = sorted((code, count) for (name, code), count in torture.ends.items() if name == verb.name)
        codes = ", ".join(f"{code}: {count}" for code, count in ends)
        print(f"lab {verb.name}: runs by exit code: {codes or '-'}")
    print(f"{done} of {len(points)} failures of {len(wanted)} verbs: {failed} faults (--seed {chosen.seed})")
    return 1 if failed else 0
