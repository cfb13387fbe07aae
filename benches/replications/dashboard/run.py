"""What do the graphs of the slow shop look like in an evening? Puts the visits of the contest on it at a rate that rises,
stalls its stock service twice, and reads `/metrics` each second, as Prometheus would: `just replicate dashboard`. With
`--publish`, it also draws the picture of the shop's page.
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from harness import ROOT, TARGET, Problem
from harness.processes import Process
from harness.report import add_options, number, save, say, table

PICTURE = ROOT / "docs/src/exercises/pictures/shop.svg"
SEED = 46
# Visits per second at the begin, how long it takes to double, and when the stock service stalls, in seconds.
RATE, DOUBLES, LENGTH, STALLS = 100, 25, 50, (15, 38)
LINE = re.compile(r'^(\w+?)(?:\{(.*)\})? ([\d.e+-]+)$')


def options():
    parser = argparse.ArgumentParser(prog="just replicate dashboard", description=__doc__)
    add_options(parser, "ten seconds")
    return parser.parse_args()


def listening(process: Process) -> str:
    """The URL that a server prints."""
    for _ in range(300):
        if found := re.search(r"http://\S+", process.output()):
            return found[0]
        if not process.running():
            raise Problem(process.died())
        time.sleep(0.1)
    raise Problem(f"{process.name} doesn't listen")


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


def record(length: int, scratch: Path) -> dict:
    bodies = scratch / "bodies"
    bodies.mkdir()
    release = TARGET / "release"
    course = json.loads(subprocess.run([release / "shop-referee", "course", "--seed", str(SEED), "--bodies", bodies],
                                       check=True, stdout=subprocess.PIPE).stdout)
    processes = []
    try:
        stock = Process("shop-stock", [release / "shop-stock", "--seed", str(SEED)], scratch)
        processes.append(stock)
        service = listening(stock)
        shop = Process("shop-slow", [release / "shop-slow", "--stock", service, "--data", scratch / "data",
                                     "--seed", str(SEED)], scratch)
        processes.append(shop)
        url = listening(shop)
        visits = [{"name": it["name"], "weight": it["weight"], "alternatives": it["alternatives"]}
                  for it in course["visits"]]
        host = url.removeprefix("http://")
        plan = {
            "target": {"address": host, "host": host, "tls": None}, "server_pid": None, "requests": [], "visits": visits,
            "arrivals": {"open_loop": {"rate_per_s": RATE, "doubles_every_s": DOUBLES, "connections": 384,
                                       "connections_per_user": 1, "spacing": {"random": {"seed": SEED}}}},
            "warm_up_s": 0, "measurement_s": length, "grace_s": 2, "options": {},
        }
        load = Process("lab", [release / "lab", "generate"], scratch)
        processes.append(load)
        load.child.stdin.write((json.dumps(plan) + "\n").encode())
        load.child.stdin.flush()
        begin, old, rows = time.monotonic(), scrape(url), []
        stalls = [it for it in STALLS if it < length]
        for second in range(1, length + 1):
            if stalls and second > stalls[0]:
                stalls.pop(0)
                request = urllib.request.Request(f"{service}/stall/1000", method="POST")
                urllib.request.urlopen(request, timeout=5).close()
            time.sleep(max(0, begin + second - time.monotonic()))
            new = scrape(url)
            name = "http_request_duration_seconds"
            rows.append({
                "second": second,
                "requests_per_s": sums(new, f"{name}_count") - sums(old, f"{name}_count"),
                "in_flight": sums(new, "http_requests_in_flight"),
                "busy": sums(new, "db_pool_connections", 'state="busy"'),
                "p99_ms": {route: p99_ms(old, new, route) for route in ROUTES},
            })
            old = new
        log = (scratch / "data/shop.log").read_text().splitlines()
    finally:
        for process in reversed(processes):
            process.stop()
    return {"seconds": rows, "log": around(log)}


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


def main():
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="dashboard-") as scratch:
        say(f"{LENGTH} s of load on the slow shop")
        found = record(10 if chosen.short else LENGTH, Path(scratch))
    head = ["second", "requests/s", "in flight", "busy", *ROUTES]
    rows = [[str(row["second"]), number(row["requests_per_s"], 0), number(row["in_flight"], 0), number(row["busy"], 0),
             *(number(row["p99_ms"][route], 0) for route in ROUTES)] for row in found["seconds"]]
    print(table(head, rows), "", *found["log"], sep="\n")
    save("replicate-dashboard", found, chosen, [])
    if chosen.publish:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(draw(found))
        print(f"picture: {PICTURE.relative_to(ROOT)}")
