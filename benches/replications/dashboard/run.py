"""What do the graphs of the slow shop look like in an evening? Puts the visits of the contest on it at a rate that rises,
stalls its stock service twice, and reads `/metrics` each second, as Prometheus would: `just replicate dashboard`. Then the
same at a steady rate, with and without a quota of CPU time. With `--publish`, it also draws the picture of the shop's page.
"""

import argparse
import contextlib
import json
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import ROOT, TARGET, Problem
from harness.processes import Process, started, wait_for_url
from harness.quota import inside, quota
from harness.report import add_options, number, save, say, table

PICTURE = ROOT / "docs/src/exercises/pictures/shop.svg"
SEED = 46
# Visits per second at the begin, how long it takes to double, and when the stock service stalls, in seconds.
RATE, DOUBLES, LENGTH, STALLS = 100, 25, 50, (15, 38)
# Before the first stall.
CALM_S = 14
# In cores, and for how many seconds each.
QUOTAS, QUOTA_S = (None, 1, 0.5), 20
DURATION = "http_request_duration_seconds"
LINE = re.compile(r'^(\w+?)(?:\{(.*)\})? ([\d.e+-]+)$')


def options():
    parser = argparse.ArgumentParser(prog="just replicate dashboard", description=__doc__)
    add_options(parser, "ten seconds")
    return parser.parse_args()


def scrape(url: str) -> dict:
    """Name and labels of each series, with its value."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = (LINE.match(line) for line in text.splitlines())
    return {(it[1], it[2] or ""): float(it[3]) for it in found if it}


def p99_ms(old: dict, new: dict, route: str) -> float | None:
    """As `histogram_quantile` has it: linear inside the bucket."""
    buckets = {}
    for (name, labels), value in new.items():
        if name.endswith("_bucket") and f'route="{route}"' in labels:
            le = float(re.search(r'le="([^"]+)"', labels)[1].replace("+Inf", "inf"))
            buckets[le] = buckets.get(le, 0) + value - old.get((name, labels), 0)
    total = buckets.get(float("inf"), 0)
    below, count = 0.0, 0.0
    for le, cumulated in sorted(buckets.items()):
        if total and cumulated >= 0.99 * total:
            if le == float("inf"):
                return 1e3 * below
            return 1e3 * (below + (le - below) * (0.99 * total - count) / max(cumulated - count, 1e-9))
        below, count = le, cumulated
    return None


def sums(series: dict, name: str, part: str = "") -> float:
    return sum(value for (it, labels), value in series.items() if it == name and part in labels)


ROUTES = ["/products", "/products/{id}", "/basket", "/checkout"]


@dataclass
class Shop:
    """The slow shop, while its visitors come."""

    url: str
    stock: str
    process: Process
    log: Path

    def stall(self) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.stock}/stall/1000", method="POST"), timeout=5).close()


@contextlib.contextmanager
def visited(seconds: int, doubles_s: float | None = None, group: Path | None = None) -> Iterator[Shop]:
    """The shop under a load of so many seconds, which has begun; in a control group if there is one."""
    release, spacing = TARGET / "release", {"random": {"seed": SEED}}
    with tempfile.TemporaryDirectory(prefix="dashboard-") as here, contextlib.ExitStack() as stack:
        scratch = Path(here)
        bodies = scratch / "bodies"
        bodies.mkdir()
        course = json.loads(subprocess.run([release / "shop-referee", "course", "--seed", str(SEED), "--bodies", bodies],
                                           check=True, stdout=subprocess.PIPE).stdout)
        start = lambda name, command: stack.enter_context(started(name, command, scratch))
        stock = wait_for_url(start("shop-stock", [release / "shop-stock", "--seed", str(SEED)]))
        command = [release / "shop-slow", "--stock", stock, "--data", scratch / "data", "--seed", str(SEED)]
        shop = start("shop-slow", inside(group, command) if group else command)
        url = wait_for_url(shop)
        host = url.removeprefix("http://")
        visits = [{"name": it["name"], "weight": it["weight"], "alternatives": it["alternatives"]}
                  for it in course["visits"]]
        rising = {"doubles_every_s": doubles_s} if doubles_s else {}
        plan = {
            "target": {"address": host, "host": host, "tls": None}, "server_pid": None, "requests": [], "visits": visits,
            "arrivals": {"open_loop": {"rate_per_s": RATE, **rising, "connections": 384, "connections_per_user": 1,
                                       "spacing": spacing}},
            "warm_up_s": 0, "measurement_s": seconds, "grace_s": 2, "options": {},
        }
        load = start("lab", [release / "lab", "generate"])
        load.child.stdin.write((json.dumps(plan) + "\n").encode())
        load.child.stdin.flush()
        yield Shop(url, stock, shop, scratch / "data/shop.log")


def evening(length: int) -> dict:
    with visited(length, DOUBLES) as shop:
        begin, old, rows, calm = time.monotonic(), scrape(shop.url), [], []
        stalls = [it for it in STALLS if it < length]
        for second in range(1, length + 1):
            if stalls and second > stalls[0]:
                stalls.pop(0)
                shop.stall()
            time.sleep(max(0, begin + second - time.monotonic()))
            new = scrape(shop.url)
            rows.append({
                "second": second,
                "requests_per_s": sums(new, f"{DURATION}_count") - sums(old, f"{DURATION}_count"),
                # The durations of the requests that ended in this second: by Little's law, how many were inside.
                "inside": sums(new, f"{DURATION}_sum") - sums(old, f"{DURATION}_sum"),
                "in_flight": sums(new, "http_requests_in_flight"),
                "busy": sums(new, "db_pool_connections", 'state="busy"'),
                "p99_ms": {route: p99_ms(old, new, route) for route in ROUTES},
            })
            old = new
            if second == min(CALM_S, length):
                calm = by_route(new)
        log = shop.log.read_text().splitlines()
    return {"seconds": rows, "routes": calm, "log": around(log)}


def steady(cores: float | None, seconds: int) -> dict:
    """The same visits at a steady rate, with a quota of so many cores: how late, how busy, and what the kernel says."""
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(quota(cores)) if cores else None
        shop = stack.enter_context(visited(seconds + 3, group=group))
        time.sleep(2)
        read = lambda: (scrape(shop.url), shop.process.cpu_seconds(), counters(group), time.monotonic())
        old, used, before, begin = read()
        time.sleep(seconds)
        new, used_then, after, end = read()
        count, total = (sums(new, f"{DURATION}_{it}") - sums(old, f"{DURATION}_{it}") for it in ("count", "sum"))
        return {
            "quota": cores, "requests_per_s": count / (end - begin), "mean_ms": 1e3 * total / count,
            "p99_ms": p99_ms(old, new, "/products"), "cores": (used_then - used) / (end - begin),
            **{name: value - before[name] for name, value in after.items()},
        }


def counters(group: Path | None) -> dict:
    """Of the group's `cpu.stat`: how often it was stopped, of how many periods. And how long tasks waited for a core."""
    found = {}
    if group:
        stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
        found = {name: int(stat[name]) for name in ("nr_periods", "nr_throttled")}
        found["throttled_s"] = (int(stat["throttled_usec"]) / 1e6 if "throttled_usec" in stat
                                else int(stat["throttled_time"]) / 1e9)
    # Version 1 has no pressure for a group, so this is the machine's.
    pressure = group / "cpu.pressure" if group and (group / "cpu.pressure").exists() else Path("/proc/pressure/cpu")
    if pressure.exists():
        found["pressure_s"] = int(re.search(r"some .*total=(\d+)", pressure.read_text())[1]) / 1e6
    return found


