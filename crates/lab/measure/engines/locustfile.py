"""The users of a load plan, for Locust, and what they measure in one window of time.

The environment variable LOCUST_PLAN names the plan, a JSON file that `locust` next to this file writes. The window
opens after the ramp and the warm-up. Each process that makes load measures its own window, and its own CPU time in it:
a process that uses a whole core measures itself and not the server. The master, or the only process, adds them up and
writes `result.json` next to the plan.

The plan and the files of the bodies can be copied to another host, next to each other.
"""

import json
import os
import random
import statistics
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

import gevent
import locust
from gevent.pool import Pool
from locust import FastHttpUser, HttpUser, constant, events, task
from locust.exception import StopUser
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

PLAN_FILE = Path(os.environ["LOCUST_PLAN"]).absolute()
PLAN = json.loads(PLAN_FILE.read_text(encoding="utf-8"))
LOAD = PLAN["arrivals"]["closed_loop"]
THINK = LOAD["think_ms"] / 1000
# The master waits this long for windows of workers that Locust believes to be alive.
PATIENCE = 30
# One turn of a busy worker's event loop can take longer than the 3 s that Locust's master waits for a heartbeat.
locust.runners.HEARTBEAT_LIVENESS = 10
# As in `lab`: users who failed wait a moment, so that they don't hammer a server that is down.
AFTER_FAILURE = 0.05


def prepared(request):
    headers = {}
    for name, value in request["headers"]:
        headers[name.lower()] = f"{headers[name.lower()]}, {value}" if name.lower() in headers else value
    return request, headers, (PLAN_FILE.parent / request["body_file"]).read_bytes() if request["body_file"] else None


REQUESTS = [prepared(request) for request in PLAN["requests"]]


def fault(expected, status, content):
    """What is wrong with an answer, or None."""
    if status != expected["status"]:
        return f"status {status} instead of {expected['status']}"
    if expected["answer"] == "any":
        return None
    ((kind, right),) = expected["answer"].items()
    if kind == "text" and content != right.encode():
        return f"wrong answer: {content[:60]!r}"
    if kind == "digest" and (len(content), zlib.crc32(content)) != (right["bytes"], right["crc32"]):
        return f"wrong answer: {len(content)} bytes, CRC-32 {zlib.crc32(content):08x}"
    return None


class Visitor(FastHttpUser if PLAN["options"].get("fast", True) else HttpUser):
    wait_time = constant(THINK)
    # Only FastHttpUser reads these. Its timeout of 60 s would turn a long queue into errors.
    concurrency = LOAD["connections"]
    network_timeout = connection_timeout = 600.0

    in_step = True

    def leave_step(self):
        """Pauses once after the ramp. Creating users blocks a process, so all others wake together afterwards.

        Users who stay in step would all fit one visit more or less into a short window.
        """
        self.in_step = False
        gevent.sleep(random.uniform(0, THINK))

    @task
    def visit(self):
        """As a browser: first the page, then its files over the other connections."""
        if WINDOW.end:
            raise StopUser
        if self.in_step and WINDOW.ramp_is_over:
            self.leave_step()
        since = WINDOW.in_flight[self] = time.monotonic()
        page, *files = REQUESTS
        faults = [self.ask(page)]
        if files:
            faults += Pool(LOAD["connections"]).map(self.ask, files)
        outcome = next((found for found in faults if found), ("ok", None))
        del WINDOW.in_flight[self]
        WINDOW.count(time.monotonic() - since, *outcome)
        if outcome[0] == "failed":
            gevent.sleep(AFTER_FAILURE)

    def ask(self, entry):
        """Returns None for the right answer, or the kind of fault and a sentence about it."""
        request, headers, body = entry
        with self.client.request(
            request["method"], request["path"], data=body, headers=headers, allow_redirects=False, catch_response=True
        ) as response:
            # Status 0 means no answer at all, and Locust keeps the reason.
            if not response.status_code:
                return "failed", str(getattr(response, "error", "no answer"))
            wrong = fault(request["expected"], response.status_code, response.content or b"")
            if wrong:
                response.failure(wrong)
                return "wrong", wrong
            # Locust takes a status from 400 on for a failure, even if the plan expects it.
            response.success()


def clocks():
    """Now: the time, this process's CPU time, and how long it was ready and waited for a core."""
    try:
        waited = int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        waited = 0
    return time.monotonic(), time.process_time(), waited


class Window:
    """What this process saw from `begin` to `end`, and of the visits in flight until grace is over."""

    def __init__(self):
        self.begin = self.end = self.over = self.first_fault = None
        self.ramp_is_over = False
        self.in_flight, self.latency_us, self.visits = {}, Counter(), Counter()
        self.longest = 0

    def count(self, seconds, outcome, found):
        # A visit that was in flight when the window opened belongs to it: the server was working on it.
        if not self.begin or self.over:
            return
        self.visits[outcome] += 1
        self.longest = max(self.longest, seconds)
        self.visits["late"] += bool(self.end)
        if outcome == "ok":
            self.visits["ok_in_time"] += not self.end
            # Three significant digits are enough, and keep the histogram small. JSON has only text as a key.
            self.latency_us[f"{float(f'{1e6 * seconds:.3g}'):.0f}"] += 1
        self.first_fault = self.first_fault or found

    def figures(self):
        seconds, cpu, waited = (now - before for before, now in zip(self.begin, self.end or clocks()))
        now = self.over or time.monotonic()
        return {
            "closed": self.end is not None,
            "seconds": max(seconds, 1e-3),
            "cpu_s": cpu,
            "waited_s": waited,
            "visits": {kind: self.visits[kind] for kind in ("ok", "ok_in_time", "wrong", "failed", "late")},
            "latency_us": dict(self.latency_us),
            "ages_s": [now - since for since in self.in_flight.values()],
            "longest_s": self.longest,
            "grace_s": self.over - self.end[0] if self.over else 0,
            "first_fault": self.first_fault,
        }


