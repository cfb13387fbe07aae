#!/usr/bin/env python3
"""Records a loaded server with perf in a file that Hotspot opens: `just replicate hotspot CASE`."""

import argparse
import http.client
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from harness import cases
from harness.cases import TARGET, Problem
from harness.processes import allow_connections, run, serving
from harness.report import add_options, positive, save, say
from harness.tools import TOOLS, require

CONNECTIONS = 100  # at most: this client is a Python script
# Samples per second and thread, and bytes of stack in each: the release build has no frame pointers.
RATE, STACK = 199, 16_384


def options():
    parser = argparse.ArgumentParser(prog="just replicate hotspot", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", default="slow", help="the server to record [slow]")
    parser.add_argument("--seconds", type=positive, default=10, help="how long [10]")
    add_options(parser, "2 s")
    return parser.parse_args()


def ask(case, host, until, faults):
    """One connection that asks for the case's requests in turn, and checks the answers."""
    connection = http.client.HTTPConnection(host, timeout=60)
    answers = 0
    try:
        while time.monotonic() < until and not faults:
            for request in case.requests:
                connection.request(request.method, request.path)
                answer = connection.getresponse()
                fault = request.fault(answer.status, answer.read())
                if fault:
                    faults.append(f"{request.path}: {fault}")
                answers += 1
    except (OSError, http.client.HTTPException) as error:
        faults.append(f"no answer: {error}")
    finally:
        connection.close()
    return answers


def load(case, url, connections, seconds):
    """Loads the server over this many connections without a pause. Returns how many answers came, and what went wrong."""
    host = urllib.parse.urlsplit(url).netloc
    until, faults, answers = time.monotonic() + seconds, [], []
    threads = [threading.Thread(target=lambda: answers.append(ask(case, host, until, faults)), daemon=True) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(answers), faults


def main():
    chosen = options()
    case = cases.read(chosen.case)
    case.check_variants(chosen.variant)
    (perf,) = require("perf")
    seconds = 2 if chosen.short else chosen.seconds
    connections = min(case.users * case.connections, CONNECTIONS)
    allow_connections(connections)
    name = f"{case.name}-{chosen.variant}"
    file = TARGET / "lab" / "replications" / f"hotspot-{case.name}" / f"{name}.perf.data"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        half = Path(directory) / "perf.data"
        command = [perf, "record", "--quiet", "-F", str(RATE), "--call-graph", f"dwarf,{STACK}", "-o", str(half), "--"]
        with serving(case, chosen.variant, chosen.bin_dir, Path(directory), under=command) as (servers, url):
            say(f"{name}: {seconds} s over {connections} connections")
            answers, faults = load(case, url, connections, seconds)
            # perf writes the end of its file once the server has stopped.
            servers[0].finish(60)
            if servers[0].child.returncode:
                raise Problem(servers[0].died())
            if faults:
                raise Problem(f"{name}: {faults[0]}")
        script = [perf, "script", "-i", str(half), "-F", "comm,ip,sym"]
        shown = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        samples, frames = count_stacks(shown.stdout)
        if not samples:
            raise Problem("perf recorded no sample; `just doctor` says whether it is permitted to")
        shutil.move(half, file)

    size = file.stat().st_size
    print(f"{samples:,} samples with {frames / samples:.0f} frames each, from {answers:,} right answers; {size / 1e6:.0f} MB")
    print(f"open it with: hotspot {os.path.relpath(file)}")
    if not TOOLS["hotspot"].find("hotspot"):
        print(f"to install hotspot: {TOOLS['hotspot'].install}")
    record = {"server": name, "connections": connections, "seconds": seconds, "answers": answers, "samples": samples,
              "frames_per_sample": frames / samples, "bytes": size}
    save(f"hotspot-{case.name}", record, chosen, ["perf"])
    return 0


def count_stacks(script):
    """The samples in the output of `perf script`, and the frames in all of their stacks."""
    lines = script.splitlines()
    frames = sum(line.startswith((" ", "\t")) and bool(line.strip()) for line in lines)
    return sum(bool(line.strip()) for line in lines) - frames, frames


if __name__ == "__main__":
    run(main)
