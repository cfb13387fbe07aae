#!/usr/bin/env python3
"""Says which tools of the replications are here, and how to install the others: `just replications-doctor`."""

from harness.tools import TOOLS, version

found = {name: version(name) for name in TOOLS}
for name, tool in TOOLS.items():
    print(f"{name:14}{found[name] or 'missing':16}{tool.used_by}")
for name, tool in TOOLS.items():
    if found[name] is None:
        print(f"\nto install {name}:\n  {tool.install}")
