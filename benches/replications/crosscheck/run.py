"""Measures one server of a case with several engines in alternating rounds: `just replicate crosscheck CASE`.

With `--stalls`, the server stops for one second in every ten, and the table shows which engines report it.
"""

import argparse
import contextlib
import statistics
from collections.abc import Callable, Iterator

from crosscheck import stall
from harness import Problem
from harness.lab import case, connections, figures, serving
from harness.report import SHORT, add_options, in_turn, number, percent, positive, ratio
from harness.report import save, say, span, spread, table
from harness.tools import TOOLS

ENGINES = ["wrk", "oha", "ab", "k6", "lab"]
CONNECTIONS = 100  # at most, as with the article's wrk and ab
# Requests per second of an open loop: half of what the closed loop gets, but not so many that an engine becomes the
# limit.
RATE = 200
SHOWN = (("req_per_s", 1), ("p50_ms", 2), ("p99_ms", 2))
# Each in a run of its own. Whether it is an open loop, its options, and what its latencies are.
STALLED = {
    "lab, closed loop": ("lab", False, {},
        "counts a stall once for each connection, and not the requests that it did not send meanwhile"),
    "ab, closed loop": ("ab", False, {}, "does the same"),
    "wrk, closed loop": ("wrk", False, {},
                         "does too, but then adds the requests that its mean rate would have sent meanwhile"),
    "oha -q": ("oha", True, {"latency_correction": False},
               "counts from the moment when it sent a request, which is late if all connections wait"),
    "oha -q --latency-correction": ("oha", True, {}, "counts from the moment when a request was due"),
    "k6, constant-arrival-rate": ("k6", True, {},
                                  "starts another user for each request that is due, so none is sent late"),
    "lab, open loop": ("lab", True, {}, "counts from the moment when a request was due; its arrivals are random"),
}


