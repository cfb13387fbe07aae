#!/usr/bin/env python3
"""Measures one server of a case with wrk, oha, ab and k6 in alternating rounds: `just crosscheck CASE`."""

import argparse
import os
import resource
import shutil
import statistics
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from generators import GENERATORS, Load
from harness import cases
from harness.cases import Problem
from harness.processes import allow_connections, run, serving, started, wait_for
from harness.report import LIMIT, SHORT, add_options, number, percent, save, table
from harness.tools import TOOLS

CONNECTIONS = 100  # at most, as with the article's wrk and ab


def options():
    parser = argparse.ArgumentParser(prog="just crosscheck", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", default="fixed", help="the server to measure [fixed]")
    parser.add_argument("--connections", type=int, help="instead of the case's users, at most 100")
    parser.add_argument("--seconds", type=int, default=10, help="length of one run [10]")
    parser.add_argument("--rounds", type=int, default=4, help="how often each tool runs [4]")
    add_options(parser, "about 10 s in all")
    chosen = parser.parse_args()
    if min(chosen.seconds, chosen.rounds, chosen.connections or 1) < 1:
        parser.error("--seconds, --rounds and --connections take a number from 1 up")
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
    children, server = resource.getrusage(resource.RUSAGE_CHILDREN), servers[0].cpu_seconds()
    with started(generator.name, generator.command(load), load.scratch) as tool:
        wait_for([tool], servers, load.seconds + 90)
        output = tool.output()
        try:
            result = generator.parse(output, load.scratch)
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise Problem(tool.died() if tool.child.returncode else f"cannot read the output of {tool.name}: {error}") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result["generator_cores"] = (after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime) / load.seconds
    result["server_cores"] = None if server is None else (servers[0].cpu_seconds() - server) / load.seconds
    return result


def summary(runs):
    """The medians of the rounds, and the range of the throughput."""
    result = {key: statistics.median(run[key] for run in runs) for key in runs[0] if runs[0][key] is not None}
    rates = [run["req_per_s"] for run in runs]
    return {"server_cores": None, **result, "failed": sum(run["failed"] for run in runs), "lowest": min(rates), "highest": max(rates)}


def note(generator, result, threads):
    own, server = result["generator_cores"], result["server_cores"] or 0
    if own >= LIMIT * (1 if generator.one_thread else threads):
        return f"{generator.name} is the limit, not the server: it uses {percent(own)} of a core"
    if own + server >= LIMIT * os.cpu_count():
        return f"the machine is saturated: {generator.name} takes {percent(own)} of a core from the server"
    return None


def main():
    chosen = options()
    case = cases.read(chosen.case)
    if chosen.variant not in case.variants:
        raise Problem(f"{case.name} has no variant `{chosen.variant}`; it has {', '.join(case.variants)}")
    tools = [generator for generator in GENERATORS if shutil.which(generator.name)]
    missing = [generator for generator in GENERATORS if generator not in tools]
    for generator in missing:
        print(f"left out: no {generator.name}; {TOOLS[generator.name].install}")
    if not tools:
        print("skipped: none of the tools is installed")
        return 0
    seconds, rounds = (1, 2) if chosen.short else (chosen.seconds, chosen.rounds)
    connections = chosen.connections or min(case.users * case.connections, CONNECTIONS)
    allow_connections(connections)

    with tempfile.TemporaryDirectory() as directory, serving(case, chosen.variant, chosen.bin_dir, Path(directory)) as (servers, url):
        scratch, request = Path(directory), case.requests[0]
        body, body_file = request.read_body(chosen.bin_dir), None
        if body is not None:
            body_file = scratch / "body"
            body_file.write_bytes(body)
        load = Load(url + request.path, request, connections, seconds, min(os.cpu_count(), connections), scratch, body_file)
        check_answer(request, load.url, body)
        runs = {generator.name: [] for generator in tools}
        for turn in range(rounds):
            print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
            # Each round begins with another tool, so that none is always the first.
            first = turn % len(tools)
            for generator in tools[first:] + tools[:first]:
                runs[generator.name].append(measure(generator, load, servers))
        check_answer(request, load.url, body)

    results = {name: summary(measured) for name, measured in runs.items()}
    print(f"\n{case.name}-{chosen.variant}: {request.method} {request.path}, {connections} connections, {rounds} rounds of {seconds} s\n")
    head = ["", "req/s", "lowest to highest", "p50 ms", "p99 ms", "own CPU", "server CPU", "failed"]
    print(table(head, [
        [name, number(it["req_per_s"]), f"{number(it['lowest'])} to {number(it['highest'])}", number(it["p50_ms"], 2), number(it["p99_ms"], 2),
         percent(it["generator_cores"]), percent(it["server_cores"]), str(it["failed"])]
        for name, it in results.items()
    ]))
    remarks = [remark for generator in tools if (remark := note(generator, results[generator.name], load.threads))]
    remarks.append("these tools wait for an answer before they send the next request, so a stall delays requests that no percentile counts")
    if chosen.short:
        remarks.append(SHORT)
    if len(case.requests) > 1:
        remarks.append(f"this is the first of the case's {len(case.requests)} requests; these tools load no whole page")
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"server": f"{case.name}-{chosen.variant}", "connections": connections, "seconds": seconds, "results": results, "runs": runs,
              "left_out": [generator.name for generator in missing], "notes": remarks}
    save(f"crosscheck-{case.name}", record, chosen, results)
    if any(it["failed"] for it in results.values()):
        raise Problem("some answers failed, so these figures are not comparable")
    return 0


if __name__ == "__main__":
    run(main)
