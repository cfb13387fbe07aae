"""Loads all fixed servers side by side for an hour, next to broken clients, and checks that they hold: `just replicate soak`.

First, all servers are saturated at once. Then each gets random arrivals at a third of the rate that it answered. For
every 100 visits, and at least twice a second, a broken client comes. Runs of `lab compare` and `bench` get a signal, or
their supervisor is killed. The load pauses after each minute, and once all clients are gone, memory and open
descriptors are read.
"""

import argparse
import asyncio
import contextlib
import itertools
import math
import os
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from harness import ROOT, Problem
from harness.lab import Session, case, serving
from harness.report import SHORT, add_options, number, positive, save, say, table
from soak import broken
from soak.troubles import Troubles

SHARE = 1 / 3
# Broken clients: a share of the visits, and at least so many per second.
BROKEN, LEAST_BROKEN = 0.01, 2
# In seconds: a window with its end takes a minute. A slow client needs about two of these seconds.
WINDOW, STRAGGLERS, QUIET = 57, 2.5, 0.5
SATURATION, WARM_UP, GRACE = 10, 2, 30
# No trouble begins so close to the end of a window, in seconds.
TROUBLE = 10
# How long a visit may take before arrivals wait for a free connection, in seconds.
ROOM = 0.25
# How much more the second half may have, as a factor and a constant: for the allocator, and a pool's idle connections.
MORE_MIB, MORE_DESCRIPTORS = (1.05, 4), (1.2, 0)


@dataclass
class Soaked:
    """A server under load, with those that it needs."""

    case: dict
    session: Session
    rate: float = 0
    sent: int = 0
    ok: int = 0
    first_fault: str | None = None
    panic: str | None = None
    kinds: itertools.cycle = field(default_factory=lambda: itertools.cycle(broken.KINDS))
    # How broken clients ended, as (kind, end).
    ends: Counter = field(default_factory=Counter)
    # Of each server, after each window.
    mib: list = field(default_factory=list)
    descriptors: list = field(default_factory=list)

    @property
    def name(self):
        return self.session.servers[0].name

    def saturate(self, seconds):
        outcome = self.session.load(seconds, warm_up_s=WARM_UP, grace_s=GRACE)
        if outcome["first_fault"] or not outcome["ok_in_time"]:
            raise Problem(f"{self.name}: {outcome['first_fault'] or 'no answer'}")
        self.rate = SHARE * outcome["ok_in_time"] / outcome["measured_s"]

    def soak(self, seconds, seed):
        each = self.case["load"]["connections"]
        all_of_them = max(4, math.ceil(self.rate * ROOM)) * each
        arrivals = {"rate_per_s": self.rate, "connections": all_of_them, "connections_per_user": each,
                    "spacing": {"random": {"seed": seed}}}
        outcome = self.session.load(seconds, arrivals={"open_loop": arrivals}, grace_s=GRACE)
        self.sent += outcome["sent"]
        self.ok += outcome["ok"]
        self.first_fault = self.first_fault or outcome["first_fault"]
        self.panic = outcome["panic"]

    async def meet(self, kind):
        host = self.session.url.partition("://")[2].strip("/")
        end = await broken.visit(kind, host, message(random.choice(self.case["requests"]), host))
        self.ends[kind.__name__, end] += 1

    async def meet_broken_clients(self, seconds):
        end, clients = time.monotonic() + seconds, []
        while (pause := random.expovariate(max(LEAST_BROKEN, BROKEN * self.rate))) < end - time.monotonic():
            await asyncio.sleep(pause)
            clients.append(asyncio.create_task(self.meet(next(self.kinds))))
        if clients:
            done, waiting = await asyncio.wait(clients, timeout=STRAGGLERS)
            for client in waiting:
                client.cancel()
            await asyncio.gather(*done)

    def look(self):
        servers = self.session.servers
        self.mib.append([int(re.search(r"VmRSS:\s+(\d+)", proc(server, "status").read_text())[1]) / 1024
                         for server in servers])
        self.descriptors.append([len(os.listdir(proc(server, "fd"))) for server in servers])

    def faults(self, short):
        """Why this server did not hold."""
        if self.panic:
            yield self.panic
        if self.ok < self.sent:
            yield f"{self.sent - self.ok} of {self.sent} visits got no right answer: {self.first_fault or 'unfinished'}"
        for (kind, end), count in self.ends.items():
            if end in ("open", "refused") or end.startswith("5") or (kind == "slow" and end != "200"):
                yield f"{count} {kind} clients ended with `{end}`"
        for index, server in enumerate(self.session.servers):
            # A short run ends before memory and the pools of connections have their sizes.
            if not short and grew(sizes := halves(self.mib, index, max), *MORE_MIB):
                yield "{} grew from {:.1f} to {:.1f} MiB".format(server.name, *sizes)
            has_pool = len(self.session.servers) > 1
            if not (short and has_pool) and grew(sizes := halves(self.descriptors, index, usual), *MORE_DESCRIPTORS):
                yield "{} grew from {:.1f} to {:.1f} descriptors".format(server.name, *sizes)

    def rows(self):
        for index, server in enumerate(self.session.servers):
            load = [number(self.rate), f"{self.ok:,}", f"{self.sent - self.ok:,}", f"{self.ends.total():,}"]
            sizes = [number(size) for size in halves(self.mib, index, max)]
            sizes += [f"{size}" for size in halves(self.descriptors, index, usual)]
            yield [server.name, *(load if index == 0 else ["-"] * 4), *sizes]