WINDOW = Window()
# The newest figures of each worker that ever connected; None before its window opens.
WORKERS = {}


def percentile(histogram, share):
    """The latency in milliseconds that this share of the visits did not exceed, or None without any."""
    left = share * sum(count for _, count in histogram)
    for us, count in histogram:
        left -= count
        if left <= 0:
            return us / 1000
    return None


def merged(key, windows):
    total = Counter()
    for window in windows:
        # Unlike `+`, this keeps zeros.
        total.update(window[key])
    return dict(total)


def result():
    """All windows together."""
    windows = {worker: window for worker, window in WORKERS.items() if window} or {"only": WINDOW.figures()}
    everything = list(windows.values())
    # What a lost worker had sent is spread over the whole window, because then nothing came.
    whole = [window["seconds"] for window in everything if window["closed"]]
    histogram = sorted((int(us), count) for us, count in merged("latency_us", everything).items())
    own = WINDOW.figures()
    return {
        "seconds": statistics.mean(whole or [own["seconds"]]),
        **merged("visits", everything),
        "latency_us": histogram,
        "percentiles_ms": {"p50": percentile(histogram, 0.5), "p99": percentile(histogram, 0.99)},
        "ages_s": [age for window in everything for age in window["ages_s"]],
        **{key: max(window[key] for window in everything) for key in ("longest_s", "grace_s")},
        "first_fault": next((window["first_fault"] for window in everything if window["first_fault"]), None),
        "processes": [
            {"id": name, "ok_in_time": it["visits"]["ok_in_time"], "cpu_s": it["cpu_s"],
             "waited_s": it["waited_s"]} for name, it in windows.items()
        ],
        "master_cpu_s": own["cpu_s"] if WORKERS else 0,
        "lost_workers": [name for name, it in WORKERS.items() if not (it and it["closed"])],
    }


def write():
    half = PLAN_FILE.with_name("result.half")
    half.write_text(json.dumps(result()), encoding="utf-8")
    half.replace(PLAN_FILE.with_name("result.json"))


def timeline(environment, is_alive):
    """Opens the window at the end of the ramp and the warm-up, and closes it. Then the run is over."""
    runner = environment.runner
    is_worker = isinstance(runner, WorkerRunner)
    WINDOW.ramp_is_over = True
    # By then, nearly all users have left the step.
    gevent.sleep(max(PLAN["warm_up_s"], 2 * THINK))
    WINDOW.begin = clocks()
    if not is_worker:
        print("measuring", flush=True)
    gevent.sleep(PLAN["measurement_s"])
    WINDOW.end = clocks()
    if not is_worker:
        print("measured", flush=True)
    grace = time.monotonic() + PLAN["grace_s"]
    while WINDOW.in_flight and time.monotonic() < grace:
        gevent.sleep(0.01)
    WINDOW.over = time.monotonic()
    if is_worker:
        return runner.send_message("window", WINDOW.figures())
    end = time.monotonic() + PLAN["grace_s"] + PATIENCE
    # Without its heartbeats, Locust soon finds out that a worker is gone.
    while time.monotonic() < end and any(not (it and it["closed"]) and is_alive(name) for name, it in WORKERS.items()):
        gevent.sleep(0.02)
    if WORKERS and not any(it and it["closed"] for it in WORKERS.values()):
        print("all workers were lost", file=sys.stderr, flush=True)
        environment.process_exit_code = 1
    else:
        write()
    runner.quit()
    if environment.web_ui:
        # Locust runs until nobody serves its page.
        environment.web_ui.stop()


def report_each_second(runner):
    """So that the master knows what a worker did before it was lost."""
    while not WINDOW.end:
        gevent.sleep(1)
        if WINDOW.begin and not WINDOW.end:
            runner.send_message("window", WINDOW.figures())


def exit_with_parent():
    """Ends this process if the script that started it was killed and could not do it."""
    while os.getppid() == int(os.environ["LOCUST_PARENT"]):
        gevent.sleep(1)
    os._exit(1)


@events.init.add_listener
def set_up(environment, runner, **_):
    is_worker, started = isinstance(runner, WorkerRunner), []

    def is_alive(worker):
        return worker in runner.clients and runner.clients[worker].state != STATE_MISSING

    def keep(msg, **_):
        WORKERS[msg.node_id] = msg.data

    def ramp_is_over(**_):
        # Locust may spread the users again, after a worker was lost. The window stays.
        if not started:
            started.append(gevent.spawn(timeline, environment, is_alive))

    events.spawning_complete.add_listener(ramp_is_over)
    if isinstance(runner, MasterRunner):
        events.worker_connect.add_listener(lambda client_id, **_: WORKERS.setdefault(client_id))
        runner.register_message("window", keep)
    if is_worker:
        gevent.spawn(report_each_second, runner)
    gevent.spawn(exit_with_parent)
