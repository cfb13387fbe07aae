#!/usr/bin/env python3
"""Measures one server of a case with wrk, oha, ab, k6 and `lab` in alternating rounds: `just crosscheck CASE`.

With `--stalls`, the server stops for one second in every ten, and the table shows which tools report it.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import stall
from generators import AB, GENERATORS, K6, LAB, OHA, WRK, Load, oha_corrected
from harness import cases
from harness.cases import Problem, find_binary
from harness.processes import allow_connections, run, serving, started, used_by_children, wait_for
from harness.report import LIMIT, SHORT, add_options, in_turn, number, percent, positive, ratio, save, say, span, spread, table
from harness.tools import TOOLS

CONNECTIONS = 100  # at most, as with the article's wrk and ab
# Requests per second of an open loop: half of what the closed loop gets, but not so many that a tool becomes the limit.
RATE = 200
# Each in a run of its own. Whether it is an open loop, and what its latencies are.
STALLED = {
    "lab, closed loop": (LAB, False, "counts a stall once for each connection, and not the requests that it did not send meanwhile"),
    "ab, closed loop": (AB, False, "does the same"),
    "wrk, closed loop": (WRK, False, "does too, but then adds the requests that its mean rate would have sent meanwhile"),
    "oha -q": (OHA, True, "counts from the moment when it sent a request, which is late if all connections wait"),
    "oha -q --latency-correction": (replace(OHA, command=oha_corrected), True, "counts from the moment when a request was due"),
    "k6, constant-arrival-rate": (K6, True, "starts another user for each request that is due, so none is sent late"),
    "lab, open loop": (LAB, True, "counts from the moment when a request was due; its arrivals are random"),
}


def options():
    parser = argparse.ArgumentParser(prog="just crosscheck", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", default="fixed", help="the server to measure [fixed]")
    parser.add_argument("--connections", type=positive, help="instead of the case's users, at most 100")
    parser.add_argument("--seconds", type=positive, help="length of one run [8; with --stalls 20]")
    parser.add_argument("--rounds", type=positive, default=4, help="how often each tool runs [4]; not with --stalls")
    parser.add_argument("--stalls", action="store_true", help="stop the server for 1 s in every 10, and compare closed and open loops")
    add_options(parser, "1 s a run; with --stalls 5 s")
    chosen = parser.parse_args()
    chosen.seconds = chosen.seconds or (20 if chosen.stalls else 8)
    if chosen.short:
        chosen.seconds, chosen.rounds = 5 if chosen.stalls else 1, 2
    return chosen


def check_answer(request, url, body):
    """Asks once, because the tools themselves see no more of an answer than its status."""
    asked = urllib.request.Request(url, data=body, method=request.method)
    if request.content_type:
        asked.add_header("content-type", request.content_type)
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            fault = request.fault(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        fault = request.fault(error.code, error.read())
    except OSError as error:
        fault = f"no answer: {error}"
    if fault:
        raise Problem(f"{url}: {fault}")


def measure(generator, load, servers):
    """One run of one tool: its own figures, with the CPU time of the tool and of the server."""
    children, server = used_by_children(), servers[0].cpu_seconds()
    with started(generator.name, generator.command(load), load.scratch, line=generator.line(load)) as tool:
        wait_for([tool], servers, load.seconds + 90)
        output = tool.output()
        try:
            result = generator.parse(output, load.scratch)
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise Problem(tool.died() if tool.child.returncode else f"cannot read the output of {tool.name}: {error}") from error
    result["generator_cores"] = (used_by_children() - children) / load.seconds
    result["server_cores"] = None if server is None else (servers[0].cpu_seconds() - server) / load.seconds
    return result


def summary(runs, by_lab):
    """The medians of the rounds, the ranges, and the ratio to `lab` in the same rounds."""
    keys = ("req_per_s", "p50_ms", "p99_ms")
    result = {key: spread(run[key] for run in runs) for key in keys}
    result["failed"] = sum(run["failed"] for run in runs)
    for key in ("generator_cores", "server_cores"):
        result[key] = None if runs[0][key] is None else statistics.median(run[key] for run in runs)
    result["over_lab"] = {key: ratio([run[key] for run in runs], [run[key] for run in by_lab]) for key in keys}
    return result


def outside(result, by_lab):
    """The figures whose median is not within the range of `lab` in the same session."""
    return [key for key, range_ in by_lab.items() if not range_["lowest"] <= result[key]["median"] <= range_["highest"]]


def note(generator, result, threads):
    own, server = result["generator_cores"], result["server_cores"] or 0
    if own >= LIMIT * (1 if generator.one_thread else threads):
        return f"{generator.name} is the limit, not the server: it uses {percent(own)} of a core"
    if own + server >= LIMIT * os.cpu_count():
        return f"the machine is saturated: {generator.name} takes {percent(own)} of a core from the server"
    return None


@contextlib.contextmanager
def target(case, chosen, connections, under=()):
    """A server with a load for it. Its answer is checked before and after."""
    with tempfile.TemporaryDirectory() as directory, serving(case, chosen.variant, chosen.bin_dir, Path(directory), under=under) as (servers, url):
        scratch, request = Path(directory), case.requests[0]
        body, body_file = request.read_body(chosen.bin_dir), None
        if body is not None:
            body_file = scratch / "body"
            body_file.write_bytes(body)
        threads = min(os.cpu_count(), connections)
        pid = servers[0].child.pid
        load = Load(url + request.path, request, connections, chosen.seconds, threads, scratch, body_file, pid, chosen.bin_dir)
        check_answer(request, load.url, body)
        yield load, servers
        check_answer(request, load.url, body)


def crosscheck(case, chosen, connections, tools):
    runs = {generator.name: [] for generator in tools}
    with target(case, chosen, connections) as (load, servers):
        for turn in range(chosen.rounds):
            say(f"round {turn + 1} of {chosen.rounds}")
            for generator in in_turn(tools, turn):
                runs[generator.name].append(measure(generator, load, servers))
    results = {name: summary(measured, runs["lab"]) for name, measured in runs.items()}
    by_lab = {key: results["lab"][key] for key in ("req_per_s", "p50_ms", "p99_ms")}
    marked = {}
    for name, it in results.items():
        it["outside_lab"] = outside(it, by_lab)
        marked[name] = {key: number(it[key]["median"], digits) + ("*" if key in it["outside_lab"] else " ")
                        for key, digits in (("req_per_s", 1), ("p50_ms", 2), ("p99_ms", 2))}
    head = ["", "req/s ", "lowest to highest", "over lab", "p50 ms ", "p99 ms ", "own CPU", "server", "failed"]
    rows = [
        [name, marked[name]["req_per_s"], f"{number(it['req_per_s']['lowest'])} to {number(it['req_per_s']['highest'])}",
         "" if name == "lab" else span(it["over_lab"]["req_per_s"]), marked[name]["p50_ms"], marked[name]["p99_ms"],
         percent(it["generator_cores"]), percent(it["server_cores"]), str(it["failed"])]
        for name, it in results.items()
    ]
    remarks = ["* outside lab's lowest to highest of these rounds"] if any(it["outside_lab"] for it in results.values()) else []
    remarks += [remark for generator in tools if (remark := note(generator, results[generator.name], load.threads))]
    if "wrk" in runs:
        remarks.append("wrk adds samples for the requests that it believes a slow answer held back, so its percentiles are not of the answers alone")
    remarks.append("all of these wait for an answer before they send the next request; `--stalls` shows what that hides")
    return f"{chosen.rounds} rounds of {chosen.seconds} s", (head, rows), remarks, results, {"runs": runs}


def stalls(case, chosen, connections, tools):
    """Runs each tool once on a fresh server that stalls: first the closed loops, then the open loops at one rate."""
    here, rate, results = {generator.name for generator in tools}, None, {}
    for name, (generator, is_open, _) in STALLED.items():
        if generator.name not in here:
            continue
        say(f"{name}: {chosen.seconds} s")
        with target(case, chosen, connections, [sys.executable, str(Path(stall.__file__))]) as (load, servers):
            load.rate = rate if is_open else None
            results[name] = measure(generator, load, servers)
        rate = rate or min(results[name]["req_per_s"] / 2, RATE)
    head = ["", "req/s", "p50 ms", "p99 ms", "own CPU", "failed"]
    rows = [
        [name, *(number(it[key]) for key in ("req_per_s", "p50_ms", "p99_ms")), percent(it["generator_cores"]), str(it["failed"])]
        for name, it in results.items()
    ]
    first = stall.EVERY / 100
    remarks = [f"{name}: {STALLED[name][2]}" for name in results]
    remarks.append(
        f"1 % of all moments are the first {1000 * first:.0f} ms of a stall; a request that is due then waits at least "
        f"{1000 * (stall.STALL - first):.0f} ms, so the true p99 is at least that"
    )
    return f"open loops at {rate:.0f} req/s, a stall of {stall.STALL} s in every {stall.EVERY}", (head, rows), remarks, results, {"rate": rate}


def main():
    chosen = options()
    case = cases.read(chosen.case)
    if chosen.stalls:
        # Their answers take so little time that a slow answer is a stall.
        case = case.counted()
    case.check_variants(chosen.variant)
    find_binary(chosen.bin_dir, "lab")
    tools = [generator for generator in GENERATORS if shutil.which(generator.name)]
    missing = [generator for generator in GENERATORS if generator not in tools]
    for generator in missing:
        print(f"left out: no {generator.name}; {TOOLS[generator.name].install}")
    if not tools:
        print("skipped: none of the tools is installed")
        return 0
    connections = chosen.connections or min(case.users * case.connections, CONNECTIONS)
    allow_connections(connections)

    run_all = stalls if chosen.stalls else crosscheck
    how, shown, remarks, results, more = run_all(case, chosen, connections, [*tools, LAB])
    request = case.requests[0]
    print(f"\n{case.name}-{chosen.variant}: {request.method} {request.path}, {connections} connections, {how}\n\n{table(*shown)}")
    if chosen.short:
        remarks.append(SHORT)
    if len(case.requests) > 1:
        remarks.append(f"this is the first of the case's {len(case.requests)} requests; these tools load no whole page")
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"server": f"{case.name}-{chosen.variant}", "connections": connections, "seconds": chosen.seconds, "results": results, **more,
              "left_out": [generator.name for generator in missing], "notes": remarks}
    name = f"crosscheck-stalls-{case.name}" if chosen.stalls else f"crosscheck-{case.name}"
    save(name, record, chosen, [generator.name for generator in tools], load=shown)
    if any(it["failed"] for it in results.values()):
        raise Problem("some answers failed, so these figures are not comparable")
    return 0


if __name__ == "__main__":
    run(main)
