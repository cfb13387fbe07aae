"""Compares Varnish, nginx and our proxies with ab, perf and Criterion: `just replicate varnish`.

The article did so with ab and perf, and planned to with Criterion.

Takes about four minutes.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from harness import ROOT, Problem, engines
from harness.processes import output_of, started, wait_for
from harness.report import LIMIT, SHORT, add_options, in_turn, number, positive, ratio, save, say, span, spread, table
from harness.tools import require
from protocol import used_by_children
from varnish import profiles
from varnish.servers import CONNECTIONS, PAGE_BYTES, backend_counts, check, check_family, start_all

REQUESTS = 10_000  # as in the article
# slow loads the certificate authorities for each request, so it gets fewer requests.
SLOW_REQUESTS = 300
SETTINGS = {"without_k": [], "with_k": ["-k"]}
OTHERS = ["varnish", "nginx", "nginx-keepalive", "no-reuse"]
PROFILED = ["varnish", "nginx-keepalive", "fixed"]
BENCHED = ["backend", "varnish", "nginx", "nginx-keepalive", "fixed"]
# The packages of `just bench-all`, so that nothing is built once more with other features.
PACKAGES = ["--workspace", "--exclude", "lock-scope", "--exclude", "quotes", "--exclude", "lab-load", "--features",
            "benches/replications"]
BENCH = ["cargo", "bench", "--quiet", "--manifest-path", str(ROOT / "Cargo.toml"), *PACKAGES, "--bench",
         "replicate_varnish"]
# What the article published as output of ab.
ARTICLE = {"fixed": 9893.12, "varnish": 8458.46}  # requests per second, without -k


def options():
    parser = argparse.ArgumentParser(prog="just replicate varnish", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=positive, default=5,
                        help="how often ab loads each server with each setting [5]")
    add_options(parser, "one round of 1,000 requests, a rough bench")
    return parser.parse_args()


def ab(requests, setting, url, scratch):
    # -r counts a broken connection as failed instead of stopping at the first one.
    return ["ab", "-q", "-r", *SETTINGS[setting], "-c", str(CONNECTIONS), "-n", str(requests), "-e",
            str(scratch / "ab.csv"), url]


def measure(server, setting, requests, servers, scratch):
    """One run of ab: its figures, the CPU time of all three sides, and what the backend counted."""
    backend, processes = servers[0], [it.process for it in servers]
    counts = backend_counts(backend)
    before = [used_by_children(), server.process.cpu_seconds(), backend.process.cpu_seconds()]
    output = output_of("ab", ab(requests, setting, server.url, scratch), scratch, processes)
    after = [used_by_children(), server.process.cpu_seconds(), backend.process.cpu_seconds()]
    check_family(server)
    own, proxy, behind = (None if a is None else 1e6 * (b - a) / requests for a, b in zip(before, after, strict=True))
    # The second question of the two is part of its own answer.
    connections, arrived = (b - a - 1 for a, b in zip(counts, backend_counts(backend), strict=True))
    return {**engines.parsed("ab", output, scratch), "requests": requests, "cpu_us": proxy, "backend_cpu_us": behind,
            "ab_cpu_us": own,
            "backend_connections": connections, "backend_requests": arrived,
            "kept_alive": sum(map(int, re.findall(r"^Keep-Alive requests:\s+(\d+)", output, re.MULTILINE)))}


def summary(runs):
    """Counts are added up; of everything else, the median, lowest and highest of the rounds."""
    counts = ("requests", "failed", "backend_connections", "backend_requests", "kept_alive")
    total = {key: sum(it[key] for it in runs) for key in counts}
    figures = {key: spread(it[key] for it in runs) for key in runs[0] if key not in counts and runs[0][key] is not None}
    return {**figures, **total, "connections_per_request": total["backend_connections"] / total["requests"]}


def warm_up(servers, scratch):
    for server in servers:
        output_of("ab", ab(CONNECTIONS, "with_k", server.url, scratch), scratch, [it.process for it in servers])
        server.family = server.process.family()


def load_all(servers, rounds, requests, scratch):
    """Alternating rounds. Returns the runs of each server, by setting."""
    runs = {server.name: {setting: [] for setting in SETTINGS} for server in servers}
    fast = [server for server in servers if server.name != "slow"]
    for turn in range(rounds):
        say(f"ab: round {turn + 1} of {rounds}")
        for setting in SETTINGS:
            for server in in_turn(fast, turn):
                runs[server.name][setting].append(measure(server, setting, requests, servers, scratch))
    say("ab: slow")
    few = min(requests // 10, SLOW_REQUESTS)
    for setting in SETTINGS:
        runs["slow"][setting].append(measure(servers[-1], setting, few, servers, scratch))
    return runs


def profile(servers, scratch, rows, short):
    """Where the CPU time goes with -k, in microseconds per request, or why that is unknown."""
    result = {}
    for server in servers:
        if server.name not in PROFILED:
            continue
        say(f"perf: {server.title}")
        command = ab(2_000 if short else 20_000, "with_k", server.url, scratch)
        found = profiles.of(server, command, scratch, [it.process for it in servers])
        if isinstance(found, str):
            return None, found
        cpu = rows[server.name]["with_k"]["cpu_us"]["median"]
        result[server.name] = {**found,
                               "us_per_request": {name: share * cpu for name, share in found["shares"].items()}}
    return result, None


def criterion(servers, scratch, short):
    """Runs the bench against the proxies; returns the medians with their intervals, in microseconds."""
    home = scratch / "criterion"
    env = {"CRITERION_HOME": str(home),
           "REPLICATE_PROXIES": " ".join(f"{it.name}={it.url}" for it in servers if it.name in BENCHED)}
    command = [*BENCH, "--", "--noplot", *(["--quick"] if short else [])]
    say("cargo bench: about a minute")
    with started("cargo bench", command, scratch, env) as bench:
        wait_for(bench, [it.process for it in servers], 600)
    if bench.child.returncode:
        reason = re.search(r"panicked at .*\n(.*)", bench.err.read_text(errors="replace"))
        raise Problem(f"cargo bench failed: {reason[1]}" if reason else bench.died())
    results = {}
    for path in sorted(home.glob("*/*/new/estimates.json")):
        about, median = json.loads((path.parent / "benchmark.json").read_text()), json.loads(path.read_text())["median"]
        interval = median["confidence_interval"]
        results.setdefault(about["group_id"], {})[about["function_id"]] = {
            "requests": about["throughput"]["Elements"],
            "us": {"median": median["point_estimate"] / 1e3, "lowest": interval["lower_bound"] / 1e3,
                   "highest": interval["upper_bound"] / 1e3},
        }
    return results


def ratios(runs, rows):
    """Our fixed proxy over each of the others, round by round."""

    def one(key, other, setting):
        ours, theirs = ([it[key] for it in runs[name][setting]] for name in ("fixed", other))
        # A short round may take less CPU time than a tick of the clock that counts it.
        return ratio(ours, theirs) if all(theirs) else None

    keys = ["req_per_s", *(["cpu_us"] if "cpu_us" in rows["fixed"]["with_k"] else [])]
    return {f"fixed_over_{other}": {setting: {key: found for key in keys if (found := one(key, other, setting))}
                                    for setting in SETTINGS}
            for other in OTHERS}


def load_tables(servers, rows, compared):
    tables = {}
    head = ["", "article", "req/s", "lowest to highest", "p99 ms", "CPU us", "backend us", "ab us", "conn.", "failed"]
    for setting in SETTINGS:
        lines = []
        for server in servers:
            it = rows[server.name][setting]
            rate = it["req_per_s"]
            cpu = [number(it[key]["median"]) if key in it else "-" for key in ("cpu_us", "backend_cpu_us", "ab_cpu_us")]
            if server is servers[0]:
                cpu[0] = "-"
            lines.append([
                server.title, number(ARTICLE.get(server.name) if setting == "without_k"
                                     else None), number(rate["median"]),
                f"{number(rate['lowest'])} to {number(rate['highest'])}", number(it["p99_ms"]["median"]), *cpu,
                number(it["connections_per_request"], 3), str(it["failed"]),
            ])
        tables[setting] = head, lines
    tables["ratios"] = ["our fixed proxy / another", "article", "req/s", "CPU per request"], [
        [f"{other}, {setting.replace('_', ' -')}",
         number(ARTICLE["fixed"] / ARTICLE["varnish"], 2) if (other, setting) == ("varnish", "without_k") else "-",
         *(span(it[key]) if key in it else "-" for key in ("req_per_s", "cpu_us"))]
        for setting in SETTINGS for other in OTHERS for it in [compared[f"fixed_over_{other}"][setting]]
    ]
    return tables


def profile_table(profiled):
    return ["", *profiled], [
        *([category, *(f"{number(it['us_per_request'][category])} ({100 * it['shares'][category]:.0f} %)"
                       for it in profiled.values())]
          for category in profiles.CATEGORIES),
        ["system calls per request", *(number(it["system_calls_per_request"]) for it in profiled.values())],
        ["context switches per request", *(number(it["context_switches_per_request"], 2) for it in profiled.values())],
    ]


def criterion_table(results):
    return ["", *BENCHED], [[load, *(number(it[name]["us"]["median"] / it[name]["requests"]) for name in BENCHED)]
                            for load, it in results.items()]


def remarks(rows, left_out, chosen):
    yield "the article's backend was Apache and its machine another one: compare the ratios"
    for setting, flags in SETTINGS.items():
        busy = [name for name, it in rows.items()
                if it[setting]["ab_cpu_us"]["median"] * it[setting]["req_per_s"]["median"] >= 1e6 * LIMIT]
        if busy:
            yield (f"{' '.join(['ab', *flags])} is the limit, not the server, for {', '.join(busy)}: "
                   f"it uses most of its one core")
    several = [rows[name][setting] for name in PROFILED for setting in SETTINGS]
    cores = statistics.mean(
        sum(it[key]["median"] for key in ("cpu_us", "backend_cpu_us", "ab_cpu_us")
            if key in it) * it["req_per_s"]["median"] / 1e6 for it in several
    )
    if cores >= LIMIT * os.cpu_count():
        yield (f"ab, proxy and backend share {os.cpu_count()} cores and saturate them, so requests/s "
               f"depend on all three; compare CPU per request")
    yield from left_out
    if chosen.short:
        yield SHORT


def main():
    chosen = options()
    nginx, varnishd, _ = require("nginx", "varnishd", "ab")
    requests, rounds = (1_000, 1) if chosen.short else (REQUESTS, chosen.rounds)
    say("building the bench")
    built = subprocess.run([*BENCH, "--no-run"], stdin=subprocess.DEVNULL)
    if built.returncode:
        raise Problem("cargo cannot build the bench")

    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        scratch = Path(directory)
        say("starting the backend and the proxies")
        servers = start_all(stack, scratch, nginx, varnishd, chosen.bin_dir)
        warm_up(servers, scratch)
        runs = load_all(servers, rounds, requests, scratch)
        rows = {name: {setting: summary(measured) for setting, measured in it.items()} for name, it in runs.items()}
        left_out = []
        profiled, reason = profile(servers, scratch, rows, chosen.short)
        if reason:
            left_out.append(f"left out: the profile; {reason}")
        benched = criterion(servers, scratch, chosen.short)
        for server in servers:
            check_family(server)
            check(server)

    compared = ratios(runs, rows)
    tables = load_tables(servers, rows, compared)
    for setting, flags in SETTINGS.items():
        print(f"\nab -c {CONNECTIONS} -n {requests} {' '.join(flags) or '(no -k, as in the article)'}: median of "
              f"{rounds} rounds\n")
        print(table(*tables[setting]))
    print("\nus: CPU time per request of the proxy, of the backend and of ab; conn.: new connections to the backend "
          "per request")
    print(f"our slow proxy: one round of {rows['slow']['without_k']['requests']} "
          f"requests\n\n{table(*tables['ratios'])}")
    if profiled:
        tables["profile"] = profile_table(profiled)
        print(f"\nwhere the CPU time of a request goes, with -k: microseconds (share)\n\n{table(*tables['profile'])}")
    tables["criterion"] = criterion_table(benched)
    print(f"\ncargo bench, microseconds per request: median\n\n{table(*tables['criterion'])}")
    notes = list(remarks(rows, left_out, chosen))
    print("".join(f"\nnote: {note}" for note in notes))
    record = {"article": ARTICLE, "page_bytes": PAGE_BYTES, "connections": CONNECTIONS, "requests": requests,
              "rounds": rounds, "rows": rows,
              "ratios": compared, "profile": profiled, "criterion": benched, "runs": runs, "notes": notes}
    save("replicate-varnish", record, chosen, ["nginx", "varnishd", "ab", *(["perf"] if profiled else [])], **tables)
    if any(it["failed"] for row in rows.values() for it in row.values()):
        raise Problem("some answers failed, so these figures are not comparable")
    return 0