# A leak raises the median of the descriptors. A burst doesn't: a pool closes its connections again.
usual = statistics.median_high


def message(request, host):
    """The bytes that `lab` sends for a request: only the necessary headers, because each costs work."""
    return f"{request['method']} {request['path']} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()


def proc(server, name):
    return Path(f"/proc/{server.pid}/{name}")


def halves(samples, index, of):
    """The highest value or the median of one server in each half, without the first window: a server warms up."""
    values = [sample[index] for sample in samples[1:]]
    middle = len(values) // 2
    return of(values[:middle]), of(values[middle:])


def grew(halves, factor, constant):
    first, second = halves
    return second > factor * first + constant


async def soak(chosen, directory, windows, window):
    with contextlib.ExitStack() as stack:
        soaked = []
        for name in sorted(file.parent.name for file in (ROOT / "crates").glob("*/case.toml")):
            about = case(name, bin_dir=chosen.bin_dir)
            soaked.append(Soaked(about, stack.enter_context(serving(chosen.bin_dir, f"{name}-fixed"))))
        troubles = Troubles(str(chosen.bin_dir), directory)
        stack.callback(troubles.stopped.set)
        say(f"{len(soaked)} servers, all saturated at once")
        await asyncio.gather(*(asyncio.to_thread(it.saturate, window if chosen.short else SATURATION) for it in soaked))
        for turn in range(windows):
            say(f"window {turn + 1} of {windows}: {', '.join(f'{it.name} {number(it.rate)}/s' for it in soaked)}")
            loads = [asyncio.to_thread(it.soak, window, turn) for it in soaked]
            await asyncio.gather(*loads, *(it.meet_broken_clients(window) for it in soaked),
                                 asyncio.to_thread(troubles.make, window - TROUBLE))
            await asyncio.sleep(QUIET)
            for it in soaked:
                it.look()
        faults = [f"{it.name}: {fault}" for it in soaked for fault in it.faults(chosen.short)]
        return soaked, troubles, faults + troubles.faults


def main():
    parser = argparse.ArgumentParser(prog="just replicate soak", description=__doc__)
    parser.add_argument("minutes", nargs="?", type=positive, default=60, help="how long, at least 3 [60]")
    add_options(parser, "three windows of a second")
    chosen = parser.parse_args()
    windows, window = (3, 1) if chosen.short else (max(3, chosen.minutes), WINDOW)
    if not Path("/proc/self/fd").is_dir():
        print("skipped: no /proc, which says what a process uses")
        return 0
    # The same clients in each run.
    random.seed(1)
    with tempfile.TemporaryDirectory() as directory:
        soaked, troubles, faults = asyncio.run(soak(chosen, Path(directory), windows, window))

    head = ["", "visits/s", "answered", "lost", "broken clients", "MiB", "2nd half", "descriptors", "2nd half"]
    load = (head, [row for it in soaked for row in it.rows()])
    ends = sum((it.ends for it in soaked), Counter())
    how = {kind.__name__: ", ".join(f"{end}: {count:,}" for (name, end), count in sorted(ends.items())
                                    if name == kind.__name__) for kind in broken.KINDS}
    clients = (["client", "how it ended"], [[kind.replace("_", "-"), end or "-"] for kind, end in how.items()])
    print(f"\n{windows} windows of {window} s\n\n{table(*load)}\n\n{table(*clients)}\n\n{table(*troubles.table())}")
    notes = ["memory is the highest after a window, descriptors are the median, in each half", *[SHORT] * chosen.short]
    print("".join(f"\nnote: {note}" for note in notes))
    servers = {it.name: {"visits_per_s": it.rate, "sent": it.sent, "ok": it.ok} for it in soaked}
    sizes = {server.name: {"mib": [round(sample[index], 1) for sample in it.mib],
                           "descriptors": [sample[index] for sample in it.descriptors]}
             for it in soaked for index, server in enumerate(it.session.servers)}
    record = {"windows": windows, "window_s": window, "load": servers, "after_each_window": sizes, "faults": faults,
              "notes": notes}
    save("soak", record, chosen, [], load=load, clients=clients, troubles=troubles.table())
    if faults:
        raise Problem("; ".join(faults))
    return 0