def options():
    parser = argparse.ArgumentParser(prog="just replicate crosscheck", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", default="fixed", help="the server to measure [fixed]")
    parser.add_argument("--engine", action="append",
                        help=f"an engine to compare with lab; repeat it for several [{', '.join(ENGINES[:-1])}]")
    parser.add_argument("--connections", type=positive, help="instead of the case's users, at most 100")
    parser.add_argument("--seconds", type=positive, help="length of one run [8; with --stalls 20]")
    parser.add_argument("--rounds", type=positive, default=4, help="how often each engine runs [4]; not with --stalls")
    parser.add_argument("--stalls", action="store_true",
                        help="stop the server for 1 s in every 10, and compare closed and open loops")
    add_options(parser, "1 s a run; with --stalls 5 s")
    chosen = parser.parse_args()
    chosen.seconds = chosen.seconds or (20 if chosen.stalls else 8)
    if chosen.short:
        chosen.seconds, chosen.rounds = 5 if chosen.stalls else 1, 2
    return chosen


@contextlib.contextmanager
def target(about: dict, chosen: argparse.Namespace) -> Iterator[Callable[..., dict]]:
    """A server, as a function that loads it with an engine. `lab` checks its answers before and after, because some
    engines check little."""
    # With stalls, the answers take so little time that a slow answer is a stall.
    flags = ["--first", "--connections", str(chosen.connections), *["--counted"] * chosen.stalls]
    with serving(chosen.bin_dir, f"{about['case']}-{chosen.variant}", *flags) as session:

        def measure(engine, rate=None, options=None, users=chosen.connections, seconds=chosen.seconds):
            arrivals = {"closed_loop": {"users": users}}
            if rate:
                spacing = {} if engine == "lab" else {"spacing": "even"}
                arrivals = {"open_loop": {"rate_per_s": rate, "connections": users, **spacing}}
            grace = 10 if rate else 1
            return session.load(seconds, engine=engine, arrivals=arrivals, grace_s=grace, options=options)

        def check():
            outcome = measure("lab", users=1, seconds=0.1)
            if outcome["first_fault"]:
                raise Problem(f"{chosen.variant}: {outcome['first_fault']}")

        check()
        with stall.repeated(session.servers[0].pid) if chosen.stalls else contextlib.nullcontext():
            yield measure
        check()


def summary(runs, by_lab):
    """The medians of the rounds, the ranges, and the ratio to `lab` in the same rounds."""
    result = {key: spread(run[key] for run in runs) for key, _ in SHOWN}
    result["failed"] = sum(run["failed"] for run in runs)
    for key in ("generator_cores", "busiest_cores", "server_cores"):
        result[key] = None if runs[0][key] is None else statistics.median(run[key] for run in runs)
    result["over_lab"] = {key: ratio([run[key] for run in runs], [run[key] for run in by_lab]) for key, _ in SHOWN}
    return result


def outside(result, by_lab):
    """The figures whose median is not within the range of `lab` in the same session."""
    return [key for key, range_ in by_lab.items() if not range_["lowest"] <= result[key]["median"] <= range_["highest"]]


def crosscheck(about, chosen, names):
    runs, notes, limits = {name: [] for name in names}, {}, {}
    with target(about, chosen) as measure:
        for turn in range(chosen.rounds):
            say(f"round {turn + 1} of {chosen.rounds}")
            for name in in_turn(names, turn):
                outcome = measure(name)
                runs[name].append(figures(outcome))
                limits[name] = outcome["limited_by"] or limits.get(name)
                notes[name] = (outcome.get("engine") or {}).get("notes", [])
    results = {name: summary(measured, runs["lab"]) for name, measured in runs.items()}
    by_lab = {key: results["lab"][key] for key, _ in SHOWN}
    marked = {}
    for name, it in results.items():
        it["outside_lab"] = outside(it, by_lab)
        marked[name] = {key: number(it[key]["median"], digits) + ("*" if key in it["outside_lab"] else " ") for key,
                        digits in SHOWN}
    head = ["", "req/s ", "lowest to highest", "over lab", "p50 ms ", "p99 ms ", "own CPU", "server", "failed"]
    rows = [
        [name, marked[name]["req_per_s"],
         f"{number(it['req_per_s']['lowest'])} to {number(it['req_per_s']['highest'])}",
         "" if name == "lab" else span(it["over_lab"]["req_per_s"]), marked[name]["p50_ms"], marked[name]["p99_ms"],
         percent(it["generator_cores"]), percent(it["server_cores"]), str(it["failed"])]
        for name, it in results.items()
    ]
    remarks = ["* outside lab's lowest to highest of these rounds"] if any(it["outside_lab"]
                                                                           for it in results.values()) else []
    remarks += [remark for name in names for remark in [limits[name] and f"{name}: {limits[name]}", *notes[name]]
                if remark]
    remarks.append("all of these wait for an answer before they send the next request; `--stalls` shows what that "
                   "hides")
    return f"{chosen.rounds} rounds of {chosen.seconds} s", (head, rows), remarks, results, {"runs": runs}


def stalls(about, chosen, names):
    """Runs each engine once on a fresh server that stalls: first the closed loops, then the open loops at one rate."""
    rate, results = None, {}
    for name, (engine, is_open, options, _) in STALLED.items():
        if engine not in names:
            continue
        say(f"{name}: {chosen.seconds} s")
        with target(about, chosen) as measure:
            results[name] = figures(measure(engine, rate if is_open else None, options))
        rate = rate or min(results[name]["req_per_s"] / 2, RATE)
    head = ["", "req/s", "p50 ms", "p99 ms", "own CPU", "failed"]
    rows = [
        [name, *(number(it[key]) for key in ("req_per_s", "p50_ms", "p99_ms")), percent(it["generator_cores"]),
         str(it["failed"])]
        for name, it in results.items()
    ]
    first = stall.EVERY / 100
    remarks = [f"{name}: {STALLED[name][3]}" for name in results]
    remarks.append(
        f"1 % of all moments are the first {1000 * first:.0f} ms of a stall; a request that is due then waits at least "
        f"{1000 * (stall.STALL - first):.0f} ms, so the true p99 is at least that"
    )
    return f"open loops at {rate:.0f} req/s, a stall of {stall.STALL} s in every {stall.EVERY}", (head,
        rows), remarks, results, {"rate": rate}


def main():
    chosen = options()
    about = case(chosen.case, chosen.variant, bin_dir=chosen.bin_dir)
    server = f"{about['case']}-{chosen.variant}"
    wanted = dict.fromkeys([*(chosen.engine or ENGINES), "lab"])
    missing = [name for name in wanted if name in TOOLS and not TOOLS[name].find(name)]
    for name in missing:
        print(f"left out: no {name}; {TOOLS[name].install}")
    names = [name for name in wanted if name not in missing]
    if names == ["lab"]:
        print("skipped: none of the tools is installed")
        return 0
    chosen.connections = chosen.connections or min(connections(about), CONNECTIONS)

    how, shown, remarks, results, more = (stalls if chosen.stalls else crosscheck)(about, chosen, names)
    requests = about["counted_requests" if chosen.stalls else "requests"]
    print(f"\n{server}: {requests[0]['method']} {requests[0]['path']}, {chosen.connections} connections, {how}\n\n"
          f"{table(*shown)}")
    if chosen.short:
        remarks.append(SHORT)
    if len(about["requests"]) > 1:
        remarks.append(f"this is the first of the case's {len(about['requests'])} requests; these tools load no whole "
                       f"page")
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"server": server, "connections": chosen.connections, "seconds": chosen.seconds, "results": results,
              **more, "left_out": missing, "notes": remarks}
    save(f"crosscheck-{'stalls-' * chosen.stalls}{about['case']}", record, chosen,
         [name for name in names if name in TOOLS], load=shown)
    if any(it["failed"] for it in results.values()):
        raise Problem("some answers failed, so these figures are not comparable")
    return 0
