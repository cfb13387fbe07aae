#!/usr/bin/env python3
"""Runs the checks of a list in order, and says at the end which ones passed, failed or were skipped, how long they
took, and how much CPU time they used: `just ci`. A row with little CPU time waited.

The list has a command in each line and, after a colon, what it guards. Commands with ` & ` between them run at the same
time: what mostly waits, and is right on a busy machine, too.

A check prints `skipped: WHY` if it did nothing, and `left out: WHY` if it did a part of its work. With CI=true both
are failures, because .ci/run installs what these checks need. A failure does not end the run, so one run shows all that is wrong.
"""

import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

# No package registry has the first two as programs that their authors built, and compiling each takes minutes. Only
# rows of `just replicate crosscheck` need them. A container may have no controller that limits the CPU time of a group.
NOT_IN_CI = ("oha", "k6", "controller")


class Row:
    """A check that runs: its output, and what it used."""

    def __init__(self, command):
        self.command, self.start = command, time.monotonic()
        self.child = subprocess.Popen(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )

    def follow(self):
        """Yields its lines as they come, and then knows its exit code, its seconds and its CPU seconds."""
        yield from self.child.stdout
        _, status, used = os.wait4(self.child.pid, 0)
        self.code = self.child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.cpu = time.monotonic() - self.start, used.ru_utime + used.ru_stime


def run(commands):
    """Runs commands at the same time and prints what they print, one after the other. Yields each with pairs: `skipped`
    or `left out`, and why."""
    rows = [Row(command) for command in commands]
    with ThreadPoolExecutor(len(rows)) as pool:
        # The first is printed as it runs. The output of the others is read meanwhile, or they would wait.
        later = [pool.submit(lambda row=row: list(row.follow())) for row in rows[1:]]
        for row, lines in zip(rows, [rows[0].follow(), *later]):
            print(f"\n== {row.command}", flush=True)
            skips = []
            for line in lines.result() if row is not rows[0] else lines:
                print(line, end="", flush=True)
                if match := re.match(r"(?:note: )?(skipped|left out): (.+)", line):
                    skips.append(match.groups())
            yield row, skips


def judge(code, skips, strict):
    """Pairs of an outcome and its reason: first of the check, then of each part that it left out."""
    parts = [why for how, why in skips if how == "left out"]
    whole = [why for how, why in skips if how == "skipped"]
    missing = [why for why in whole + parts if not re.match(rf"no ({'|'.join(NOT_IN_CI)});", why)]
    if code:
        return [("failed", f"exit code {code}")]
    if strict and missing:
        return [("failed", f"CI must not skip: {'; '.join(missing)}")]
    if whole:
        return [("skipped", "; ".join(whole))]
    return [("passed", ""), *(("skipped", why + ", which takes minutes" * strict) for why in parts)]


def listed(path):
    """Pairs of the commands that run at the same time, and what they guard."""
    with open(path) as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in line.split(" : ", 1)) for line in lines]


def main():
    strict, rows, counts = os.environ.get("CI") == "true", [], Counter()
    start = time.monotonic()
    for group, guarded in listed(sys.argv[1]):
        print(f"\n{group}: {guarded}")
        for row, skips in run(group.split(" & ")):
            for outcome, why in judge(row.code, skips, strict):
                counts[outcome] += 1
                figures = f"{row.command:34} {row.seconds:5.0f} s {row.cpu:6.0f} s of CPU"
                rows.append(f"{outcome:7}  " + (f"{row.command}: {why}" if why else figures))
    print("", *rows, "", f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", sep="\n")
    print(f"in {(time.monotonic() - start) / 60:.1f} minutes")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
