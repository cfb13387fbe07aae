"""Released servers under `lab triage`, each suspect checked with wrk and strace: `just replicate wild`.

Takes about half an hour, and as long again to install them.
"""

import argparse
import contextlib
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from harness import TARGET, Problem, engines, tools
from harness.install import install
from harness.lab import lab
from harness.processes import free_port, output_of, started
from harness.report import SHORT, add_options, number, save, say, table
from harness.tools import require
from wild import data

HERE = Path(__file__).parent
# An installed program knows its path, so links are followed.
HOME = (TARGET / "wild").resolve()
DATA = HOME / "data"
LISTS = tomllib.loads((HERE / "servers.toml").read_text(encoding="utf-8"))
LIMITS = {
    "turns": "threads take turns", "cpu": "the CPU", "one-thread": "one thread", "one-at-a-time": "waits, one at a time",
    "few-at-once": "waits, few at a time", "waits": "nothing up to 64 users",
    "generator": "the load generator", "unclear": "not clear",
}
CONNECTIONS = (1, 16, 64)
# How often one client asks to see delays.
ALONE = 100
# A delayed acknowledgement comes after 40 ms.
DELAYED_MS = (38, 60)
# Of fewer answers, strace counts more of the connections than of the requests.
ENOUGH = 20
READS_AND_WRITES = ("read", "write", "pread64", "pwrite64", "readv", "writev", "recvfrom", "recvmsg", "sendto",
                    "sendmsg", "sendfile")
# These suspects all mean that requests wait for their turn.
QUEUES = ("lock", "limit", "blocking", "blocked-loop", "pool")


