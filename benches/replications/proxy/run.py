"""Loads the article's page in headless Chromium through a Node proxy, ours, and none: `just replicate proxy`."""

import argparse
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import ROOT, TARGET, Problem
from harness.lab import case, find_binary
from harness.processes import started, wait_for_url
from harness.report import LIMIT, SHORT, add_options, number, positive, ratio, save, say, span, spread, table, write
from harness.tools import TOOLS, require
from proxy import browser, waterfall

HERE = Path(__file__).resolve().parent
MODULES = TARGET / "replicate-proxy"
PICTURE = ROOT / "docs" / "src" / "articles" / "waterfall.svg"
CASE = "per-request-client"
# Linux delays an acknowledgement by 40 ms.
STALL_MS = 38

# The links to the site: a round-trip time, and a bandwidth that all connections share. 0 ms is the loopback as it is.
FAR = {"rtt_ms": 20, "mbit_per_s": 50}
NEAR = {"rtt_ms": 0, "mbit_per_s": None}

ARTICLE = {
    "none": {"load_ms": [250, 320], "kb": 368, "gzip": True},
    "node": {"load_ms": [780, 900], "kb": 562, "gzip": False},
    "rust per request": {"load_ms": [950, 1200], "kb": 368, "gzip": True},
    "rust shared": {"load_ms": [250, 320], "kb": 368, "gzip": True},
}


@dataclass
class Row:
    """A way from the browser to the site. `proxy` is our variant, or the arguments of proxy.js, or None."""

    name: str
    what: str
    proxy: str | list | None
    # Does the browser ask for gzip, and does it get it?
    asks: bool = True
    gzip: bool = True
    strace: tuple = ()


