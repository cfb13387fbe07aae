"""Tells servers apart whose memory grows: one leaks, one fills a cache, and two free everything, but their allocator
keeps it. Each is compared by `lab compare` with itself under other settings of the allocator: `just replicate memory`.
"""

import argparse
import sys
from pathlib import Path

from harness import ROOT
from harness.compare import compare, interval, library
from harness.report import add_options, number, save, say, table

HERE = Path(__file__).parent
USERS = 8
# A pause that leaves the machine time: what is kept matters here, and not how fast.
THINK_MS = 10
AS_IT_IS = "as-it-is"
ARENAS = "2-arenas"
SETTINGS = {
    ARENAS: "MALLOC_ARENA_MAX=2",
    "returns-1-mib": "MALLOC_MMAP_THRESHOLD_=1048576",
    "jemalloc": "LD_PRELOAD={libjemalloc.so.2}",
    "mimalloc": "LD_PRELOAD={libmimalloc.so.2}",
}
LOOP = ["--warm-up=1", "--open-loop=0", "--metric=peak-memory"]
MINUTE = [*LOOP, "--pairs=1", "--measurement=60"]
PAIRS = [*LOOP, "--pairs=8"]
SHORT = ["--pairs=1", "--quick", "--metric=peak-memory"]


def options():
    parser = argparse.ArgumentParser(prog="just replicate memory", description=__doc__)
    add_options(parser, "quick runs")
    return parser.parse_args()


def servers(chosen: argparse.Namespace) -> dict[str, tuple[str, list[dict], list[str], int]]:
    """The command of each, its requests, the settings that it is compared under, and the seconds of a run."""
    python = f"{sys.executable} {HERE / 'server.py'}"
    body = (ROOT / "crates/blocked-worker/login.json").read_text()
    logins = [{"method": "POST", "path": "/login", "body": body}]
    late_health = Path(chosen.bin_dir).resolve() / "blocked-worker"
    asks = [{"path": "/"}]
    return {
        "leak": (f"{python} leak", asks, [ARENAS], 8),
        "cache": (f"{python} cache", asks, [ARENAS], 8),
        "late-health, slow": (f"{late_health}-slow", logins, list(SETTINGS), 3),
        "late-health, unbounded": (f"{late_health}-unbounded", logins, [ARENAS, "jemalloc"], 3),
    }


def main():
    chosen = options()
    at = [f"{12 * fifth} s" for fifth in range(6)]
    head = ["MiB after", *at]
    rows, slopes, kept = [], [], {}
    for name, (server, requests, settings, seconds) in servers(chosen).items():
        sides = {AS_IT_IS: server}
        for setting in settings:
            start = library(SETTINGS[setting])
            if start is None:
                say(f"skipped: {setting}, which this system lacks")
            else:
                sides[setting] = f"{start} {server}"
        load = {"users": USERS, "think_ms": THINK_MS}
        say(f"{name}: a minute of {', '.join(sides)}")
        minute = compare(sides, requests, load, chosen, *(SHORT if chosen.short else MINUTE))
        say(f"{name}: pairs of {', '.join(sides)}")
        pairs = compare(sides, requests, load, chosen, *(SHORT if chosen.short else [*PAIRS, f"--measurement={seconds}"]))
        sizes = {run["variant"]: run["outcome"]["server_rss_mib"] for found in minute for run in found["runs"]}
        variants = {it["variant"]: it for found in pairs for it in found["variants"]}
        growths = {side: it["memory_growth"] for side, it in variants.items()}
        cpu = {side: it["cpu_us_per_request"] for side, it in variants.items()}
        factors = dict(zip(list(sides)[1:], [found["speedup"]["peak_memory"] for found in pairs], strict=True))
        for side in sides:
            row = name if side == AS_IT_IS else f"{name}, {side}"
            rows.append([row, *(number(size, 0) for size in sizes[side])])
            slopes.append([row, interval(growths[side]), interval(factors.get(side)), number(cpu[side] / 1e3, 2)])
        kept[name] = {"minute": sizes, "growth": growths, "peak_memory": factors, "cpu_us": cpu,
                      "verdicts": {it["candidate"]: it["verdict"] for it in pairs}}
    slope_head = ["", "growth, MiB/s", "less memory, ×", "CPU, ms a request"]
    print(table(head, rows), table(slope_head, slopes), sep="\n\n")
    save("memory", {"servers": kept}, chosen, [], minute=(head, rows), slopes=(slope_head, slopes))