def options():
    parser = argparse.ArgumentParser(prog="just replicate wild", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these servers")
    parser.add_argument("--installed", action="store_true",
                        help="leave out what is not installed, instead of installing it")
    add_options(parser, "1 s a run of wrk, and only the first server")
    chosen = parser.parse_args()
    known = {it["name"] for it in LISTS["server"]}
    for name in chosen.names:
        if name not in known:
            raise Problem(f"no server `{name}`; the servers are {', '.join(sorted(known))}")
    if chosen.publish and chosen.names:
        raise Problem("the published record has all servers; leave out their names")
    return chosen


def programs_of(server, only_installed):
    """Where the programs of a server are, which this installs."""
    name = server["name"]
    return install(HOME, server["install"], name, server.get("package", name), server["release"], only_installed)


def filled(command, programs):
    return command.replace("{bin}", str(programs)).replace("{data}", str(DATA))


def wanted_seconds(process):
    """How long the threads of a server have run, or waited for a core: on a busy machine, it wants more than it gets."""
    nanoseconds = 0
    for file in (file for pid in process.family() for file in Path(f"/proc/{pid}/task").glob("*/schedstat")):
        # A thread may end meanwhile.
        with contextlib.suppress(OSError):
            nanoseconds += sum(map(int, file.read_text().split()[:2]))
    return nanoseconds / 1e9


def wrk(url, connections, seconds, process, scratch):
    """What wrk measures, and how many cores the server wanted meanwhile."""
    before = wanted_seconds(process)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout=20s", "--latency", url]
    printed = output_of("wrk", command, scratch, [process], seconds + 60)
    answers = int(re.search(r"(\d+) requests in", printed).group(1))
    return {**engines.parsed("wrk", printed), "answers": answers, "cores": (wanted_seconds(process) - before) / seconds}


def system_calls(text):
    """How often each system call is in a log of strace. An option of a socket is a name of its own."""
    counts = Counter(re.findall(r"^\d+\s+(\w+)\(", text, re.MULTILINE))
    counts["TCP_NODELAY"] = len(re.findall(r"TCP_NODELAY, \[1\]", text))
    return counts


def traced(url, process, seconds, scratch):
    """System calls per answer under a light load of wrk."""
    log = scratch / "strace"
    with started("strace", ["strace", "-f", "-qq", "-o", log, *(f"-p{pid}" for pid in process.family())],
                 scratch) as tracer:
        time.sleep(1)
        answers = wrk(url, 4, seconds, process, scratch)["answers"]
        tracer.child.send_signal(signal.SIGINT)
        tracer.child.wait(timeout=30)
    counts = system_calls(log.read_text(errors="replace"))
    return {"answers": answers, "per_answer": {name: count / max(answers, 1) for name, count in counts.most_common()}}


def delayed(url):
    """How many of the answers over one connection took as long as a delayed acknowledgement."""
    server = urlsplit(url)
    connection, late = http.client.HTTPConnection(server.netloc, timeout=30), 0
    for _ in range(ALONE):
        start = time.monotonic()
        try:
            connection.request("GET", f"{server.path}?{server.query}" if server.query else server.path)
            answer = connection.getresponse()
            answer.read()
        except ConnectionError:
            # Some servers close a connection without saying so. The next request opens another one.
            connection.close()
            continue
        # On a new connection, the client acknowledges at once.
        late += not answer.will_close and DELAYED_MS[0] <= 1000 * (time.monotonic() - start) <= DELAYED_MS[1]
    connection.close()
    return {"answers": ALONE, "late": late}


def second_opinion(server, command, chosen, scratch):
    seconds, port = 1 if chosen.short else 3, free_port()
    with started("server", shlex.split(command.replace("{port}", str(port))), scratch) as process:
        wait_until_it_answers(process, url := f"http://127.0.0.1:{port}{server['get']}")
        loads = {str(connections): wrk(url, connections, seconds, process, scratch) for connections in CONNECTIONS}
        return {"wrk": loads, "delayed": delayed(url), "strace": traced(url, process, seconds, scratch)}


def wait_until_it_answers(process, url):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not process.running():
            raise Problem(process.died())
        if subprocess.run(["curl", "-sf", "--max-time", "20", "-o", os.devnull, url],
                          stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.2)
    raise Problem(f"{process.name} does not answer {url} after 60 s")


def checks(opinion):
    """By the suspect: whether wrk and strace agree with it, and what they saw."""
    loads, calls = opinion["wrk"], opinion["strace"]["per_answer"]
    one, most = loads["1"], max(loads.values(), key=lambda it: it["req_per_s"])
    at_once, cores = most["req_per_s"] / one["req_per_s"], loads["64"]["cores"]
    failed = sum(it["failed"] for it in loads.values())
    late, alone = opinion["delayed"]["late"], opinion["delayed"]["answers"]
    # If an answer is that much work, its time says nothing.
    is_quick = 1000 * one["cores"] < DELAYED_MS[0] / 2 * one["req_per_s"]
    set_in = calls.get("TCP_NODELAY", 0) * opinion["strace"]["answers"]
    after_peak = loads["64"]["req_per_s"] / most["req_per_s"]

    def per_answer(least, what, names):
        count = sum(calls.get(name, 0) for name in names)
        return count >= least, f"strace: {number(count, 2)} {what} per request"

    queue = (at_once <= 16 and cores <= 0.6,
             f"wrk: throughput of {number(at_once)} requests at once, {number(cores, 2)} cores")
    by_wrk = {
        "errors": (failed > 0, f"wrk: {failed} requests failed"),
        "nagle": (late >= alone / 10 and is_quick and not set_in,
                  f"{late} of {alone} answers over one connection took {DELAYED_MS[0]} to {DELAYED_MS[1]} ms; "
                  f"strace: TCP_NODELAY was set {number(set_in, 0)} times"),
        "contention": (after_peak <= 0.7, f"wrk: {100 * after_peak:.0f} % of the peak with 64 connections"),
        **dict.fromkeys(QUEUES, queue),
    }
    if opinion["strace"]["answers"] < ENOUGH:
        return by_wrk
    return by_wrk | {
        "flush": per_answer(0.3, "flushes", ("fsync", "fdatasync")),
        "keep-alive": per_answer(0.9, "new connections", ("accept4", "accept")),
        "connect": per_answer(0.1, "connects", ("connect",)),
        "opens": per_answer(3, "opened files", ("openat", "open")),
        "threads": per_answer(0.9, "new threads", ("clone", "clone3", "fork", "vfork")),
        "small-io": per_answer(100, "reads and writes", READS_AND_WRITES),
    }


def judged(server, card, opinion):
    """The suspects of a card with what the other tools say, and what only those say."""
    found, by_hand, named = checks(opinion), server.get("judged", {}), [it["id"] for it in card["suspects"]]
    suspects = []
    for suspect in card["suspects"]:
        agrees, seen = found.get(suspect["id"], (None, "not checked"))
        verdict = {True: "confirmed", False: "refuted", None: "open"}[agrees]
        verdict, seen = by_hand.get(suspect["id"], (verdict, seen))
        suspects.append({key: suspect[key]
                         for key in ("id", "title", "accounts_for", "evidence")} | {"verdict": verdict, "by": seen})
    # What a suspect explains is not missed. Less throughput with 64 connections on few cores is no fault of a server.
    seen = {*named, *(it for suspect in card["suspects"] for it in suspect["instead_of"]), "contention",
            *(QUEUES if set(QUEUES) & set(named) else QUEUES[1:])}
    return suspects, {name: found[name][1] for name in found.keys() - seen if found[name][0]}


def examine(server, chosen):
    """One server: the card, the second opinion, and what the two say of each other."""
    release = server["release"]
    programs = programs_of(server, chosen.installed)
    say(f"{server['name']}: triage, then wrk and strace")
    command = filled(server["command"], programs)
    if "prepare" in server and not (done := DATA / f"{server['name']}.complete").exists():
        subprocess.run(shlex.split(filled(server["prepare"], programs)), check=True, stdout=subprocess.DEVNULL)
        done.touch()
    load = os.getloadavg()[0]
    card = lab(chosen.bin_dir, "triage", command, "--get", server["get"], "--json")
    with tempfile.TemporaryDirectory() as scratch:
        opinion = second_opinion(server, command, chosen, Path(scratch))
    suspects, missed = judged(server, card, opinion)
    return {
        "release": tools.version(server["name"]) if server["install"] == "system" else release,
        **{key: server[key] for key in ("language", "what", "get")}, "load_before": load,
        "limit": card["limit"], "limited_by": card["limited_by"], "suspects": suspects, "missed": missed,
        "functions": card["functions"], "levels": card["levels"], "notes": card["notes"], **opinion,
    }


def tables(results, left_out):
    """What the page shows: the servers, their suspects, what was missed, and what could not be measured."""

    def largest(functions):
        named = [it for it in functions if it["in_handler"] and not it["name"].startswith("[")]
        return f"{named[0]['name']}, {100 * named[0]['share']:.0f} %" if named else "n/a"

    def peak(levels):
        return number(max(level["throughput_rps"] for level in levels), 0)

    programs = {name: f"{name} {it['release']}" for name, it in results.items()}
    suspects = [(programs[name], it) for name, found in results.items() for it in found["suspects"]]
    return {
        "servers": (["program", "language", "it answers with", "what limits it", "peak, req/s",
                     "largest function of the handler"], [
            [programs[name], it["language"], it["what"], LIMITS[it["limit"]], peak(it["levels"]),
             largest(it["functions"])]
            for name, it in results.items()]),
        "suspects": (["program", "suspect", "accounts for", "verdict", "another tool"], [
            [program, it["title"], it["accounts_for"] or "n/a", it["verdict"], it["by"]] for program, it in suspects
        ] or [["none", "", "", "", ""]]),
        "missed": (["program", "what", "another tool"], [
            [programs[name], what,
             seen] for name, it in results.items() for what, seen in it["missed"].items()] or [["none", "", ""]]),
        "left_out": (["program", "why"], [[name, why] for name, why in left_out.items()] or [["none", ""]]),
    }


def totals(results):
    verdicts = Counter(suspect["verdict"] for it in results.values() for suspect in it["suspects"])
    return {
        "servers": len(results), "without_suspect": sum(not it["suspects"] for it in results.values()),
        **{verdict: verdicts[verdict] for verdict in ("confirmed", "refuted", "open")},
        "missed": sum(len(it["missed"]) for it in results.values()),
    }


def said(problem):
    """An error in one line. If it isn't ours, its kind is part of it."""
    return str(problem) if isinstance(problem, Problem) else f"{type(problem).__name__}: {problem}"


def each(items, key, measure):
    """What `measure` returns for each item, by its name, and why the others have no result."""
    results, left_out = {}, {}
    for item in items:
        name = item[key]
        try:
            results[name] = measure(item)
        # A server may fail in any way. The results of the others must not be lost.
        except Exception as problem:
            left_out[name] = said(problem)
            say(f"note: {name} is left out: {left_out[name]}")
    if not results:
        raise Problem("no server could be measured")
    return results, left_out


def triage_all(servers, chosen):
    results, left_out = each(servers, "name", lambda server: examine(server, chosen))
    count, shown = totals(results), tables(results, left_out)
    for name in ("servers", "suspects", "missed"):
        print(f"\n{table(*shown[name])}")
    print(f"\n{json.dumps(count)}")
    record = {"totals": count, "servers": results, "left_out": left_out}
    save("replicate-wild", record, chosen, ["wrk", "strace", "perf"], **shown)
    return 0


def main():
    chosen = options()
    require("wrk", "strace")
    data.make(DATA)
    servers = [it for it in LISTS["server"] if not chosen.names or it["name"] in chosen.names]
    if chosen.short:
        servers = servers[:1]
        print(f"note: {SHORT}")
    return triage_all(servers, chosen)
