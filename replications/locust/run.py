#!/usr/bin/env python3
"""Runs Locust against the slow and the fixed server of a case, as the article did: `just locust CASE`.

A run takes as long as its ramp of 100 users per second, plus 20 s, plus a few seconds to start and stop:
three minutes for lock-scope, also with `--workers 1,2,4`.
"""

import argparse
import ipaddress
import json
import os
import re

import swarm
from harness import cases
from harness.cases import ROOT, Problem
from harness.processes import allow_connections, free_port, run
from harness.report import LIMIT, SHORT, add_options, number, percent, positive, save, say, table
from harness.tools import require

# What the article says. Its users wait 0.5 s, as the case's users do.
ARTICLE = {"lock-scope": {"users": 3000, "slow": 19.5, "fixed": 820, "speedup": 40}}


def counts(text):
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError("it takes a number of workers, or several with commas between them")
    return list(dict.fromkeys(map(int, text.split(","))))


def reachable(text):
    try:
        address = ipaddress.IPv4Address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError("it takes an IPv4 address of this machine") from error
    if address.is_unspecified:
        raise argparse.ArgumentTypeError("other machines need one address that they reach, such as 192.168.1.5")
    return str(address)


def options():
    parser = argparse.ArgumentParser(prog="just locust", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", action="append", help="instead of slow and fixed; repeat it for several")
    parser.add_argument("--users", type=positive, help="instead of the case's own number")
    parser.add_argument("--seconds", type=positive, default=20, help="how long to measure after the ramp [20]")
    parser.add_argument("--fast", action="store_true", help="only FastHttpUser; without it, HttpUser, and then FastHttpUser on the last variant")
    parser.add_argument("--workers", type=counts, metavar="N", help="a master and N workers; `1,2,4` compares them on the fixed server")
    parser.add_argument("--listen", type=reachable, metavar="ADDR",
                        help="wait for N workers from other machines, at this machine's IPv4 address ADDR; only in a network that you trust")
    parser.add_argument("--ui", action="store_true", help="open Locust's web UI on one variant; you start the load there")
    parser.add_argument("--web-port", type=int, default=8089, help="port of the web UI [8089]")
    add_options(parser, "2 s a server with at most 200 users")
    chosen = parser.parse_args()
    chosen.scaling = len(chosen.workers or []) > 1
    if chosen.workers is None:
        chosen.workers = [1 if chosen.listen else 0]
    if chosen.scaling and (chosen.listen or chosen.ui):
        parser.error("--listen and --ui take one number of --workers")
    if chosen.listen and not chosen.workers[0]:
        parser.error("--listen needs at least one of the --workers")
    return chosen


def plan_runs(case, chosen):
    """The runs in their order: variant, FastHttpUser or not, number of workers."""
    variants = chosen.variant or (["fixed"] if chosen.scaling else ["slow", "fixed"])
    case.check_variants(*variants)
    runs = [(variant, chosen.fast, count) for variant in variants for count in chosen.workers]
    # A worker on another machine gets its files once, and they say which of the two clients it uses.
    if not (chosen.fast or chosen.scaling or chosen.listen):
        runs.append((variants[-1], True, chosen.workers[0]))
    return runs


def lab_latencies(measured, load):
    """The percentiles that are comparable with Locust's: of requests, not of visits, and no lower bounds."""
    bound = measured["exact_below"]
    known = {"p50_ms": measured["p50"], "p99_ms": measured["p99"]} if load["requests"] == 1 else {}
    return {key: ms for key, ms in known.items() if ms is not None and (bound is None or ms < bound)}


def from_lab(case, load):
    """What `lab` measured with the same users, by variant, from the newest published record."""
    for file in sorted((ROOT / "docs" / "record").glob("*/record.json"), reverse=True):
        record = json.loads(file.read_text(encoding="utf-8"))
        for measured in record["cases"]:
            if measured["case"] == case.name and (measured["users"], measured["think_ms"]) == (load["users"], load["think_ms"]):
                return {
                    it["variant"]: {
                        "client": "lab", "req_per_s": it["throughput_rps"] * load["requests"],
                        **lab_latencies(it["latency_ms"], load),
                        "generator_cores": it["generator_cpu"], "server_cores": it["cpu_us_per_request"] * it["throughput_rps"] / 1e6,
                        "record": file.parent.name,
                    }
                    for it in measured["variants"]
                }
    return {}


def as_row(variant, client, workers, measured):
    """One run as the table shows it and the record keeps it."""
    kept = ("req_per_s", "p50_ms", "p99_ms", "server_cores", "master_cores", "seconds", "answers", "lost")
    processes = [{key: process[key] for key in ("req_per_s", "cores", "waited")} for process in measured["processes"]]
    return {
        "variant": variant, "client": client, "workers": workers, **{key: measured[key] for key in kept},
        "generator_cores": sum(process["cores"] for process in processes), "processes": processes,
        "unfinished": len(measured["unfinished_ages_ms"]),
    }


def name_of(row):
    workers = [swarm.plural(row["workers"], "worker")] if row.get("workers") else []
    return ", ".join([row["variant"], row["client"], *workers]) + "*" * bool(row.get("lost"))


def notes(row, load, lab):
    """What a reader has to know before believing a row."""
    name = name_of(row)
    for lost in row["lost"]:
        yield f"{name}: {lost['worker']} {lost['how']} after {lost['after_seconds']:.0f} s, and the others took over; do not compare this row"
    master = {"cores": row["master_cores"], "waited": 0}
    busiest = max([*row["processes"], master], key=lambda process: process["cores"] + process["waited"])
    if busiest["cores"] + busiest["waited"] >= LIMIT:
        other = lab.get(row["variant"])
        yield f"{name}: Locust is the limit, not the server: one of its processes uses {percent(busiest['cores'])} of a core" + (
            f", and waits for a core {percent(busiest['waited'])} of the time" if busiest["waited"] >= 0.1 else "") + (
            f"; lab gets {number(other['req_per_s'])} req/s from this server with {percent(other['generator_cores'])}" if other else "")
    elif row["generator_cores"] + row["master_cores"] + row["server_cores"] >= LIMIT * os.cpu_count():
        yield f"{name}: the machine is saturated: Locust and the server share its {os.cpu_count()} cores"
    elif not load["think_ms"] and row["generator_cores"] > row["server_cores"]:
        yield f"{name}: Locust takes more CPU time per request than the server, and its users have no pause, so this rate is mostly Locust's own"
    answer = load["users"] / row["req_per_s"] - load["think_ms"] / 1000
    if load["requests"] == 1 and answer > 1.5 * row["p99_ms"] / 1000:
        yield f"{name}: these are the latencies of a queue that still grows; by Little's law an answer takes {answer:.0f} s in the end"


def compared(rows, article):
    """The table of one number of workers: the article's figures, Locust's, and lab's."""
    head = ["", *(["article"] if article else []), "req/s", *(["ratio"] if article else []), "p50 ms", "p99 ms", "generator CPU", "server CPU"]
    lines = []
    for row in rows:
        rate = [number(row["req_per_s"])]
        if article:
            told = article.get(row["variant"])
            rate = [number(told), *rate, number(row["req_per_s"] / told, 2) if told else "-"]
        cores = [percent(row["generator_cores"]), percent(row["server_cores"])]
        lines.append([name_of(row), *rate, number(row.get("p50_ms")), number(row.get("p99_ms")), *cores])
    return head, lines


def scaled(rows):
    """The distributed table: one row for each number of workers."""
    head = ["", "req/s", "ratio", "p50 ms", "p99 ms", "worker CPU", "busiest", "master CPU", "server CPU"]
    return head, [
        [(swarm.plural(row["workers"], "worker") if row["workers"] else "1 process") + "*" * bool(row["lost"]),
         number(row["req_per_s"]), number(row["req_per_s"] / rows[0]["req_per_s"], 2), number(row["p50_ms"]), number(row["p99_ms"]),
         percent(row["generator_cores"]), percent(max(process["cores"] for process in row["processes"])),
         percent(row["master_cores"] if row["workers"] else None), percent(row["server_cores"])]
        for row in rows
    ]


def speedups(rows):
    """fixed / slow for each client that measured both; a client with one of them uses HttpUser's other."""
    rates = {(row["variant"], row["client"]): row["req_per_s"] for row in rows if not row.get("lost")}
    return {
        client: rate / slow
        for (variant, client), rate in rates.items()
        if variant == "fixed" and (slow := rates.get(("slow", client)) or rates.get(("slow", "HttpUser")))
    }


def invite(case, chosen, runs, port, seconds):
    """Says what to do on the other machines."""
    swarm.write_kit(case, chosen.bin_dir, chosen.fast, None if chosen.ui else seconds)
    kit, options = os.path.relpath(swarm.KIT), " ".join(swarm.worker_options("locustfile.py", chosen.listen, port))
    turns = "for run in " + " ".join(variant for variant, _, _ in runs) if len(runs) > 1 and not chosen.ui else ""
    command = f"LOCUST_PLAN=plan.json locust {options}"
    print(f"Copy {kit} to each of the other machines:\n")
    print(f"  scp -r {kit} OTHER:\n")
    print("There, install the same Locust once, and start one worker for each core:\n")
    print("  cd locust-worker && python3 -m venv venv && venv/bin/pip install --require-hashes -r requirements.txt && . venv/bin/activate")
    print(f"  {f'{turns}; do {command}; done' if turns else command}\n")
    print(f"The load begins when {swarm.plural(chosen.workers[0], 'worker')} in all are here; stop with Ctrl-C.\n", flush=True)


def tell(case, chosen, load, rows):
    """Prints the table and the notes, and saves the record."""
    lab, article = from_lab(case, load), ARTICLE.get(case.name, {})
    if article.get("users") != load["users"]:
        article = {}
    shown = [*rows, *({"variant": variant, **lab[variant]} for variant in dict.fromkeys(row["variant"] for row in rows) if variant in lab)]
    ratios = {} if chosen.scaling else speedups(shown)
    remarks = [note for row in rows for note in notes(row, load, lab)]
    tables = {}
    if chosen.scaling:
        for variant in dict.fromkeys(row["variant"] for row in rows):
            tables[variant] = scaled([row for row in rows if row["variant"] == variant])
            print(f"{variant}, {rows[0]['client']}:\n{table(*tables[variant])}")
    else:
        tables["load"] = compared(shown, article)
        print(table(*tables["load"]))
    if ratios:
        said = [f"{number(ratio)} with {client}" for client, ratio in ratios.items()]
        said += [f"{article['speedup']} in the article"] if article else []
        print(f"\nfixed / slow: {', '.join(said)}")
    if len(shown) > len(rows) and not chosen.scaling:
        remarks.append(f"lab's rows are from the record {shown[-1]['record']}: the same users and pause, on another day")
    if chosen.short:
        remarks.append(SHORT)
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"article": article, "load": {**load, "ramp_per_s": swarm.RAMP}, "listen": bool(chosen.listen),
              "rows": rows, "lab": lab, "ratios": ratios, "notes": remarks}
    save("-".join(["locust", case.name, *["workers"] * (chosen.workers != [0]), *["fast"] * chosen.fast]), record, chosen, ["locust"], **tables)


