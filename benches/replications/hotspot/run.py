"""Records a loaded server with perf in a file that Hotspot opens: `just replicate hotspot CASE`."""

import argparse
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from harness import TARGET, Problem
from harness.lab import case, connections, serving
from harness.processes import started, wait_for
from harness.report import add_options, positive, save, say
from harness.tools import TOOLS, require

CONNECTIONS = 100  # at most
# Samples per second and thread, and bytes of stack in each: the release build has no frame pointers.
RATE, STACK = 199, 16_384


def options():
    parser = argparse.ArgumentParser(prog="just replicate hotspot", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", default="slow", help="the server to record [slow]")
    parser.add_argument("--seconds", type=positive, default=10, help="how long [10]")
    add_options(parser, "2 s")
    return parser.parse_args()


def main():
    chosen = options()
    about = case(chosen.case, chosen.variant, bin_dir=chosen.bin_dir)
    (perf,) = require("perf")
    seconds = 2 if chosen.short else chosen.seconds
    users = min(connections(about), CONNECTIONS)
    name = f"{about['case']}-{chosen.variant}"
    file = TARGET / "lab" / "replications" / f"hotspot-{about['case']}" / f"{name}.perf.data"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        half = Path(directory) / "perf.data"
        with serving(chosen.bin_dir, name) as session:
            say(f"{name}: {seconds} s over {users} connections")
            command = [perf, "record", "--quiet", "-F", str(RATE), "--call-graph", f"dwarf,{STACK}", "-o", str(half)]
            with started("perf", [*command, "-p", str(session.servers[0].pid)], Path(directory)) as recorder:
                arrivals = {"closed_loop": {"users": users}}
                outcome = session.load(seconds, arrivals=arrivals)
                if outcome["first_fault"]:
                    raise Problem(f"{name}: {outcome['first_fault']}")
                recorder.child.send_signal(signal.SIGINT)
                wait_for(recorder, [], 60)
        answers = outcome["ok"]
        script = [perf, "script", "-i", str(half), "-F", "comm,ip,sym"]
        shown = subprocess.run(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        samples, frames = count_stacks(shown.stdout)
        if not samples:
            raise Problem("perf recorded no sample; `just lab doctor` says whether it is permitted to")
        shutil.move(half, file)

    size = file.stat().st_size
    print(f"{samples:,} samples with {frames / samples:.0f} frames each, from {answers:,} right answers; "
          f"{size / 1e6:.0f} MB")
    print(f"open it with: hotspot {os.path.relpath(file)}")
    if not TOOLS["hotspot"].find("hotspot"):
        print(f"to install hotspot: {TOOLS['hotspot'].install}")
    record = {"server": name, "connections": users, "seconds": seconds, "answers": answers, "samples": samples,
              "frames_per_sample": frames / samples, "bytes": size}
    save(f"hotspot-{about['case']}", record, chosen, ["perf"])
    return 0


def count_stacks(script):
    """The samples in the output of `perf script`, and the frames in all of their stacks."""
    lines = script.splitlines()
    frames = sum(line.startswith((" ", "\t")) and bool(line.strip()) for line in lines)
    return sum(bool(line.strip()) for line in lines) - frames, frames
