"""What the engines share: the load plan, the outcome, and tools that end in time: docs/src/engines.md."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Longer than any queue that a slow server builds, in seconds.
TIMEOUT = 60


class Refused(Exception):
    """Why there is no outcome and what to do, in a line for the user."""


def main(engine, tool, install, own=None):
    """Runs `engine(plan, program, scratch)` and prints the outcome that it returns. Nothing outlives this process."""
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: sys.exit(1))
    program = str(own) if own and own.exists() else shutil.which(tool)
    if not program:
        sys.exit(f"error: there is no {tool}: {install}")
    line = sys.stdin.readline()
    if not line:
        # Without a plan, this was only a question whether the tool is there.
        return
    threading.Thread(target=end_with_caller, daemon=True).start()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            plan = json.loads(line)
            refuse_features_of_lab(plan, tool)
            outcome = engine(plan, program, Path(scratch))
    except Refused as refusal:
        sys.exit(f"error: {refusal}")
    print(json.dumps(outcome), flush=True)


def end_with_caller():
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def refuse(why):
    raise Refused(why)


def refuse_features_of_lab(plan, name):
    """Refuses a plan that only `lab`'s own generator can follow."""
    loads = plan["arrivals"].values()
    answers = [request["expected"] for request in plan.get("requests", [])]
    found = {
        "visits": plan.get("visits"),
        "stop_when": plan.get("stop_when"),
        "doubles_every_s": any(load.get("doubles_every_s") for load in loads),
        "expected.or": any("or" in answer for answer in answers),
        "target.http2": plan["target"].get("http2"),
    }
    for feature in (feature for feature, value in found.items() if value):
        refuse(f"{name} does not support `{feature}`: use the engine `lab`")


def only_request(plan, name, options=(), pause=False, open_loop=False):
    """The request and the load of a plan for a tool that only repeats one request."""
    ((kind, load),) = plan["arrivals"].items()
    (request, *others), unknown = plan["requests"], set(plan["options"]) - set(options)
    if kind == "open_loop" and not open_loop:
        refuse(f"{name} has no open loop")
    if open_loop and load.get("spacing", "even") != "even":
        refuse(f"{name} spaces arrivals evenly and not at random: use --even-arrivals")
    if others:
        refuse(f"{name} repeats one request, and this visit has {len(plan['requests'])}")
    if load.get("connections_per_user", 1) > 1 or (kind == "closed_loop" and load.get("connections", 1) > 1):
        refuse(f"{name} has one connection for each user")
    if load.get("think_ms") and not pause:
        refuse(f"the users of {name} cannot pause: leave out --think-ms")
    if plan["target"]["tls"] or request["expected"]["status"] >= 400:
        refuse(f"{name} is only set up for http and for answers with a status below 400")
    if unknown:
        refuse(f"{name} has no {' and no '.join(sorted(unknown))}")
    return request, load


def url(plan, request):
    return f"http://{plan['target']['host']}{request['path']}"


def content_type(request):
    """The content type, and all other headers."""
    kinds = [value for name, value in request["headers"] if name.lower() == "content-type"]
    return next(iter(kinds), "text/plain"), [it for it in request["headers"] if it[0].lower() != "content-type"]


def run_tool(command, env):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          env={**os.environ, **env})
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        refuse(f"{Path(command[0]).name} ended with status {done.returncode}: {''.join(last)}")
    return done.stdout


def measure(plan, command, threads=1, env={}):
    """Runs `command(seconds)` to warm up and to be measured: what it printed, and the CPU time that the tool used."""
    if plan["warm_up_s"]:
        run_tool(command(plan["warm_up_s"]), env)
    before = used_by_children()
    # `lab` reads the CPU time of the server at these two lines.
    print("measuring", flush=True)
    printed = run_tool(command(plan["measurement_s"]), env)
    print("measured", flush=True)
    total = used_by_children() - before
    return printed, {"generator_cpu_s": total / threads, "total_cpu_s": total}


def used_by_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def version(program, *arguments):
    """The version that a tool prints. Some print it to stderr, and some exit with an error after it."""
    printed = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", timeout=60)
    found = re.search(r"\d+(\.\d+)+[\w.+-]*", printed.stdout)
    return found.group() if found else ""


def about(name, program, *arguments, notes=(), workers=None):
    """Who measured."""
    return {"name": name, "version": version(program, *arguments), "workers": workers, "notes": list(notes)}


def counts(ok, wrong=0, failed=0, unfinished=0, **others):
    return {"sent": ok + wrong + failed + unfinished, "ok": ok, "ok_in_time": ok, "wrong": wrong, "failed": failed,
            "unfinished": unfinished, **others}


def find(pattern, text, default=None):
    match = re.search(pattern, text, re.MULTILINE)
    if match is None and default is None:
        refuse(f"no match for {pattern} in the output:\n{text}")
    return match.group(1) if match else default