def main():
    chosen = options()
    case = cases.read(chosen.case)
    runs = plan_runs(case, chosen)
    (program,) = require("locust")
    load = {"users": chosen.users or case.users, "think_ms": case.think_ms, "seconds": chosen.seconds, "requests": len(case.requests)}
    if chosen.short:
        load.update(users=min(load["users"], 200), seconds=2)
    allow_connections(load["users"] * case.connections)
    port = free_port(address=chosen.listen) if chosen.listen else None
    if chosen.ui:
        free_port(chosen.web_port)
    if chosen.listen:
        invite(case, chosen, runs, port, load["seconds"])

    rows = []
    for variant, fast, count in runs:
        client = "FastHttpUser" if fast else "HttpUser"
        setting = {**load, "fast": fast, "workers": count, "listen": chosen.listen}
        if chosen.ui:
            return swarm.measure(case, variant, program, setting, chosen.bin_dir, port, chosen.web_port)
        said = [swarm.plural(load["users"], "user"), client, *([swarm.plural(count, "worker")] if count else [])]
        say(f"{case.name}-{variant}: {', '.join(said)}; {swarm.ramp_seconds(load['users']) + load['seconds']} s")
        measured = swarm.measure(case, variant, program, setting, chosen.bin_dir, port)
        if measured["failures"]:
            raise Problem(f"{variant}: {measured['failures']} of {measured['requests']} answers are wrong: {measured['first_failure']}")
        if not measured["answers"]:
            raise Problem(f"{variant} answered nothing in {load['seconds']} s; give it more `--seconds`")
        rows.append(as_row(variant, client, count, measured))

    print(f"\n{case.name}: Locust {measured['locust']}; {swarm.plural(load['users'], 'user')}, {swarm.RAMP} more per second, "
          f"wait {load['think_ms']} ms, {load['seconds']} s\n")
    tell(case, chosen, load, rows)
    return 0


if __name__ == "__main__":
    run(main)
