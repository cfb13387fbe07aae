#!/usr/bin/env python3
"""Checks that a type's name exists once in the laboratory, so that a reader knows which one is meant: part of `just ci`.

A second one gets a prefix. Types inside functions and associated types don't count.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

# Each verb has its options, and each program its commands; nobody passes them on.
ALLOWED = {"Options", "Command"}
TYPE = re.compile(r"^(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type) (\w+)", re.MULTILINE)

places = defaultdict(list)
for path in sorted(Path("crates/lab").rglob("*.rs")):
    for name in TYPE.findall(path.read_text()):
        places[name].append(str(path))
twice = {name: paths for name, paths in places.items() if len(paths) > 1 and name not in ALLOWED}
for name, paths in twice.items():
    print(f"error: {name} is the name of {len(paths)} types: {', '.join(paths)}", file=sys.stderr)
sys.exit(bool(twice))