ROWS = [
    Row("none", "the browser asks the site itself", None),
    Row("node", "http-proxy as in Browsersync: a connection for each request, no gzip, bodies rewritten", [],
        gzip=False),
    Row("rust per request", "per-request-client-slow: loads the authorities and connects for each request", "slow"),
    Row("rust shared", "per-request-client-fixed: one client, which keeps its connections", "fixed"),
]
APART = [
    Row("shared connector", "per-request-client-shared-connector: loads the authorities once, connects for each "
                            "request", "shared-connector"),
    Row("node pooled", "http-proxy with a keep-alive agent, gzip passed on, nothing rewritten", ["--pooled"]),
    Row("none, no gzip", "as none; the browser asks for no compression", None, asks=False, gzip=False),
    Row("shared, no gzip", "as rust shared; the browser asks for no compression", "fixed", asks=False, gzip=False),
]
# Only the traced system calls stop the server, and the server stays a child of this script.
STRACE = ("-D", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none")
SET = ("-o", "/dev/null", "-e", "trace=setsockopt")
NODELAY = [
    Row("TCP_NODELAY on", "rust shared as it is", "fixed"),
    Row("on, strace looks on", "the same under strace", "fixed", strace=SET),
    Row("TCP_NODELAY off", "strace skips each setsockopt and says that it succeeded", "fixed",
        strace=(*SET, "-e", "inject=setsockopt:retval=0")),
]


def options():
    parser = argparse.ArgumentParser(prog="just replicate proxy", description=__doc__)
    parser.add_argument("--rounds", type=positive, default=7, help="how often each row is measured [7]")
    add_options(parser, "one round of the article's four rows")
    return parser.parse_args()


def install(npm):
    """Installs the pinned http-proxy below target/, or says why it cannot, and ends the script as skipped."""
    MODULES.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "package-lock.json").read_bytes()
    done = MODULES / "installed.json"
    if done.exists() and done.read_bytes() == lock:
        return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, MODULES)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    result = subprocess.run(command, cwd=MODULES, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        print(f"skipped: npm cannot install http-proxy; "
              f"{(result.stdout.strip().splitlines() or ['it does not say why'])[-1]}")
        sys.exit(0)
    done.write_bytes(lock)


def make_certificate(openssl, scratch):
    """A certificate for 127.0.0.1 that signs itself."""
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
               "basicConstraints=critical,CA:FALSE"]
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
               "2", *subject]
    command += ["-keyout", scratch / "key.pem", "-out", scratch / "cert.pem"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode:
        raise Problem(f"openssl cannot make a certificate: "
                      f"{(done.stderr.strip().splitlines() or ['it does not say why'])[-1]}")


class Site:
    """The running upstream, with its counters and the sizes of its files."""

    def __init__(self, link, tools, scratch, stack):
        make_certificate(tools["openssl"], scratch)
        files = [[it["path"], it["expected"]["answer"]["digest"]["bytes"]] for it in case(CASE)["requests"]]
        settings = {"files": files, "key": str(scratch / "key.pem"), "cert": str(scratch / "cert.pem"), **link}
        self.process = stack.enter_context(started("site", [tools["node"], HERE / "upstream.js", json.dumps(settings)],
                                                   scratch))
        self.url = wait_for_url(self.process)
        self.control = self.process.output().split()[2]
        self.sizes = self.ask()["sizes"]

    def counters(self):
        return {name: count for name, count in self.ask().items() if name != "sizes"}

    def ask(self):
        try:
            with urllib.request.urlopen(self.control, timeout=10) as answer:
                return json.load(answer)
        except OSError as error:
            raise Problem(f"the site does not answer: {error}") from error


def command_of(row, site, node, scratch, bin_dir):
    """How to start a row's proxy, and its environment."""
    if isinstance(row.proxy, list):
        return [node, HERE / "proxy.js", site.url, *row.proxy], {"NODE_PATH": str(MODULES / "node_modules")}
    trace = [TOOLS["strace"].find("strace"), *STRACE, *row.strace] if row.strace else []
    # As in the case: the system's authorities, and the site's own.
    env = {"SSL_CERT_FILE": str(scratch / "cert.pem"), "SSL_CERT_DIR": "/etc/ssl/certs"}
    return [*trace, find_binary(bin_dir, f"{CASE}-{row.proxy}"), "--upstream", site.url], env


def check(row, timings, site):
    """Every file has to be there, in the right form."""
    for it in timings:
        size = site.sizes.get(it["path"])
        if size is None or it["status"] != 200:
            raise Problem(f"{row.name}: {it['path']} answers with status {it['status']}")
        wanted = (size["plain"], size["wire" if row.gzip else "plain"])
        # The Node proxy writes its own address into the page, which is one character shorter.
        slack = 1 if it["path"] == "/" and row.proxy == [] else 0
        if max(abs(a - b) for a, b in zip(wanted, (it["plain"], it["wire"]))) > slack:
            raise Problem(f"{row.name}: {it['path']} has {it['plain']} bytes, {it['wire']} on the wire, instead of "
                          f"{wanted[0]} and {wanted[1]}")


def measure(link, rows, rounds, tools, chosen, probe=None):
    """Loads the page through each row in turn; returns the loads of each row, and the CPU seconds that they cost.

    `probe` is called in each round with the row, its URL and the site.
    """
    loads = {row.name: [] for row in rows}
    costs = {row.name: {"chromium": 0, "site": 0} for row in rows}
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        scratch = Path(directory)
        site = Site(link, tools, scratch, stack)
        proxies, urls = {}, {}
        for row in rows:
            urls[row.name] = site.url
            if row.proxy is not None:
                command, env = command_of(row, site, tools["node"], scratch, chosen.bin_dir)
                name = "proxy " + row.name.replace(",", "")
                proxies[row.name] = stack.enter_context(started(name, command, scratch, env))
                urls[row.name] = wait_for_url(proxies[row.name])
        chromium = stack.enter_context(browser.opened(tools["chromium"], scratch))

        def visit(row):
            before, chromium_before, site_before = site.counters(), chromium.cpu_seconds(), site.process.cpu_seconds()
            for timings in chromium.visit(urls[row.name] + "/", len(site.sizes), row.asks):
                check(row, timings, site)
                after = site.counters()
                counted = {key: after[key] - before[key] for key in after}
                loads[row.name].append({"ms": max(timings[0]["load"], *(it["end"] for it in timings)),
                                        "upstream": counted, "timings": timings})
                before = after
            costs[row.name]["chromium"] += sum(cpu - chromium_before.get(process, 0) for process,
                                               cpu in chromium.cpu_seconds().items())
            costs[row.name]["site"] += site.process.cpu_seconds() - site_before

        if not chosen.short:
            for row in rows:
                visit(row)
                loads[row.name].clear()
                costs[row.name] = {"chromium": 0, "site": 0}
        start = {name: proxy.cpu_seconds() for name, proxy in proxies.items()}
        for turn in range(rounds):
            say(f"{link['rtt_ms']} ms, {len(rows)} rows, round {turn + 1} of {rounds}")
            # Every other round runs backwards, so that a drift of the machine reaches all rows alike.
            for row in rows[:: -1 if turn % 2 else 1]:
                try:
                    visit(row)
                    if probe:
                        probe(row, urls[row.name], site)
                except Problem as problem:
                    # Chromium's complaint is only a consequence of a dead server.
                    dead = next((process for process in [site.process, *proxies.values()] if not process.running()),
                                None)
                    raise Problem(dead.died()) if dead else problem from None
        for name, proxy in proxies.items():
            if not proxy.running():
                raise Problem(proxy.died())
            costs[name]["proxy"] = proxy.cpu_seconds() - start[name]
    return loads, costs


def summary(row, loads, costs):
    """What the loads of a row took: in a new profile, where the browser connects first, and of the reload."""
    result = {"what": row.what, "gzip": row.gzip}
    for name, some in (("first", loads[::2]), ("reload", loads[1::2])):
        result[f"{name}_ms"] = {**spread(load["ms"] for load in some), "runs": [load["ms"] for load in some]}
        result[f"{name}_upstream"] = {key: statistics.median(load["upstream"][key] for load in some)
                                      for key in some[0]["upstream"]}
    result["kb"] = sum(it["wire"] for it in loads[-1]["timings"]) / 1000
    result["cpu_ms"] = {name: 1000 * seconds / len(loads) for name, seconds in costs.items()}
    return result


def fetch(url, site):
    """Asks for all files over one connection, one after the other. Returns the ms that each took."""
    connection, times = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30), {}
    try:
        for path, size in site.sizes.items():
            start = time.monotonic()
            connection.request("GET", path, headers={"accept-encoding": "gzip"})
            answer = connection.getresponse()
            body = answer.read()
            times[path] = 1000 * (time.monotonic() - start)
            if answer.status != 200 or len(body) != size["wire"]:
                raise Problem(f"{url}{path} answers with status {answer.status} and {len(body)} bytes")
    except (OSError, http.client.HTTPException) as error:
        raise Problem(f"{url} does not answer: {error}") from error
    finally:
        connection.close()
    return times


