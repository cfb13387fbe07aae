"""One table for people, and the same figures as JSON."""

import json
import os
import platform
import sys
import time

from cases import TARGET

# A generator that is this busy answers itself late, well before it uses the whole core.
LIMIT = 0.8
SHORT = "--short checks that everything runs; do not compare its figures"


def number(value, digits=1):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.{digits}f}"


def percent(cores):
    """CPU time per second, where 100 % is one core."""
    return "-" if cores is None else f"{100 * cores:.0f} %"


def table(head, rows):
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        first, *others = (cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def save(name, record):
    """Writes a record whole or not at all, and returns its path."""
    record = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]),
        "machine": {"system": platform.platform(), "cores": os.cpu_count()},
        **record,
    }
    path = TARGET / "lab" / "replications" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    half.replace(path)
    return path
