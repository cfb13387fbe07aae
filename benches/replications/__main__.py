#!/usr/bin/env python3
"""Other tools, run against the cases: those of the articles, load generators, profilers, and what tests the workspace
for an hour. `just replicate` lists them, `just replicate NAME` runs one.
"""

import importlib
import sys

from harness.processes import run
from harness.tools import TOOLS, version

# By name: the directory and the arguments that its script gets first, about how long it takes, what it does, and its
# tools. A tool in brackets is only needed for a part.
REPLICATIONS = {
    "locust": ("locust", [], "3 min", "load CASE with Locust, from one process or several", "locust"),
    "proxy": ("proxy", [], "2 min", "load a page in Chromium through four proxies",
              "node npm chromium openssl (strace)"),
    "varnish": ("varnish", [], "4 min", "compare Varnish, nginx and our proxy with ab", "varnishd nginx ab (perf)"),
    "mongodb": ("mongodb", [], "4 min, and 10 to build", "measure four versions of the MongoDB driver",
                "cargo javac mvn wrk"),
    "wild": ("wild", [], "30 min, and 30 to install", "look at released servers with `lab triage`",
             "wrk strace (perf cargo go npm java mvn mdbook nginx lighttpd)"),
    "releases": ("releases", [], "1 h, and 40 min to install", "compare released versions, and look at both",
                 "cargo (java postgres)"),
    "postgres": ("postgres", [], "4 min, and 1 to build", "measure query-per-row with PostgreSQL, near and 1 ms away",
                 "postgres"),
    "nodelay": ("nodelay", [], "2 min, and 2 to build", "who waits for delayed acknowledgements: frameworks, clients, sizes",
                "(cargo node go javac java strace)"),
    "mystery": ("mystery", [], "10 min", "give `lab triage` servers whose faults are known", "(perf)"),
    "ladder": ("ladder", [], "35 min", "score the shop after each of our ten fixes, in two orders", ""),
    "dashboard": ("dashboard", [], "1 min", "read the shop's metrics in an evening with stalls", ""),
    "heaptrack": ("heaptrack_valgrind", ["heaptrack"], "10 s", "count the allocations of CASE, next to our counts",
                  "heaptrack"),
    "dhat": ("heaptrack_valgrind", ["dhat"], "10 s", "count the allocations of CASE with Valgrind", "valgrind"),
    "cachegrind": ("heaptrack_valgrind", ["cachegrind"], "10 s", "count the instructions of CASE with Valgrind",
                   "valgrind"),
    "instructions": ("instructions", [], "1 min", "count the instructions of a request of each case, in process",
                     "valgrind"),
    "hotspot": ("hotspot", [], "10 s", "record CASE with perf, for Hotspot", "perf (hotspot)"),
    "crosscheck": ("crosscheck", [], "10 min", "load one server of CASE with every load generator in turn",
                   "wrk (ab oha k6)"),
    "settings": ("settings", [], "1 h, and 20 min to build", "what allocators, builds and workers do for CASE", ""),
    "memory": ("memory", [], "20 min", "tell a leak, a full cache and what an allocator keeps apart", ""),
    "unchanged": ("unchanged", [], "3 h", "compare benches with themselves, by four tools", "(valgrind)"),
    "soak": ("soak", [], "1 h", "load all fixed servers, next to broken clients", ""),
    "torture": ("torture", [], "15 min", "fail one system call in each run of lab, and more", "strace"),
}


def show():
    """All replications with their tools, and how to install those that are missing."""
    found = {name: version(name) for name in TOOLS}
    for name, (_, _, time, what, tools) in REPLICATIONS.items():
        print(f"{name:14}{what}; {time}")
        for word in tools.split():
            tool = word.strip("()")
            part = " (for a part)" if word != tool else ""
            print(f"{'':14}  {tool} {found[tool] or 'is missing'}{part}")
    used = {word.strip("()") for *_, tools in REPLICATIONS.values() for word in tools.split()}
    for name in sorted(used):
        if found[name] is None:
            print(f"\nto install {name}:\n  {TOOLS[name].install}")
    print("\njust replicate NAME runs one: just replicate locust lock-scope, just replicate proxy --help")


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        return show()
    name, *arguments = sys.argv[1:]
    if name not in REPLICATIONS:
        sys.exit(f"error: no replication is named `{name}`; `just replicate` lists them")
    directory, first, *_ = REPLICATIONS[name]
    script = importlib.import_module(f"{directory}.run")
    sys.argv = [script.__file__, *first, *arguments]
    run(script.main)


if __name__ == "__main__":
    main()