def by_route(series: dict) -> list[dict]:
    """The requests of each route, and how long they took together, in the first seconds."""
    found = {}
    for (it, labels), value in series.items():
        if it in (f"{DURATION}_sum", f"{DURATION}_count"):
            labels = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            found.setdefault(f"{labels['method']} {labels['route']}", {})[it.removeprefix(f"{DURATION}_")] = value
    rows = [{"route": route, "per_s": it["count"] / CALM_S, "mean_ms": 1e3 * it["sum"] / it["count"],
             "inside": it["sum"] / CALM_S} for route, it in found.items() if it["count"]]
    return sorted(rows, key=lambda it: -it["inside"])


def around(log: list[str], count: int = 12) -> list[str]:
    """The lines around the end of the last stall."""
    slow = [at for at, line in enumerate(log) if re.search(r" \d{3,}\.\d+ms$", line)]
    begin = max(0, (slow[-1] if slow else len(log)) - 2 * count)
    return log[begin:begin + 3 * count]


STYLE = """svg { color-scheme: light dark; font: 13px system-ui, sans-serif; }
text { fill: #222; } .muted { fill: #555; } .head { font-weight: 600; font-size: 14px; }
.grid { stroke: #ddd; } .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.a { stroke: #0b62a8; } .b { stroke: #b3430b; } .c { stroke: #3f7d20; } .d { stroke: #7a3fa0; }
.fa { fill: #0b62a8; } .fb { fill: #b3430b; } .fc { fill: #3f7d20; } .fd { fill: #7a3fa0; }
@media (prefers-color-scheme: dark) { text { fill: #e3e6ea; } .muted { fill: #aab2bb; } .grid { stroke: #3a4048; }
.a { stroke: #6db3f2; } .b { stroke: #f2955c; } .c { stroke: #8fce6b; } .d { stroke: #c79be6; }
.fa { fill: #6db3f2; } .fb { fill: #f2955c; } .fc { fill: #8fce6b; } .fd { fill: #c79be6; } }"""


