"""The users of a load plan, for Locust. `LOCUST_PLAN` is the path of the plan.

Each process also measures its own CPU time from the end of the ramp on, because a process that uses a
whole core measures itself and not the server.
"""

import json
import os
import time
import zlib

import gevent
import locust
import psutil
from gevent.pool import Pool
from locust import FastHttpUser, HttpUser, constant, events, task
from locust.runners import WorkerRunner

with open(os.environ["LOCUST_PLAN"], encoding="utf-8") as plan:
    PLAN = json.load(plan)


def read(path):
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()


REQUESTS = [(request, read(request["body_file"])) for request in PLAN["requests"]]


def find_fault(request, status, content):
    if status != request["status"]:
        return f"status {status} instead of {request['status']}"
    if request["answer"] is not None:
        return None if content == request["answer"].encode() else f"wrong answer: {content[:60]!r}"
    if len(content) != request["bytes"] or zlib.crc32(content) != int(request["crc32"], 16):
        return f"wrong answer: {len(content)} bytes, CRC-32 {zlib.crc32(content):08x}"
    return None


class Visitor(FastHttpUser if PLAN["fast"] else HttpUser):
    wait_time = constant(PLAN["think_ms"] / 1000)
    # Only FastHttpUser reads these. Its timeout of 60 s would turn a long queue into errors.
    concurrency = PLAN["connections"]
    network_timeout = connection_timeout = 600.0

    @task
    def visit(self):
        """As a browser: first the page, then its files over the other connections."""
        page, *files = REQUESTS
        self.ask(page)
        if files:
            Pool(PLAN["connections"]).map(self.ask, files)

    def ask(self, entry):
        request, body = entry
        headers = {"content-type": request["content_type"]} if request["content_type"] else {}
        with self.client.request(request["method"], request["path"], data=body, headers=headers, catch_response=True) as response:
            fault = find_fault(request, response.status_code, response.content or b"")
            # Status 0 means no answer at all, and Locust keeps the reason.
            if fault and response.status_code:
                response.failure(fault)


class Window:
    """The time from the end of the ramp to the end of the load: answers in it, and CPU time."""

    def __init__(self, pid):
        self.process, self.begin, self.end, self.answers = psutil.Process(pid), None, None, 0

    def now(self):
        times = self.process.cpu_times()
        return time.monotonic(), times.user + times.system

    def open(self, **_):
        self.begin = self.begin or self.now()

    def close(self, **_):
        if self.begin:
            self.end = self.end or self.now()

    def count(self, **_):
        if self.begin and not self.end:
            self.answers += 1

    def figures(self):
        (begin, cpu_before), (end, cpu_after) = self.begin, self.end or self.now()
        seconds = max(end - begin, 1e-3)
        return {"id": None, "seconds": seconds, "answers": self.answers, "req_per_s": self.answers / seconds, "cores": (cpu_after - cpu_before) / seconds}


OWN = Window(os.getpid())
SERVER = Window(PLAN["server_pid"]) if PLAN["server_pid"] else None
WORKERS = {}

for window in filter(None, (OWN, SERVER)):
    events.spawning_complete.add_listener(window.open)
    events.test_stopping.add_listener(window.close)
events.request.add_listener(OWN.count)


@events.report_to_master.add_listener
def report_window(client_id, data, **_):
    # A worker's window begins and ends a little later than the master's, so it brings its own rate.
    data["window"] = OWN.figures() if OWN.begin else None


@events.worker_report.add_listener
def keep_window(client_id, data, **_):
    WORKERS[client_id] = data["window"] or WORKERS.get(client_id)


@events.init.add_listener
def end_window(environment, **_):
    if PLAN["window_seconds"] and not isinstance(environment.runner, WorkerRunner):
        events.spawning_complete.add_listener(lambda **_: gevent.spawn_later(PLAN["window_seconds"], environment.runner.quit))


@events.init.add_listener
def exit_with_parent(**_):
    """Stops this process if the script was killed and could not do it."""

    def watch():
        while os.getppid() == PLAN["parent_pid"]:
            gevent.sleep(1)
        os._exit(1)

    if PLAN["parent_pid"] is not None:
        gevent.spawn(watch)


@events.init.add_listener
def write_result_at_the_end(environment, **_):
    # The last event of a run: by now the workers' last reports are in.
    @events.quit.add_listener
    def write(**_):
        # Workers have no result of their own, and a run that was stopped in its ramp has none at all.
        if PLAN["result"] is None or not OWN.end or isinstance(environment.runner, WorkerRunner):
            return
        total, errors = environment.stats.total, environment.stats.errors
        processes = [window for window in WORKERS.values() if window] or [OWN.figures()]
        result = {
            "locust": locust.__version__,
            "requests": total.num_requests,
            "failures": total.num_failures,
            "seconds": OWN.figures()["seconds"],
            "answers": sum(window["answers"] for window in processes),
            "unfinished_ages_ms": [],
            "lost_workers": [],
            "first_failure": next((str(error.error) for error in errors.values()), None),
            "req_per_s": sum(window["req_per_s"] for window in processes),
            "p50_ms": total.get_response_time_percentile(0.5),
            "p99_ms": total.get_response_time_percentile(0.99),
            "master_cores": OWN.figures()["cores"] if WORKERS else 0,
            "processes": processes,
            "server_cores": SERVER.figures()["cores"] if SERVER else None,
        }
        with open(PLAN["result"], "w", encoding="utf-8") as file:
            json.dump(result, file)
