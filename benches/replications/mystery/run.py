"""`lab triage` on mystery servers, whose faults are known: `just replicate mystery`. Takes about ten minutes.

Each fault alone, the healthy server, and some pairs. A suspect that names a planted fault is right, and any other
one is a false alarm.
"""

import argparse
import json
import subprocess

from harness import Problem
from harness.lab import find_binary, lab
from harness.report import SHORT, add_options, number, save, say, table

# By the planted fault: the rules whose first fix removes it.
NAMED_BY = {
    "blocking": ["blocking", "blocked-loop"],
    "client": ["client", "connect"],
    "clone": ["allocation", "clone"],
    "flush": ["flush"],
    "lock": ["lock"],
    "log": ["log", "log-file", "small-io"],
    "nodelay": ["nagle"],
    "parse": ["document"],
    "pool": ["pool", "limit"],
    "regex": ["regex"],
}
HEALTHY = "healthy"
# Two queues, two kinds of CPU time, and one of each.
PAIRS = ["client+pool", "clone+lock", "clone+regex", "flush+regex", "lock+log", "nodelay+parse"]
QUICK = [HEALTHY, "lock", "regex"]
# As many as most readers use.
USERS = 8


def options():
    parser = argparse.ArgumentParser(prog="just replicate mystery", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="FAULT",
                        help="only these servers, such as `lock`, `healthy` or `lock+log`")
    add_options(parser, f"only {', '.join(QUICK)}")
    chosen = parser.parse_args()
    if chosen.publish and chosen.names:
        raise Problem("the published record has all servers; leave out their names")
    return chosen


def judged(planted, suspects):
    """What the suspects of a card, in their order, say about the planted faults."""
    right = [name for fault in planted for name in NAMED_BY[fault]]
    return {
        "planted": planted, "suspects": suspects, "first": bool(suspects) and suspects[0] in right,
        "named": [fault for fault in planted if set(NAMED_BY[fault]) & set(suspects)],
        "false_alarms": [it for it in suspects if it not in right],
    }


def result(it):
    """One of a few words, for the table."""
    planted, named = len(it["planted"]), len(it["named"])
    if planted == 0:
        return "false alarm" if it["false_alarms"] else "nothing, rightly"
    if planted > 1:
        return f"{named} of {planted} named"
    return "named first" if it["first"] else "named" if named else "missed"


def examine(name, seed, bin_dir):
    server = f"{find_binary(bin_dir, 'mystery')} --seed {seed} --addr 127.0.0.1:{{port}}"
    card = lab(bin_dir, "triage", server, "--get", "/orders/7", "--json")
    level = next(it for it in card["levels"] if it["users"] == USERS)
    planted = [] if name == HEALTHY else name.split("+")
    return {
        "seed": seed, **judged(planted, [it["id"] for it in card["suspects"]]),
        **{key: card[key] for key in ("limit", "limited_by", "levels", "facts", "notes")},
        "evidence": {it["id"]: it["evidence"] for it in card["suspects"]},
        "req_per_s": level["throughput_rps"], "p99_ms": level["p99_ms"], "cpu_us": level["cpu_us_per_request"],
    }


def totals(results):
    alone, pairs = ([it for it in results.values() if len(it["planted"]) == count] for count in (1, 2))
    return {
        "alone": len(alone), "first": sum(it["first"] for it in alone), "missed": sum(not it["named"] for it in alone),
        "pairs": len(pairs), "of_pairs": 2 * len(pairs), "named_of_pairs": sum(len(it["named"]) for it in pairs),
        "servers": len(results), "false_alarms": sum(len(it["false_alarms"]) for it in results.values()),
    }


def shown(results):
    head = ["planted", "result", "suspects, likeliest first", "false alarms", f"req/s, {USERS} users", "p99, ms",
            "CPU, µs"]
    return head, [[name.replace("+", ", "), result(it), ", ".join(it["suspects"]) or "none",
                   ", ".join(it["false_alarms"]) or "none", number(it["req_per_s"], 0), number(it["p99_ms"]),
                   number(it["cpu_us"], 0)] for name, it in results.items()]


def main():
    chosen = options()
    seeds = json.loads(subprocess.run([find_binary(chosen.bin_dir, "mystery"), "--spoil"], check=True,
                                      stdout=subprocess.PIPE).stdout)
    names = chosen.names or (QUICK if chosen.short else [HEALTHY, *NAMED_BY, *PAIRS])
    for name in names:
        if name not in seeds:
            raise Problem(f"no server has the faults `{name}`; they are {', '.join(seeds)}")
    if chosen.short:
        print(f"note: {SHORT}")
    results = {}
    for name in names:
        say(f"{name}: triage of seed {seeds[name]}")
        results[name] = examine(name, seeds[name], chosen.bin_dir)
        say(f"  {result(results[name])}: {', '.join(results[name]['suspects']) or 'no suspect'}")
    count, servers = totals(results), shown(results)
    print(f"\n{table(*servers)}\n\n{json.dumps(count)}")
    save("replicate-mystery", {"totals": count, "servers": results}, chosen, ["perf"], servers=servers)
    return 0
