"""Load by an engine of benches/engines, or by `lab`: a case's load plan in, an outcome out, as docs/src/engines.md says."""

import importlib.machinery
import importlib.util
import json
import sys

from harness.cases import ROOT, Problem, find_binary
from harness.processes import started, wait_for
from harness.report import say

ENGINES = ROOT / "benches" / "engines"
# Locust starts so many users a second.
RAMP = 100
SLACK_SECONDS = 120


def script(name):
    """An engine as a module."""
    sys.path[:0] = [] if str(ENGINES) in sys.path else [str(ENGINES)]
    loader = importlib.machinery.SourceFileLoader(f"engine_{name}", str(ENGINES / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def plan_for(case, arrivals, seconds, warm_up=0, grace=1, options=None):
    """The load plan of a case, without its server."""
    requests = []
    for request in case.requests:
        right = {"text": request.answer} if request.answer is not None else {"digest": {"bytes": request.bytes, "crc32": int(request.crc32 or "0", 16)}}
        requests.append({"method": request.method, "path": request.path, "headers": [], "body_file": None, "expected": {"status": request.status, "answer": right}})
    return {"arrivals": arrivals, "warm_up_s": warm_up, "measurement_s": seconds, "grace_s": grace, "requests": requests, "options": options or {}}


def load(name, plan, servers, url, bin_dir, scratch, forever=False):
    """The outcome of one run of an engine against the first of the servers."""
    address = url.partition("://")[2].strip("/")
    plan = {**plan, "target": {"address": address, "host": address, "tls": None}, "server_pid": servers[0].child.pid}
    command = [find_binary(bin_dir, "lab"), "generate"] if name == "lab" else [str(ENGINES / name)]
    users = next(iter(plan["arrivals"].values())).get("users", 0)
    limit = float("inf") if forever else plan["warm_up_s"] + plan["measurement_s"] + users / RAMP + SLACK_SECONDS
    with started(name, command, scratch, line=json.dumps(plan)) as engine:
        wait_for([engine], servers, limit, notes_of(engine))
        said = [line for line in engine.err.read_text(errors="replace").splitlines() if line.strip() and not line.startswith("note: ")]
        if engine.child.returncode:
            raise Problem(f"{name}: {said[-1].removeprefix('error: ')}" if said else engine.died())
        return json.loads(engine.output())


def notes_of(engine):
    """A function to call during the run. It passes the engine's notes on as they come."""
    shown = 0

    def watch():
        nonlocal shown
        notes = [line for line in engine.err.read_text(errors="replace").splitlines(keepends=True) if line.startswith("note: ") and line.endswith("\n")]
        for note in notes[shown:]:
            say(note.rstrip())
        shown = len(notes)

    return watch


def figures(outcome):
    """What the tables show of an outcome."""
    seconds = outcome["measured_s"]
    latencies = outcome.get("percentiles_ms") or {f"p{percent}": percentile(outcome["latency_us"], percent) for percent in (50, 99)}
    cores = {name: None if (used := outcome.get(key)) is None else used / seconds
             for name, key in (("server_cores", "server_cpu_s"), ("busiest_cores", "generator_cpu_s"))}
    total = outcome.get("total_cpu_s", outcome.get("generator_cpu_s"))
    return {
        "req_per_s": outcome["ok_in_time"] / seconds, "p50_ms": latencies["p50"], "p99_ms": latencies["p99"],
        "failed": sum(outcome.get(key) or 0 for key in ("wrong", "failed", "lost")), **cores,
        "generator_cores": None if total is None else total / seconds,
    }


def parsed(name, *output):
    """The figures in what the tool of an engine printed."""
    module = script(name)
    try:
        shown = figures(module.parse(*output))
    except (sys.modules["protocol"].Refused, ValueError, KeyError, AttributeError, OSError) as error:
        raise Problem(f"cannot read the output of {name}: {error}") from error
    return {key: shown[key] for key in ("req_per_s", "p50_ms", "p99_ms", "failed")}


def percentile(latencies, percent):
    """The latency in milliseconds that so many per cent did not exceed, or None without any."""
    left = sum(count for _, count in latencies) * percent / 100
    for us, count in sorted(latencies):
        left -= count
        if left <= 0:
            return us / 1000
    return None
