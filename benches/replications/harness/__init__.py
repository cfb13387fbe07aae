"""What the replications share: `lab`, processes that stop, tools that may be missing, and records."""

import subprocess
import sys
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit(f"error: the replications need Python 3.11 or newer, and this is {sys.version.split()[0]}")

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(subprocess.check_output([ROOT / ".ci/build", "target"], text=True).strip())
BIN_DIR = TARGET / "release"
ENGINES = ROOT / "crates" / "lab" / "measure" / "engines"
# The engines import `protocol`. Not in PYTHONPATH: Locust would inherit it.
sys.path.append(str(ENGINES))


class Problem(Exception):
    """What went wrong and what to do, in one line for the user."""


class Skipped(Problem):
    """Why a part was left out, on a machine that lacks something: `no TOOL; WHAT TO DO`."""
