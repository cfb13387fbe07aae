"""One table for people, and the same figures as JSON."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from harness import BIN_DIR, ROOT, TARGET, Problem, tools
from harness.lab import lab

# A generator that is this busy answers itself late, well before it uses the whole core.
LIMIT = 0.8
SHORT = "--short checks that everything runs; do not compare its figures"
PUBLISHED = ROOT / "docs" / "replications"


def say(text: str) -> None:
    """Progress, apart from the table, which goes to standard output."""
    print(text, file=sys.stderr, flush=True)


def positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("it takes a number from 1 up")
    return int(text)


def add_options(parser: argparse.ArgumentParser, short: str) -> None:
    """The options that every replication has. `short` says what `--short` does."""
    parser.set_defaults(recipe=parser.prog)
    parser.add_argument("--short", action="store_true", help=f"{short}: a check, not a measurement")
    parser.add_argument("--publish", action="store_true",
                        help="also keep the record in docs/replications, where the course reads it")
    parser.add_argument("--bin-dir", type=lambda text: Path(text).resolve(), default=str(BIN_DIR),
                        help="where the servers are [target/release]")


def number(value: float | None, digits: int = 1) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.{digits}f}"


def percent(cores: float | None) -> str:
    """CPU time per second, where 100 % is one core."""
    return "-" if cores is None else f"{100 * cores:.0f} %"


def table(head: list[str], rows: list[list[str]]) -> str:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        first, *others = (cell.ljust(width) if i == 0 else cell.rjust(width) for i,
                          (cell, width) in enumerate(zip(row, widths)))
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def in_turn(items: list, turn: int) -> list:
    """The items of a round: each round begins with another one, so that none is always the first."""
    first = turn % len(items)
    return items[first:] + items[:first]


def spread(values: Iterable[float]) -> dict[str, float]:
    """Several rounds as their median, lowest and highest."""
    values = list(values)
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def ratio(over: Iterable[float], under: Iterable[float]) -> dict[str, float]:
    """The ratio of two lists that were measured in turn, round by round: median, lowest and highest."""
    return spread(a / b for a, b in zip(over, under, strict=True))


def span(it: dict[str, float], digits: int = 2) -> str:
    return f"{number(it['median'], digits)} ({number(it['lowest'], digits)} to {number(it['highest'], digits)})"


def git(*command):
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def save(name: str, record: dict, chosen: argparse.Namespace, used: list[str], **tables: tuple) -> Path:
    """Writes a record whole or not at all, and returns its path.

    `used` names the tools behind it, and `tables` are those that the course shows: each a head and rows, and where
    the rows come from, unless that is this call.
    Every run has a file of its own; `--publish` also replaces the one that the course quotes.
    """
    if chosen.publish and chosen.short:
        raise Problem("--short measures nothing that could be published; leave one of the two out")
    commit = git("rev-parse", "--short", "HEAD")
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    command = " ".join([chosen.recipe, *(argument for argument in sys.argv[1:] if argument != "--publish")])
    versions = {tool: tools.version(tool) for tool in used}
    machine = lab(chosen.bin_dir, "doctor", "--json")["machine"]
    made_with = " with " * bool(used) + ", ".join(f"{tool} {version}" for tool, version in versions.items())
    where = f"{machine['cpu'] or machine['arch']} ({machine['cores']} cores)"
    origin = f"Made by `{command}`{made_with} on {where}, {date[:10]}."
    record = {
        "date": date,
        "command": command,
        "short": chosen.short,
        "machine": machine,
        # Pages and other records change nothing that is measured.
        "commit": commit and commit + ("+changes"
            if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs") else ""),
        "versions": versions,
        **record,
        "tables": {key: {"head": head, "rows": rows, "origin": own[0] if own else origin}
                   for key, (head, rows, *own) in tables.items()},
    }
    text = json.dumps(record, indent=2) + "\n"
    path = TARGET / "lab" / "replications" / name / f"{record['date'].replace(':', '')}.json"
    write(path, text)
    if chosen.publish:
        path = PUBLISHED / f"{name}.json"
        write(path, text)
    print(f"record: {os.path.relpath(path)}")
    return path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(text, encoding="utf-8")
    half.replace(path)