def panel(top: float, title: str, lines: list[tuple[str, list]], limit: float, ticks: list, seconds: int) -> str:
    left, right, height = 58, 690, 104
    x = lambda second: left + (right - left) * second / seconds
    y = lambda value: top + 26 + height * (1 - min(value, limit) / limit)
    out = [f'<text class="head" x="0" y="{top + 12}">{title}</text>']
    for value in ticks:
        out.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
                   f'<text class="muted" x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,}</text>')
    for (name, values), letter, nth in zip(lines, "abcd", range(4)):
        points = " ".join(f"{x(second + 1):.1f},{y(value):.1f}" for second, value in enumerate(values) if value is not None)
        out.append(f'<polyline class="line {letter}" points="{points}"/>')
        if len(lines) > 1:
            out.append(f'<text class="f{letter}" x="{290 + nth * 112}" y="{top + 12}">{name}</text>')
    return "".join(out)


def draw(record: dict) -> str:
    rows = record["seconds"]
    column = lambda name: [row[name] for row in rows]
    most = max(column("requests_per_s"))
    limit = 200 * (most // 200 + 1)
    flight = max(100, 50 * (max(column("in_flight")) // 50 + 1))
    routes = [(route, [row["p99_ms"][route] for row in rows]) for route in ROUTES]
    seconds = len(rows)
    panels = [
        panel(0, "Requests per second", [("", column("requests_per_s"))], limit, [0, int(limit / 2), int(limit)], seconds),
        panel(160, "p99 of a route, ms", routes, 1500, [0, 500, 1000, 1500], seconds),
        panel(320, "Requests in flight", [("", column("in_flight"))], flight, [0, int(flight / 2), int(flight)], seconds),
        panel(480, "Busy connections to the database, of 8", [("", column("busy"))], 8, [0, 4, 8], seconds),
    ]
    axis = "".join(f'<text class="muted" x="{58 + 632 * it / seconds:.1f}" y="632" text-anchor="middle">{it} s</text>'
                   for it in range(0, seconds + 1, 10))
    alt = (f"Four graphs of {seconds} seconds. The requests per second rise to {most:,.0f}. The p99 of the routes jumps to "
           "about a second twice, when the stock service stalls, and so do the requests in flight.")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -6 720 650" width="720" height="650" role="img">'
            f"<title>The slow shop in an evening</title><desc>{alt}</desc><style>{STYLE}</style>"
            + "".join(panels) + axis + "</svg>\n")


def moments(rows: list[dict]) -> tuple:
    """A calm second, and those around the last stall."""
    stall = STALLS[-1]
    chosen = [("calm", STALLS[0] - 2), ("before the stall", stall - 1), ("in the stall", stall + 1), ("it ends", stall + 2)]
    head = ["", "rate", "rate × mean latency", "gauge: in flight", "busy connections"]
    by_second = {row["second"]: row for row in rows}
    return head, [[name, f"{number(it['requests_per_s'], 0)}/s", number(it["inside"], 1), number(it["in_flight"], 0), number(it["busy"], 0)]
                  for name, second in chosen if (it := by_second.get(second))]


def routes(rows: list[dict]) -> tuple:
    head = ["route", "rate", "mean, ms", "inside"]
    return head, [[f"`{it['route']}`", f"{number(it['per_s'], 1)}/s", number(it["mean_ms"], 1), number(it["inside"], 2)] for it in rows]


def throttled(rows: list[dict]) -> tuple:
    head = ["quota, cores", "rate", "mean, ms", "p99 of the list, ms", "cores used", "periods throttled", "stopped", "pressure"]
    part = lambda it: f"{it['nr_throttled']} of {it['nr_periods']}" if it["quota"] else "-"
    return head, [[f"{it['quota']:g}" if it["quota"] else "none", f"{number(it['requests_per_s'], 0)}/s",
                   number(it["mean_ms"], 1), number(it["p99_ms"], 0), number(it["cores"], 2), part(it),
                   f"{number(it['throttled_s'], 1)} s" if it["quota"] else "-", f"{number(it.get('pressure_s'), 1)} s"]
                  for it in rows]


def main():
    chosen = options()
    length, seconds = (10, 2) if chosen.short else (LENGTH, QUOTA_S)
    say(f"{length} s of load on the slow shop")
    found = evening(length)
    head = ["second", "requests/s", "in flight", "busy", *ROUTES]
    rows = [[str(row["second"]), number(row["requests_per_s"], 0), number(row["in_flight"], 0), number(row["busy"], 0),
             *(number(row["p99_ms"][route], 0) for route in ROUTES)] for row in found["seconds"]]
    print(table(head, rows), "", *found["log"], "", sep="\n")
    for cores in QUOTAS:
        say(f"{seconds} s with a CPU quota of {cores:g}" if cores else f"{seconds} s without a quota")
        found.setdefault("quotas", []).append(steady(cores, seconds))
    print(table(*throttled(found["quotas"])))
    save("replicate-dashboard", found, chosen, [], moments=moments(found["seconds"]), routes=routes(found["routes"]),
         quotas=throttled(found["quotas"]))
    if chosen.publish:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(draw(found))
        print(f"picture: {PICTURE.relative_to(ROOT)}")
