"""The verbs of `lab`, for what they print as JSON."""

import json

from harness.cases import Problem, find_binary
from harness.processes import started, wait_for


def lab(chosen, scratch, *arguments, codes=(0,)):
    """What `lab` prints as JSON."""
    with started("lab", [find_binary(chosen.bin_dir, "lab"), *arguments, "--json"], scratch) as process:
        wait_for([process], [], 900)
        if process.child.returncode not in codes:
            said = [line for line in process.err.read_text(errors="replace").splitlines() if line.startswith("error:")]
            raise Problem(said[-1].removeprefix("error: ") if said else process.died())
        return json.loads(process.output())