def measure_nodelay(rounds, tools, chosen):
    """What TCP_NODELAY does: to a page in Chromium, and to single answers over one connection."""
    answers = {row.name: [] for row in NODELAY}

    def probe(row, url, site):
        for _ in range(3):
            answers[row.name] += fetch(url, site).items()

    loads, costs = measure(NEAR, NODELAY, rounds, tools, chosen, probe)
    results = {row.name: summary(row, loads[row.name], costs[row.name]) for row in NODELAY}
    for name, result in results.items():
        stalled = [path for path, ms in answers[name] if ms >= STALL_MS]
        result.update(answers=len(answers[name]), stalled=len(stalled),
                      stalled_files=dict(Counter(stalled).most_common()))
    return results, compare(results, NODELAY[0].name, "reload_ms")


def count_calls(tools, chosen):
    """How many files a proxy opens, and how many threads it starts, for the 19 requests of a page."""
    counts = {}
    for variant in ("slow", "fixed"):
        with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
            scratch = Path(directory)
            site, log = Site(NEAR, tools, scratch, stack), scratch / "strace"
            row = Row(variant, "", variant, strace=("-o", str(log), "-e", "trace=openat,clone,clone3"))
            command, env = command_of(row, site, tools["node"], scratch, chosen.bin_dir)
            url = wait_for_url(stack.enter_context(started(f"{CASE}-{variant}", command, scratch, env)))
            fetch(url, site)
            before = log.read_text()
            fetch(url, site)
            new = log.read_text()[len(before):]
            threads = len(re.findall(r"clone3?\(", new))
            counts[variant] = {"requests": len(site.sizes), "files_opened": new.count("openat("),
                               "threads_started": threads}
    return counts


def compare(results, base, which):
    return {name: ratio(result[which]["runs"], results[base][which]["runs"]) for name, result in results.items()}


def load_table(results, ratios):
    def article(name):
        if name not in ARTICLE:
            return ["", ""]
        (low, high), none = ARTICLE[name]["load_ms"], ARTICLE["none"]["load_ms"]
        return [f"{low} to {high}", number((low + high) / sum(none))]

    head = ["", "article", "/ none", "reload", "/ none", "first visit"]
    return head, [
        [name, *article(name), span(it["reload_ms"], 0), span(ratios[name]),
         number(it["first_ms"]["median"], 0)] for name, it in results.items()
    ]


