#!/usr/bin/env python3
"""Checks that no command compiles what another one has compiled.

The first round of the commands may compile the servers with instruments. After that, neither a command nor a build of
the whole workspace between two commands has anything to do.
"""

import subprocess
import sys
from os import chdir
from pathlib import Path

chdir(Path(__file__).resolve().parent.parent)

COMMANDS = (
    "bench per-request-client --quick --pairs 1 --measurement 0.5",
    "flame hot-clone --seconds 1",
    "count lock-scope",
    "lab verify lock-scope",
)
BUILD = "cargo build --release --workspace"
TARGET = Path(subprocess.check_output([".ci/build", "target"], text=True).strip())


def invocations():
    """When cargo last started a compiler for each unit. A recipe's bar hides cargo's own lines."""
    return {stamp.parent.name: stamp.stat().st_mtime_ns for stamp in TARGET.glob("**/.fingerprint/*/invoked.timestamp")}


def compiled(command):
    """The units that a command compiles: `serde-1a2b`."""
    print(f"  {command}", file=sys.stderr, flush=True)
    before = invocations()
    done = subprocess.run(command.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        sys.exit(f"error: `{command}` failed:\n{done.stderr}")
    return sorted(unit for unit, time in invocations().items() if before.get(unit) != time)


def main():
    subprocess.run(BUILD.split(), check=True)
    faults = []
    for is_warm in (False, True):
        for command in COMMANDS:
            once, after = compiled(f"just {command}"), compiled(BUILD)
            if once and is_warm:
                faults.append(f"`just {command}` compiles again: {' '.join(once)}")
            if after:
                faults.append(f"after `just {command}`, `{BUILD}` compiles again: {' '.join(after)}")
    print("\n".join(faults) or "no command compiles what another one has compiled")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
