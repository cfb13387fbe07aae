"""The users of a load plan, for Locust, and what they measure in one window of time.

The environment variable LOCUST_PLAN names the plan, a JSON file; `just locust` and `lab compare --engine locust` write
it. The window opens at the end of the ramp. Each process that makes load measures its own window, and its own CPU time
in it: a process that uses a whole core measures itself and not the server. The master, or the only process, adds them
up and writes the result.

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
import psutil
from gevent.pool import Pool
from locust import FastHttpUser, HttpUser, constant, events, task
from locust.exception import StopUser
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

PLAN_FILE = Path(os.environ["LOCUST_PLAN"]).absolute()
PLAN = json.loads(PLAN_FILE.read_text(encoding="utf-8"))
THINK = PLAN["think_ms"] / 1000
# Whether the plan says when the window closes. If not, it closes when somebody stops the run.
TIMED = PLAN["window_seconds"] is not None
# The master waits this long for windows of workers that Locust believes to be alive.
PATIENCE = 30
# One turn of a busy worker's event loop can take longer than the 3 s that Locust's master waits for a heartbeat.
locust.runners.HEARTBEAT_LIVENESS = 10
# As in `lab`: users who failed wait a moment, so that they don't hammer a server that is down.
AFTER_FAILURE = 0.05


def prepared(request):
    body, content_type = request.get("body_file"), request.get("content_type")
    headers = {**(request.get("headers") or {}), **({"content-type": content_type} if content_type else {})}
    return request, headers, (PLAN_FILE.parent / body).read_bytes() if body else None


REQUESTS = [prepared(request) for request in PLAN["requests"]]


def fault(request, status, content):
    """What is wrong with an answer, or None."""
    if status != request["status"]:
        return f"status {status} instead of {request['status']}"
    if request.get("answer") is not None and content != request["answer"].encode():
        return f"wrong answer: {content[:60]!r}"
    if request.get("crc32") is not None and (len(content), zlib.crc32(content)) != (request["bytes"], int(request["crc32"], 16)):
        return f"wrong answer: {len(content)} bytes, CRC-32 {zlib.crc32(content):08x}"
    return None


class Visitor(FastHttpUser if PLAN["fast"] else HttpUser):
    wait_time = constant(THINK)
    # Only FastHttpUser reads these. Its timeout of 60 s would turn a long queue into errors.
    concurrency = PLAN["connections"]
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
        if WINDOW.end and TIMED:
            raise StopUser
        if self.in_step and WINDOW.ramp_is_over:
            self.leave_step()
        since = WINDOW.in_flight[self] = time.monotonic()
        page, *files = REQUESTS
        faults = [self.ask(page)]
        if files:
            faults += Pool(PLAN["connections"]).map(self.ask, files)
        outcome = next((found for found in faults if found), ("ok", None))
        del WINDOW.in_flight[self]
        WINDOW.count_visit(1000 * (time.monotonic() - since), *outcome)
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
            wrong = fault(request, response.status_code, response.content or b"")
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


def record(histogram, ms):
    """Three significant digits are enough, and keep the histogram small."""
    histogram[f"{float(f'{ms:.3g}'):g}"] += 1


class Window:
    """What this process saw from `begin` to `end`, and of the visits in flight until grace is over."""

    def __init__(self):
        self.begin = self.end = self.over = self.first_failure = self.first_fault = None
        self.ramp_is_over = False
        self.in_flight, self.latency, self.visit_latency = {}, Counter(), Counter()
        self.requests = self.failures = self.longest = 0
        self.visits = Counter()

    def count_request(self, response_time, exception=None, **_):
        """Locust's own event and its own time: also of a request in the middle of a visit."""
        if self.begin and not self.end:
            self.requests += 1
            if exception:
                self.failures += 1
                self.first_failure = self.first_failure or str(exception)
            else:
                record(self.latency, response_time)

    def count_visit(self, ms, outcome, found):
        # A visit that was in flight when the window opened belongs to it: the server was working on it.
        if not self.begin or self.over:
            return
        self.visits[outcome] += 1
        self.longest = max(self.longest, ms)
        self.visits["late"] += bool(self.end)
        if outcome == "ok":
            self.visits["ok_in_time"] += not self.end
            record(self.visit_latency, ms)
        self.first_fault = self.first_fault or found

    def figures(self):
        seconds, cpu, waited = (now - before for before, now in zip(self.begin, self.end or clocks()))
        seconds = max(seconds, 1e-3)
        now = self.over or time.monotonic()
        return {
            "closed": self.end is not None,
            "seconds": seconds,
            "cores": cpu / seconds,
            "waited": waited / seconds,
            "requests": self.requests,
            "failures": self.failures,
            "first_failure": self.first_failure,
            "latency_ms": dict(self.latency),
            "unfinished_ages_ms": [round(1000 * (now - since), 1) for since in self.in_flight.values()],
            "visits": {kind: self.visits[kind] for kind in ("ok", "ok_in_time", "wrong", "failed", "late")},
            "longest_ms": self.longest,
            "grace_seconds": self.over - self.end[0] if self.over else 0,
            "first_fault": self.first_fault,
            "visit_ms": dict(self.visit_latency),
        }


