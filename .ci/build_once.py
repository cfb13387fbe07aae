#!/usr/bin/env python3
"""Checks that no command compiles what another one has compiled: `just build-once`.

The first round of the commands may compile the servers with instruments. After that, neither a command nor a build of
the whole workspace between two commands has anything to do.
"""

import re
import subprocess
import sys

COMMANDS = (
    "bench per-request-client --quick --pairs 1 --measurement 0.5",
    "flame hot-clone --seconds 1",
    "count lock-scope",
    "verify lock-scope",
)
BUILD = "cargo build --release --workspace"


def compiled(command):
    """The crates that a command compiles."""
    print(f"  {command}", file=sys.stderr, flush=True)
    done = subprocess.run(command.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        sys.exit(f"error: `{command}` failed:\n{done.stderr}")
    return re.findall(r"^ *Compiling (\S+)", done.stderr, re.MULTILINE)


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
