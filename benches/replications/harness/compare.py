"""`lab compare` with any number of servers, and what it keeps about each."""

import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

from harness import Problem
from harness.lab import command
from harness.report import number


def compare(sides: dict[str, str], requests: list[dict], load: dict, chosen: argparse.Namespace,
            *flags: str) -> list[dict]:
    """What the record has about each candidate. The first server is the baseline."""
    with tempfile.TemporaryDirectory() as here:
        lines = [f"[[request]]\npath = {json.dumps(it['path'])}\n" for it in requests]
        for at, request in enumerate(requests):
            if request.get("body"):
                lines[at] += f'method = "{request["method"]}"\nbody = {json.dumps(request["body"])}\n'
        listed = Path(here, "requests.toml")
        listed.write_text("".join(lines))
        lab, *words = command(Path(chosen.bin_dir).resolve(), "compare",
                              *(f"{name}={side}" for name, side in sides.items()), "--json", f"--requests={listed}",
                              f"--users={load['users']}", f"--think-ms={load['think_ms']}", *flags)
        done = subprocess.run([lab, *words], cwd=here, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if done.returncode not in (0, 1, 3):
            raise Problem("lab compare failed")
        return json.loads(Path(here, json.loads(done.stdout)["record"]).read_text())["cases"]


def library(start: str) -> str | None:
    """Variables for a server with the path of the library in braces; `None` if the system lacks it."""
    if wanted := re.search(r"\{(.*)\}", start):
        found = next(iter(sorted(Path("/usr/lib").rglob(wanted[1]))), None)
        return found and start.replace(wanted[0], str(found))
    return start


def interval(it: dict | None) -> str:
    """An estimate with its interval."""
    if not it:
        return "-"
    return f"{number(it['estimate'], 2)} ({number(it['low'], 2)} to {number(it['high'], 2)})"