WINDOW = Window()
# The newest figures of each worker that ever connected; None before its window opens.
WORKERS = {}
SERVER_CPU = []


def read_server_cpu():
    if PLAN["server_pid"] is not None:
        try:
            times = psutil.Process(PLAN["server_pid"]).cpu_times()
        except psutil.NoSuchProcess:
            return
        SERVER_CPU.append(times.user + times.system)


def percentile(histogram, share):
    """The latency that this share of the requests did not exceed, or None without any."""
    left = share * sum(histogram.values())
    for ms, count in sorted((float(ms), count) for ms, count in histogram.items()):
        left -= count
        if left <= 0:
            return ms
    return None


def merged(key, windows):
    total = Counter()
    for window in windows:
        # Unlike `+`, this keeps zeros.
        total.update(window[key])
    return dict(total)


def first(key, windows):
    return next((window[key] for window in windows if window[key]), None)


def result(is_alive):
    """All windows together. A worker's window opens and closes on its own clock, so each brings its own rate."""
    windows = {worker: window for worker, window in WORKERS.items() if window} or {"only": WINDOW.figures()}
    everything = list(windows.values())
    whole = [window["seconds"] for window in everything if window["closed"]]
    seconds = statistics.mean(whole or [WINDOW.figures()["seconds"]])
    # What a lost worker had sent is spread over the whole window, because then nothing came.
    rates = [(it["requests"] - it["failures"]) / (it["seconds"] if it["closed"] else seconds) for it in everything]
    latency = merged("latency_ms", everything)
    return {
        "locust": locust.__version__,
        "requests": sum(window["requests"] for window in everything),
        "failures": sum(window["failures"] for window in everything),
        "first_failure": first("first_failure", everything),
        "seconds": seconds,
        "answers": sum(window["requests"] - window["failures"] for window in everything),
        "req_per_s": sum(rates),
        "latency_ms": latency,
        "p50_ms": percentile(latency, 0.5),
        "p99_ms": percentile(latency, 0.99),
        "unfinished_ages_ms": [age for window in everything for age in window["unfinished_ages_ms"]],
        "processes": [
            {"id": name, "req_per_s": rate, **{key: window[key] for key in ("seconds", "cores", "waited")}}
            for (name, window), rate in zip(windows.items(), rates, strict=True)
        ],
        "master_cores": WINDOW.figures()["cores"] if WORKERS else 0,
        "server_cores": (SERVER_CPU[1] - SERVER_CPU[0]) / WINDOW.figures()["seconds"] if len(SERVER_CPU) > 1 else None,
        # Without a fixed window, a worker that is slow to stop may not have reported its last second.
        "lost_workers": [name for name, it in WORKERS.items() if not (it and it["closed"]) and (TIMED or not is_alive(name))],
        # A visit has all requests of the plan. `late` ones ended after the window, right or wrong.
        "visits": {
            **merged("visits", everything),
            **{key: max(window[key] for window in everything) for key in ("longest_ms", "grace_seconds")},
            "first_fault": first("first_fault", everything),
            "latency_ms": merged("visit_ms", everything),
        },
    }


