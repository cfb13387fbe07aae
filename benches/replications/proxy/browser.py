"""Headless Chromium over its debugging pipe: loads a page with an empty cache and says when each file arrived."""

import contextlib
import json
import os
import select
import time
from collections.abc import Iterator
from pathlib import Path

from harness import Problem
from harness.processes import started

LOAD_SECONDS = 30
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-proxy-server",
         "--disable-background-networking", "--disable-component-update", "--disable-extensions",
         "--ignore-certificate-errors", "--remote-debugging-pipe", "--log-level=3",
         # A process in reserve for the next page would start during the load.
         "--disable-features=SpareRendererForSitePerProcess"]
# What Navigation Timing and Resource Timing say about the page and its files, in ms since the start of the navigation.
TIMINGS = """JSON.stringify(["navigation", "resource"].flatMap((it) => performance.getEntriesByType(it)).map((it) => ({
    path: new URL(it.name).pathname, status: it.responseStatus, protocol: it.nextHopProtocol,
    wire: it.encodedBodySize, plain: it.decodedBodySize,
    start: it.startTime, connect: it.connectStart, connected: it.connectEnd,
    request: it.requestStart, response: it.responseStart, end: it.responseEnd, load: it.loadEventStart ?? 0,
})))"""


class Browser:
    """A conversation with Chromium in the DevTools protocol."""

    def __init__(self, process, pipe):
        self.process, self.pipe = process, pipe
        self.buffer, self.events, self.calls = b"", [], 0

    def receive(self, end):
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.pipe], [], [], 0.2)[0]:
                if not self.process.running():
                    raise Problem(self.process.died())
                if time.monotonic() > end:
                    raise Problem(f"Chromium did not load the page within {LOAD_SECONDS} s")
                continue
            chunk = os.read(self.pipe, 1 << 20)
            if not chunk:
                self.process.child.wait()
                raise Problem(self.process.died())
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": params, **({"sessionId": session} if session else {})}
        try:
            self.process.child.stdin.write(json.dumps(message).encode() + b"\0")
            self.process.child.stdin.flush()
        except BrokenPipeError:
            self.process.child.wait()
            raise Problem(self.process.died()) from None
        end = time.monotonic() + LOAD_SECONDS
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.calls:
                break
            self.events.append((answer.get("sessionId"), answer["method"]))
        if "error" in answer:
            raise Problem(f"Chromium refuses {method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, session, method):
        end = time.monotonic() + LOAD_SECONDS
        while (session, method) not in self.events:
            event = self.receive(end)
            self.events.append((event.get("sessionId"), event.get("method")))

    def timings(self, session, files):
        """The timings of a page, once the page and all of its files are there."""
        self.wait(session, "Page.loadEventFired")
        for _ in range(50):
            result = self.call("Runtime.evaluate", session, expression=TIMINGS)["result"]
            found = json.loads(result["value"])
            if len(found) >= files:
                return found
            time.sleep(0.02)
        raise Problem(f"Chromium loaded {len(found)} files of the page instead of {files}")

    def cpu_seconds(self) -> dict[int, float]:
        """The CPU time of each of Chromium's processes so far."""
        return {process["id"]: process["cpuTime"] for process in self.call("SystemInfo.getProcessInfo")["processInfo"]}

    def visit(self, url: str, files: int, gzip: bool = True) -> Iterator[list[dict]]:
        """Loads `url` in a new profile, then again over its open connections, without a cache. Yields the timings."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable", session)
        self.call("Network.enable", session)
        self.call("Network.setCacheDisabled", session, cacheDisabled=True)
        if not gzip:
            self.call("Network.setExtraHTTPHeaders", session, headers={"accept-encoding": "identity"})
        for method, params in [("Page.navigate", {"url": url}), ("Page.reload", {"ignoreCache": True})]:
            self.events.clear()
            answer = self.call(method, session, **params)
            if "errorText" in answer:
                raise Problem(f"Chromium cannot load {url}: {answer['errorText']}")
            yield self.timings(session, files)
        self.call("Target.disposeBrowserContext", browserContextId=context)


@contextlib.contextmanager
def opened(chromium: str, scratch: Path) -> Iterator[Browser]:
    """A running browser. It reads calls from file descriptor 3, writes answers to 4, and ends when the script does."""
    fifo = scratch / "chromium.pipe"
    os.mkfifo(fifo)
    pipe = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        command = ["sh", "-c", 'fifo="$1"; shift; exec "$@" 3<&0 4>"$fifo"', "sh", fifo, chromium, *FLAGS,
                   f"--user-data-dir={scratch / 'profile'}"]
        with started("chromium", command, scratch) as process:
            yield Browser(process, pipe)
    finally:
        os.close(pipe)
