"""The users of a case, for Locust. The case comes from `REPLICATE_CASE`; run_locust.py sets it.

Each process also measures its own CPU time from the end of the ramp on, because a process that uses a
whole core measures itself and not the server.
"""

import json
import os
import time

import cases
import gevent
import locust
import psutil
from gevent.pool import Pool
from locust import FastHttpUser, HttpUser, constant, events, task

CASE = cases.read(os.environ["REPLICATE_CASE"])
REQUESTS = [(request, request.read_body(os.environ["REPLICATE_BIN_DIR"])) for request in CASE.requests]
FAST = os.environ.get("REPLICATE_FAST") == "1"
PARENT = os.getppid()


class Visitor(FastHttpUser if FAST else HttpUser):
    wait_time = constant(CASE.think_ms / 1000)
    # Only FastHttpUser reads these. Its timeout of 60 s would turn a long queue into errors.
    concurrency = CASE.connections
    network_timeout = connection_timeout = 600.0

    @task
    def visit(self):
        """As a browser: first the page, then its files over the other connections."""
        page, *files = REQUESTS
        self.ask(page)
        if files:
            Pool(CASE.connections).map(self.ask, files)

    def ask(self, entry):
        request, body = entry
        headers = {"content-type": request.content_type} if request.content_type else {}
        with self.client.request(request.method, request.path, data=body, headers=headers, catch_response=True) as response:
            fault = request.fault(response.status_code, response.content or b"")
            # Status 0 means no answer at all, and Locust keeps the reason.
            if fault and response.status_code:
                response.failure(fault)


class Window:
    """The time from the end of the ramp to the end of the load, and the CPU time spent in it."""

    def __init__(self, pid):
        self.process, self.begin, self.end = psutil.Process(pid), None, None

    def now(self):
        times = self.process.cpu_times()
        return time.monotonic(), times.user + times.system

    def open(self, **_):
        # Locust announces the end of the ramp again when a user count changes.
        self.begin = self.begin or self.now()

    def close(self, **_):
        if self.begin and not self.end:
            self.end = self.now()

    def seconds(self):
        return self.end[0] - self.begin[0]

    def cores(self):
        if not self.begin:
            return None
        (begin, cpu_before), (end, cpu_after) = self.begin, self.end or self.now()
        return (cpu_after - cpu_before) / max(end - begin, 1e-3)


WINDOWS = {"own": Window(os.getpid())}
if "REPLICATE_SERVER_PID" in os.environ:
    WINDOWS["server"] = Window(int(os.environ["REPLICATE_SERVER_PID"]))
WORKERS = {}

for window in WINDOWS.values():
    events.spawning_complete.add_listener(window.open)
    # A worker may see only the second of these. The first that comes ends the window.
    events.test_stopping.add_listener(window.close)
    events.test_stop.add_listener(window.close)


@events.init.add_listener
def exit_with_parent(**_):
    """Stops this process if the script was killed and could not do it."""

    def watch():
        while os.getppid() == PARENT:
            gevent.sleep(1)
        os._exit(1)

    gevent.spawn(watch)


@events.report_to_master.add_listener
def report_cpu(client_id, data, **_):
    data["cores"] = WINDOWS["own"].cores()


@events.worker_report.add_listener
def keep_cpu(client_id, data, **_):
    WORKERS[client_id] = data.get("cores")


@events.init.add_listener
def write_result_at_the_end(environment, **_):
    if "REPLICATE_RESULT" not in os.environ:
        return

    # The last event: by now the workers' last reports are in.
    @events.quit.add_listener
    def write(**_):
        total, errors = environment.stats.total, environment.stats.errors
        if not WINDOWS["own"].end:
            return
        result = {
            "locust": locust.__version__,
            "requests": total.num_requests,
            "failures": total.num_failures,
            "first_failure": next((str(error.error) for error in errors.values()), None),
            "seconds": WINDOWS["own"].seconds(),
            "req_per_s": total.num_requests / WINDOWS["own"].seconds(),
            "p50_ms": total.get_response_time_percentile(0.5),
            "p99_ms": total.get_response_time_percentile(0.99),
            "master_cores": WINDOWS["own"].cores() if WORKERS else None,
            "process_cores": list(WORKERS.values()) or [WINDOWS["own"].cores()],
            "server_cores": WINDOWS["server"].cores(),
        }
        with open(os.environ["REPLICATE_RESULT"], "w", encoding="utf-8") as file:
            json.dump(result, file)