def cost_table(results):
    head = ["", "article kB", "kB", "gzip", "connections", "full TLS", "resumed", "proxy CPU", "site", "Chromium"]
    return head, [
        [name, str(ARTICLE.get(name, {}).get("kb", "")), number(it["kb"], 0), "yes" if it["gzip"] else "no",
         *(number(it["reload_upstream"][key], 0)
           for key in ("tcp_connections", "full_handshakes", "resumed_handshakes")),
         *(number(it["cpu_ms"].get(key)) for key in ("proxy", "site", "chromium"))]
        for name, it in results.items()
    ]


def nodelay_table(results, ratios):
    head = ["", "page, reload ms", "/ on", "answers", f"of {STALL_MS} ms or more", "files among them"]
    return head, [
        [name, span(it["reload_ms"], 0), span(ratios[name]), str(it["answers"]), str(it["stalled"]),
         str(len(it["stalled_files"]))]
        for name, it in results.items()
    ]


def typical(loads):
    """The timings of the reload with the median time."""
    reloads = sorted(loads[1::2], key=lambda load: load["ms"])
    return reloads[(len(reloads) - 1) // 2]["timings"]


def main():
    chosen = options()
    if not Path("/proc/self/stat").exists():
        print("skipped: it reads CPU times from /proc, which only Linux has")
        return 0
    names = ("node", "npm", "chromium", "openssl")
    tools = dict(zip(names, require(*names)))
    install(tools["npm"])
    rounds = 1 if chosen.short else chosen.rounds
    rows = ROWS if chosen.short else ROWS + APART
    record = {"case": CASE, "protocol": "HTTP/1.1 on both sides", "rounds": rounds, "stall_ms": STALL_MS,
              "article": ARTICLE}
    remarks = ["the proxies run through the whole measurement, so the pool of `rust shared` has open connections"]
    loads, costs = measure(FAR, rows, rounds, tools, chosen)
    results = {row.name: summary(row, loads[row.name], costs[row.name]) for row in rows}
    ratios = {which: compare(results, "none", f"{which}_ms") for which in ("reload", "first")}
    record["links"] = [{**FAR, "rows": results, "ratios_to_none": ratios}]
    tables = {"times_20ms": load_table(results, ratios["reload"]), "costs_20ms": cost_table(results)}
    print(f"\nround trip to the site: {FAR['rtt_ms']} ms, {FAR['mbit_per_s']} Mbit/s; rounds: {rounds}; times in "
          f"ms\n\n{table(*tables['times_20ms'])}\n")
    print(f"connections and handshakes of a reload; CPU time of a load in ms\n\n{table(*tables['costs_20ms'])}\n")
    base = results["none"]
    if base["cpu_ms"]["chromium"] >= LIMIT * base["reload_ms"]["median"]:
        remarks.append(f"Chromium's own CPU time limits a load without a proxy: "
                       f"{number(base['cpu_ms']['chromium'], 0)} ms")
    title = f"One reload of the page, {FAR['rtt_ms']} ms from its site"
    panels = [(row.name, row.what, typical(loads[row.name])) for row in ROWS]

    traced = TOOLS["strace"].find("strace")
    if traced:
        results, ratios = measure_nodelay(rounds, tools, chosen)
        record["nodelay"] = {"rows": results, "ratios_to_on": ratios}
        tables["nodelay"] = nodelay_table(results, ratios)
        print(f"\n`rust shared`, round trip 0 ms: the page in Chromium, and its files over one "
              f"connection\n\n{table(*tables['nodelay'])}\n")
        record["calls"] = count_calls(tools, chosen)
        for variant, it in record["calls"].items():
            print(f"{variant}: {it['requests']} requests open {it['files_opened']:,} files and start "
                  f"{it['threads_started']} threads")
    else:
        remarks.append(f"left out: TCP_NODELAY off, which needs strace; {TOOLS['strace'].install}")
    if chosen.short:
        remarks.append(SHORT)
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record["notes"] = remarks
    record["waterfall"] = {name: timings for name, _, timings in panels}
    record["http_proxy"] = json.loads((MODULES / "node_modules/http-proxy/package.json").read_text())["version"]
    path = save("replicate-proxy", record, chosen, [*names, *(["strace"] if traced else [])], **tables)
    picture = PICTURE if chosen.publish else path.with_suffix(".svg")
    write(picture, waterfall.draw(title, panels))
    print(f"picture: {os.path.relpath(picture)}")
    return 0
