#!/usr/bin/env python3
"""Runs Locust against the slow and the fixed server of a case, as the article did: `just locust CASE`."""

import argparse
import json
import os
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from harness import cases
from harness.cases import Problem
from harness.processes import allow_connections, run, serving, started, wait_for
from harness.report import LIMIT, SHORT, add_options, number, percent, save, table
from harness.tools import require

HERE = Path(__file__).resolve().parent
RAMP = 100  # users per second, as in the article


def options():
    parser = argparse.ArgumentParser(prog="just locust", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", action="append", help="instead of slow and fixed; repeat it for several")
    parser.add_argument("--users", type=int, help="instead of the case's own number")
    parser.add_argument("--seconds", type=int, default=30, help="how long to measure after the ramp [30]")
    parser.add_argument("--fast", action="store_true", help="FastHttpUser instead of HttpUser")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="a master and N local worker processes")
    parser.add_argument("--ui", action="store_true", help="open Locust's web UI on one variant; you start the load there")
    parser.add_argument("--web-port", type=int, default=8089, help="port of the web UI [8089]")
    add_options(parser, "10 s a server with at most 300 users")
    chosen = parser.parse_args()
    if min(chosen.seconds, chosen.users or 1) < 1 or chosen.workers < 0:
        parser.error("--users and --seconds take a number from 1 up, and --workers from 0 up")
    chosen.bin_dir = chosen.bin_dir.resolve()
    return chosen


def free_port(wanted=0):
    with socket.socket() as probe:
        # A port that only waits for late packets of an earlier run is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise Problem(f"port {wanted} is in use; `--web-port PORT` takes another one") from error
        return probe.getsockname()[1]


def write_plan(case, server, load, scratch, chosen):
    """What the locustfile needs to know, and the bodies next to it."""
    requests = []
    for index, request in enumerate(case.requests):
        body = request.read_body(chosen.bin_dir)
        file = None if body is None else f"body-{index}"
        if file:
            (scratch / file).write_bytes(body)
        requests.append({**vars(request), "body": None, "body_file": file})
    plan = scratch / "plan.json"
    plan.write_text(json.dumps({
        "requests": requests,
        "think_ms": case.think_ms,
        "connections": case.connections,
        "fast": chosen.fast,
        "server_pid": server.child.pid,
        "parent_pid": os.getpid(),
        "result": None if chosen.ui else "result.json",
        "window_seconds": None if chosen.ui else load["seconds"],
    }))
    return plan


def measure(case, variant, load, program, chosen):
    """Loads one variant's server; returns what the locustfile measured, or None after the web UI."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        scratch = Path(directory)
        servers, url = stack.enter_context(serving(case, variant, chosen.bin_dir, scratch))
        result = scratch / "result.json"
        plan = write_plan(case, servers[0], load, scratch, chosen)
        env = {"LOCUST_PLAN": str(plan)}
        ramp = -(-load["users"] // RAMP)
        command = [program, "--locustfile", str(HERE / "locustfile.py"), "--loglevel", "WARNING", "--reset-stats"]
        main = [*command, "--host", url, "--users", str(load["users"]), "--spawn-rate", str(RAMP), "--exit-code-on-error", "0"]
        if chosen.ui:
            main += ["--web-host", "127.0.0.1", "--web-port", str(chosen.web_port)]
        else:
            main += ["--headless", "--only-summary"]
        if chosen.workers:
            port = str(free_port())
            main += ["--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", port, "--expect-workers", str(chosen.workers)]
        processes = [stack.enter_context(started("locust", main, scratch, env))]
        for worker in range(1, chosen.workers + 1):
            parts = [*command, "--worker", "--master-host", "127.0.0.1", "--master-port", port]
            processes.append(stack.enter_context(started(f"locust-worker-{worker}", parts, scratch, env)))
        if chosen.ui:
            print(f"{case.name}-{variant} is at {url}; open http://127.0.0.1:{chosen.web_port}, and stop with Ctrl-C", flush=True)
            wait_for(processes, servers, float("inf"))
            return None
        # Thousands of users take a while to stop.
        wait_for(processes, servers, ramp + load["seconds"] + 60)
        if not result.exists():
            raise Problem(processes[0].died())
        return json.loads(result.read_text())


def notes(variant, result, load):
    """What a reader has to know before believing a row."""
    cores = [*(process["cores"] for process in result["processes"]), result["master_cores"]]
    if max(cores) >= LIMIT:
        yield f"{variant}: Locust is the limit, not the server: one of its processes uses {percent(max(cores))} of a core"
    elif sum(cores) + result["server_cores"] >= LIMIT * os.cpu_count():
        yield f"{variant}: the machine is saturated: Locust and the server share its {os.cpu_count()} cores"
    answer = load["users"] / result["req_per_s"] - load["think_ms"] / 1000
    if load["requests"] == 1 and answer > load["seconds"]:
        yield f"{variant}: these are the latencies of a queue that still grows; by Little's law an answer takes {answer:.0f} s in the end"


def main():
    chosen = options()
    case = cases.read(chosen.case)
    unknown = set(chosen.variant or []) - set(case.variants)
    if unknown:
        raise Problem(f"{case.name} has no variant `{unknown.pop()}`; it has {', '.join(case.variants)}")
    (program,) = require("locust")
    load = {"users": chosen.users or case.users, "think_ms": case.think_ms, "seconds": chosen.seconds, "requests": len(case.requests)}
    if chosen.short:
        load["users"] = min(load["users"], 300)
        load["seconds"] = 10 - -(-load["users"] // RAMP)
    allow_connections(load["users"] * case.connections)
    if chosen.ui:
        free_port(chosen.web_port)
        return measure(case, (chosen.variant or ["slow"])[0], load, program, chosen)

    results = {}
    for variant in chosen.variant or ["slow", "fixed"]:
        print(f"{case.name}-{variant}: users {load['users']:,}, {load['seconds']} s after the ramp", file=sys.stderr, flush=True)
        result = results[variant] = measure(case, variant, load, program, chosen)
        if result["failures"]:
            raise Problem(f"{variant}: {result['failures']} of {result['requests']} answers are wrong: {result['first_failure']}")
        if not result["requests"]:
            raise Problem(f"{variant} answered nothing in {load['seconds']} s; give it more `--seconds`")

    client, processes = "FastHttpUser" if chosen.fast else "HttpUser", f"{chosen.workers} workers" if chosen.workers else "1 process"
    print(f"{case.name}: Locust {result['locust']}, {client}, {processes}; users {load['users']:,}, wait {load['think_ms']} ms, {load['seconds']} s\n")
    head = ["", "req/s", "p50 ms", "p99 ms", "Locust CPU", "server CPU"]
    print(table(head, [
        [variant, *(number(result[key]) for key in ("req_per_s", "p50_ms", "p99_ms")),
         percent(sum(process["cores"] for process in result["processes"])), percent(result["server_cores"])]
        for variant, result in results.items()
    ]))
    if {"slow", "fixed"} <= results.keys():
        print(f"\nfixed / slow: {number(results['fixed']['req_per_s'] / results['slow']['req_per_s'])}")
    remarks = [note for variant, result in results.items() for note in notes(variant, result, load)]
    if chosen.short:
        remarks.append(SHORT)
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"client": client, "workers": chosen.workers, "load": load, "variants": results, "notes": remarks}
    save(f"locust-{case.name}", record, chosen, ["locust"])
    return 0


if __name__ == "__main__":
    run(main)
