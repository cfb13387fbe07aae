#!/usr/bin/env python3
"""Starts every server by hand, on a terminal, and types what it says can be tried: the answer is the one of its case
file. Of a server that needs another one, it types first what the refusal says. `--help` has to say the same.
"""

import argparse
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "Cargo.toml"
# How long a server may take to say all; the shop makes its data first.
SECONDS = 120


class Fault(Exception):
    """What a person would not get."""


class Typed:
    """A command that runs on a terminal, and what it has shown."""

    def __init__(self, command, directory):
        self.command, self.shown = command, ""
        self.terminal, inside = pty.openpty()
        # Cargo would draw its bar there.
        self.child = subprocess.Popen(command, shell=True, cwd=directory, stdin=inside, stdout=inside, stderr=inside,
                                      env={**os.environ, "CARGO_TERM_QUIET": "true"}, start_new_session=True)
        os.close(inside)
        self.reader = Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while piece := os.read(self.terminal, 4096):
                self.shown += piece.decode(errors="replace").replace("\r\n", "\n")
        except OSError:
            pass  # Linux says so at the end.

    def waits_for(self, pattern):
        """The match of a pattern in what it shows, now or later."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            has_ended = self.child.poll() is not None
            if match := re.search(pattern, self.shown):
                return match
            if has_ended and time.monotonic() < until - 1:
                until = time.monotonic() + 1
            time.sleep(0.02)
        raise Fault(f"`{self.command}` doesn't show `{pattern}`, but:\n{self.shown}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            os.killpg(self.child.pid, 15)
        self.child.wait()
        # It ends with the last process on the terminal. Before, the number of the terminal isn't free for another one.
        self.reader.join(SECONDS)
        os.close(self.terminal)


def hint(url, answer):
    """The pattern of a hint: the command is its first group."""
    lines = "".join(f"    {line}\n" for line in answer.splitlines())
    return rf"Try it in another terminal:\n    (curl .*{re.escape(url)}.*)\nThis prints:\n{re.escape(lines)}"


def run_whole(command, directory, environment=None):
    """Runs a command to its end."""
    try:
        return subprocess.run(command, shell=True, cwd=directory, capture_output=True, text=True, env=environment,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Fault(f"`{command}` doesn't end within {SECONDS} s") from error


def ask(command, directory):
    """What a command with curl prints, if the status is 200."""
    (directory / ".curlrc").write_text('write-out = "%{stderr}%{http_code}"\n')
    done = run_whole(command, directory, {**os.environ, "CURL_HOME": str(directory)})
    if done.returncode or not done.stderr.endswith("200"):
        raise Fault(f"`{command}`: {done.stderr}")
    return done.stdout


def try_server(start, case, directory):
    """Starts a server of a case and does what it says."""
    request = case["request"][0]
    answer = request.get("answer", str(request.get("bytes")))
    with Typed(start, directory) as server:
        url = server.waits_for(r"(?m)^listening on (http://[\d.:]+)$")[1]
        command = server.waits_for(hint(url, answer))[1]
        printed = ask(command, directory)
    if printed.strip() != answer.strip():
        raise Fault(f"`{command}` prints `{printed}` and not `{answer}`")
    shown = run_whole(f"{start} --help", directory).stdout
    if not re.search(hint("http://127.0.0.1:PORT", answer), shown):
        raise Fault(f"`{start} --help` says something else:\n{shown}")


def try_with_companion(start, slow, name, case, directory):
    """Starts a server without what it needs, then what it says it needs, then what that says."""
    with Typed(start, directory) as refused:
        first = refused.waits_for(r"First start what it needs.*:\n    (cargo run .*)\n")[1]
    with Typed(here(first), directory) as companion:
        told = companion.waits_for(rf"\n(.*cargo run .*--bin {slow} -- .*)\n")[1].strip()
        try_server(here(told).replace(f"--bin {slow} ", f"--bin {name} "), case, directory)


def here(command):
    """A command as typed at the root of the workspace, for a directory where a server may leave something."""
    return command.replace("cargo run", f"cargo run --manifest-path {shlex.quote(str(MANIFEST))}")


def try_mystery(directory):
    with Typed(here("cargo run --release --bin mystery"), directory) as server:
        command = server.waits_for(r"Ask it +(curl http\S+)\n")[1]
        begin = server.waits_for(r"It answers (.*)…\n")[1]
        printed = ask(command, directory)
    if not printed.startswith(begin):
        raise Fault(f"`{command}` prints `{printed}` and not `{begin}…`")


def main():
    if not shutil.which("curl"):
        return print("skipped: no curl; apt install curl")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", metavar="CASE", action="append", default=[])
    without = parser.parse_args().without
    trials = {"mystery": try_mystery}
    for path in sorted(ROOT.glob("crates/**/case.toml")):
        case, package = tomllib.loads(path.read_text()), path.parent.name
        if package in without:
            continue
        slow = f"{package}-{case['variants'][0]}"
        for variant in case["variants"]:
            name = f"{package}-{variant}"
            start = here(f"cargo run --release --bin {name}")
            if "companion" in case:
                trials[name] = lambda directory, words=(start + " --", slow, name, case): try_with_companion(*words, directory)
            else:
                trials[name] = lambda directory, words=(start + " --", case): try_server(*words, directory)
    faults = 0
    for name, trial in trials.items():
        with tempfile.TemporaryDirectory(prefix="hints-") as directory:
            try:
                trial(Path(directory))
            except Fault as fault:
                faults += 1
                print(f"error: {name}: {fault}", file=sys.stderr)
    print(f"{len(trials) - faults} of {len(trials)} servers answer what they say")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
