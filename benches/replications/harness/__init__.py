"""What all replications share: the cases, processes that stop, tools that may be missing, and records."""

import sys

if sys.version_info < (3, 11):
    sys.exit(f"error: the replications need Python 3.11 or newer, and this is {sys.version.split()[0]}")
