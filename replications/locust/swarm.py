"""One run of Locust against one server: its load plan, its processes, and what can happen to them."""

import json
import os
import re
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from harness.cases import ROOT, TARGET, Problem
from harness.processes import free_port, serving, started, wait_for
from harness.report import say

HERE = Path(__file__).resolve().parent
# The one that `lab compare --engine locust` embeds.
LOCUSTFILE = ROOT / "crates/lab/cli/src/bench/locustfile.py"
RAMP = 100  # users per second, as in the article
# All that a worker on another machine needs.
KIT = TARGET / "lab" / "locust-worker"
# Processes take a while to start on a busy machine, and thousands of users to stop.
SLACK_SECONDS = 60
GONE = re.compile(r"Worker '?([^\s']+)'? (?:failed to send heartbeat|\(index \d+\) quit)")


def plural(count, thing):
    return f"{count:,} {thing}" + "s" * (count != 1)


def ramp_seconds(users):
    return -(-users // RAMP)


def write_plan(case, bin_dir, directory, **run):
    """Writes the load plan for the locustfile, with the bodies of its requests in files next to it."""
    requests = []
    for number, request in enumerate(case.requests):
        body, name = request.read_body(bin_dir), f"body-{number}"
        if body is not None:
            (directory / name).write_bytes(body)
        kept = {key: getattr(request, key) for key in ("path", "method", "content_type", "status", "answer", "bytes", "crc32")}
        requests.append({**kept, "body_file": None if body is None else name})
    plan = {"requests": requests, "think_ms": case.think_ms, "connections": case.connections, **run}
    path = directory / "plan.json"
    path.write_text(json.dumps(plan, indent=2), encoding="utf-8")
    return path


def write_kit(case, bin_dir, fast, seconds):
    """The directory that another machine gets. It names no path and no process of this machine."""
    shutil.rmtree(KIT, ignore_errors=True)
    KIT.mkdir(parents=True)
    for file in (LOCUSTFILE, HERE / "requirements.txt"):
        shutil.copy(file, KIT)
    write_plan(case, bin_dir, KIT, fast=fast, server_pid=None, parent_pid=None, result=None, window_seconds=seconds)


def worker_options(locustfile, address, port):
    return ["--locustfile", str(locustfile), "--exit-code-on-error", "0", "--worker", "--master-host", address, "--master-port", str(port)]


def watcher(master, workers, limit):
    """A function to call during the run. It collects the lost workers, and ends a run that cannot succeed.

    Without local `workers`, it looks for those of other machines in the master's log.
    """
    began, lost = None, {}

    def gone(log):
        if workers:
            return [(it.name, it.died().removeprefix(f"{it.name} ") if it.child.returncode else "left") for it in workers if not it.running()]
        return [(worker, "no longer answers") for worker in GONE.findall(log)]

    def watch():
        nonlocal began
        before, starts, log = master.err.read_text(errors="replace").partition("Sending spawn jobs")
        if not began and (starts or "Ramping to" in before):
            began = time.monotonic()
        # After the window, all workers leave.
        measuring = "window closes" not in master.output()
        for worker, how in gone(log) if measuring else ():
            if not began:
                raise Problem(f"{worker} {how} before the load began")
            if worker not in lost:
                seconds = time.monotonic() - began
                lost[worker] = {"worker": worker, "how": how, "after_seconds": round(seconds, 1)}
                if "The last worker" in log or len(lost) == len(workers):
                    raise Problem(f"no worker is left: {worker} {how}")
                say(f"note: {worker} {how} after {seconds:.0f} s; the others take over its users")
        if "The last worker went missing" in log and measuring:
            raise Problem("the master heard nothing from its workers for seconds: they are too busy for this number of users")
        if began and time.monotonic() - began > limit:
            raise Problem(f"Locust did not finish within {limit:.0f} s")

    return watch, lost


def measure(case, variant, program, load, bin_dir, port=None, web_port=None):
    """Loads one variant's server. Returns what the locustfile measured and the lost workers, or None after the web UI.

    With an address in `load["listen"]`, the workers come from other machines, to `port`; otherwise they are started here.
    """
    address, count = load["listen"], load["workers"]
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        scratch = Path(directory)
        servers, url = stack.enter_context(serving(case, variant, bin_dir, scratch, address))
        run = {
            "fast": load["fast"],
            "server_pid": servers[0].child.pid,
            "parent_pid": os.getpid(),
            "result": None if web_port else "result.json",
            "window_seconds": None if web_port else load["seconds"],
        }
        env = {
            "LOCUST_PLAN": str(write_plan(case, bin_dir, scratch, **run)),
            # The ramp ends when the workers say so. Locust's own second is too short for thousands of users.
            "LOCUST_WAIT_FOR_WORKERS_REPORT_AFTER_RAMP_UP": str(SLACK_SECONDS // 2),
        }
        limit = 2 * ramp_seconds(load["users"]) + load["seconds"] + SLACK_SECONDS
        # The log at this level names the workers that go missing.
        command = [program, "--locustfile", str(LOCUSTFILE), "--loglevel", "INFO", "--exit-code-on-error", "0"]
        command += ["--host", url, "--users", str(load["users"]), "--spawn-rate", str(RAMP)]
        if web_port:
            command += ["--web-host", "127.0.0.1", "--web-port", str(web_port)]
        else:
            command += ["--headless", "--only-summary"]
        if count:
            port = port or free_port()
            command += ["--master", "--master-bind-host", address or "127.0.0.1", "--master-bind-port", str(port)]
            command += ["--expect-workers", str(count), "--enable-rebalancing"]
            command += [] if address else ["--expect-workers-max-wait", str(SLACK_SECONDS)]
        master = stack.enter_context(started("locust", command, scratch, env))
        workers = []
        for number in range(1, 1 + (0 if address else count)):
            command = [program, *worker_options(LOCUSTFILE, "127.0.0.1", port), "--loglevel", "WARNING"]
            workers.append(stack.enter_context(started(f"worker-{number}", command, scratch, env)))
        watch, lost = watcher(master, workers, float("inf") if web_port else limit)
        if web_port:
            print(f"{case.name}-{variant} is at {url}; open http://127.0.0.1:{web_port}, and stop with Ctrl-C", flush=True)
        wait_for([master], servers, float("inf"), watch)
        result = scratch / "result.json"
        if master.child.returncode and not result.exists():
            raise Problem(master.died())
        if web_port:
            return None
        if not result.exists():
            raise Problem("Locust ended before its window closed: its workers left")
        return {**json.loads(result.read_text()), "lost": list(lost.values())}