def write(is_alive):
    if PLAN["result"] and WINDOW.end:
        path = PLAN_FILE.parent / PLAN["result"]
        half = path.with_suffix(".half")
        half.write_text(json.dumps(result(is_alive)), encoding="utf-8")
        half.replace(path)


def timeline(environment, is_alive):
    """Opens the window at the end of the ramp, and closes it if the plan says when. Then the run is over."""
    runner = environment.runner
    is_worker = isinstance(runner, WorkerRunner)
    WINDOW.ramp_is_over = True
    # By then, nearly all users have left the step.
    gevent.sleep(max(PLAN.get("warm_up_seconds") or 0, 2 * THINK))
    WINDOW.begin = clocks()
    if not is_worker:
        read_server_cpu()
        print("window opens", flush=True)
    if not TIMED:
        return
    gevent.sleep(PLAN["window_seconds"])
    close(is_worker)
    grace = time.monotonic() + (PLAN.get("grace_seconds") or 0)
    while WINDOW.in_flight and time.monotonic() < grace:
        gevent.sleep(0.01)
    WINDOW.over = time.monotonic()
    if is_worker:
        return runner.send_message("window", WINDOW.figures())
    end = time.monotonic() + (PLAN.get("grace_seconds") or 0) + PATIENCE
    # Without its heartbeats, Locust soon finds out that a worker is gone.
    while time.monotonic() < end and any(not (it and it["closed"]) and is_alive(name) for name, it in WORKERS.items()):
        gevent.sleep(0.02)
    if WORKERS and not any(it and it["closed"] for it in WORKERS.values()):
        print("all workers were lost", file=sys.stderr, flush=True)
        environment.process_exit_code = 1
    else:
        write(is_alive)
    # The web UI stays.
    return runner.quit() if environment.parsed_options.headless else runner.stop()


def close(is_worker):
    if WINDOW.begin and not WINDOW.end:
        WINDOW.end = clocks()
        if not is_worker:
            read_server_cpu()
            print("window closes", flush=True)


def report_each_second(runner):
    """So that the master knows what a worker did before it was lost."""
    while not WINDOW.end:
        gevent.sleep(1)
        if WINDOW.begin and not WINDOW.end:
            runner.send_message("window", WINDOW.figures())


def exit_with_parent():
    """Ends this process if the script that started it was killed and could not do it."""
    try:
        parent = psutil.Process(PLAN["parent_pid"])
        while parent.status() != psutil.STATUS_ZOMBIE:
            gevent.sleep(1)
    except psutil.NoSuchProcess:
        pass
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

    def stopped(**_):
        close(is_worker)
        WINDOW.over = time.monotonic()
        if is_worker and WINDOW.end:
            runner.send_message("window", WINDOW.figures())

    events.request.add_listener(WINDOW.count_request)
    events.spawning_complete.add_listener(ramp_is_over)
    if not TIMED:
        events.test_stopping.add_listener(stopped)
        if not is_worker:
            # The last event of a run: by now the workers' last windows are in.
            events.quit.add_listener(lambda **_: write(is_alive))
    if isinstance(runner, MasterRunner):
        events.worker_connect.add_listener(lambda client_id, **_: WORKERS.setdefault(client_id))
        runner.register_message("window", keep)
    if is_worker:
        gevent.spawn(report_each_second, runner)
    if PLAN["parent_pid"] is not None:
        gevent.spawn(exit_with_parent)
