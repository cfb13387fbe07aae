#!/usr/bin/env python3
"""Runs recipes in order, and lists at the end which ones passed, failed or were skipped, how long they took, and how
much CPU time they used: `just ci`. A row with little CPU time waited.

A recipe prints `skipped: WHY` if it did nothing, and `left out: WHY` if it did a part of its work. With CI=true both are
failures, because .ci/run installs the tools. A failure does not end the run, so one run shows all that is wrong.
"""

import os
import re
import resource
import shlex
import subprocess
import sys
import time
from collections import Counter

# No package registry has these as programs that their authors built, and compiling each takes minutes. Only rows of
# `just crosscheck` need the first two. The third needs a database, too, which is in no package registry.
NOT_IN_CI = ("oha", "k6", "advisories")


def run(recipe):
    """Runs a recipe and prints what it prints. Returns its exit code, and pairs: `skipped` or `left out`, and why."""
    print(f"\n== just {recipe}", flush=True)
    command, skips = ["just", *shlex.split(recipe)], []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as child:
        for line in child.stdout:
            print(line, end="", flush=True)
            if match := re.match(r"(?:note: )?(skipped|left out): (.+)", line):
                skips.append(match.groups())
    return child.returncode, skips


def judge(code, skips, strict):
    """Pairs of an outcome and its reason: the first is about the recipe, the others are about parts that it left out."""
    parts = [why for how, why in skips if how == "left out"]
    whole = [why for how, why in skips if how == "skipped"]
    missing = [why for why in whole + parts if not re.match(rf"no ({'|'.join(NOT_IN_CI)});", why)]
    if code:
        return [("failed", f"exit code {code}")]
    if strict and missing:
        return [("failed", f"CI must not skip: {'; '.join(missing)}")]
    return [("skipped", "; ".join(whole))] if whole else [("passed", ""), *(("skipped", why + ", which takes minutes" * strict) for why in parts)]


def cpu_seconds():
    """The CPU time of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    strict, rows, counts = os.environ.get("CI") == "true", [], Counter()
    for recipe in sys.argv[1:]:
        start, used = time.monotonic(), cpu_seconds()
        for outcome, why in judge(*run(recipe), strict):
            counts[outcome] += 1
            rows.append(f"{outcome:7}  " + (f"{recipe}: {why}" if why else f"{recipe:34} {time.monotonic() - start:5.0f} s {cpu_seconds() - used:6.0f} s of CPU"))
    print("", *rows, "", f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", sep="\n")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
