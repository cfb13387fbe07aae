"""Runs Locust against the slow and the fixed server of a case, as the article did: `just replicate locust CASE`.

The engine crates/lab/measure/engines/locust makes the load. A run takes as long as its ramp of 100 users per second and process,
plus 20 s, plus a few seconds to start and stop: three minutes for lock-scope, also with `--workers 1,2,4`.
"""

import argparse
import json
import re

from harness import ROOT, Problem
from harness.lab import case, figures, serving
from harness.processes import free_port
from harness.report import SHORT, add_options, number, percent, positive, save, say, table
from harness.tools import require

# What the article says. Its users wait 0.5 s, as the case's users do.
ARTICLE = {"lock-scope": {"users": 3000, "slow": 19.5, "fixed": 820, "speedup": 40}}
WEB_PORT = 8089
# Users that Locust starts per second and process.
RAMP = 100


def plural(count, thing):
    return f"{count:,} {thing}" + "s" * (count != 1)


def counts(text):
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError("it takes a number of workers, or several with commas between them")
    return list(dict.fromkeys(map(int, text.split(","))))


def options():
    parser = argparse.ArgumentParser(prog="just replicate locust", description=__doc__)
    parser.add_argument("case", help="name or alias of a case")
    parser.add_argument("--variant", action="append", help="instead of slow and fixed; repeat it for several")
    parser.add_argument("--users", type=positive, help="instead of the case's own number")
    parser.add_argument("--seconds", type=positive, default=20, help="how long to measure after the ramp [20]")
    parser.add_argument("--fast", action="store_true",
                        help="only FastHttpUser; without it, HttpUser, and then FastHttpUser on the last variant")
    parser.add_argument("--workers", type=counts, metavar="N",
                        help="a master and N workers; `1,2,4` compares them on the fixed server")
    parser.add_argument("--listen", metavar="ADDR",
                        help="wait for N workers from other machines, at this machine's IPv4 address ADDR; only in a "
                             "network that you trust")
    parser.add_argument("--ui", action="store_true",
                        help=f"also show the load of each run in Locust's web UI on port {WEB_PORT}")
    add_options(parser, "2 s a server with at most 200 users")
    chosen = parser.parse_args()
    chosen.scaling = len(chosen.workers or []) > 1
    if chosen.workers is None:
        chosen.workers = [1 if chosen.listen else 0]
    if chosen.scaling and chosen.listen:
        parser.error("--listen takes one number of --workers")
    return chosen


def plan_runs(variants, chosen):
    """The runs in their order: variant, FastHttpUser or not, number of workers."""
    runs = [(variant, chosen.fast, count) for variant in variants for count in chosen.workers]
    # A worker on another machine gets its files once, and they say which of the two clients it uses.
    if not (chosen.fast or chosen.scaling or chosen.listen):
        runs.append((variants[-1], True, chosen.workers[0]))
    return runs


def from_lab(name, load):
    """What `lab` measured with the same users, by variant, from the newest published record. No lower bounds."""
    for file in sorted((ROOT / "docs" / "record").glob("*/record.json"), reverse=True):
        record = json.loads(file.read_text(encoding="utf-8"))
        for measured in record["cases"]:
            if measured["case"] == name and (measured["users"], measured["think_ms"]) == (load["users"],
                                                                                               load["think_ms"]):
                rows = {}
                for it in measured["variants"]:
                    bound = it["latency_ms"]["exact_below"] or float("inf")
                    rows[it["variant"]] = {
                        "client": "lab", "req_per_s": it["throughput_rps"],
                        **{f"{key}_ms": ms for key in ("p50", "p99") if (ms := it["latency_ms"][key]) is not None
                           and ms < bound},
                        "generator_cores": it["generator_cpu"],
                        "server_cores": it["cpu_us_per_request"] * it["throughput_rps"] / 1e6,
                        "record": file.parent.name,
                    }
                return rows
    return {}


def as_row(variant, client, workers, outcome):
    """One run as the table shows it and the record keeps it."""
    seconds, shown = outcome["measured_s"], figures(outcome)
    processes = [{"req_per_s": it["ok_in_time"] / seconds, "cores": it["cpu_s"] / seconds,
                  "waited": it["waited_s"] / seconds} for it in outcome["processes"]]
    return {
        "variant": variant, "client": client, "workers": workers, **{key: shown[key]
            for key in ("req_per_s", "p50_ms", "p99_ms", "server_cores")},
        "master_cores": outcome["master_cpu_s"] / seconds, "seconds": seconds, "answers": outcome["ok"],
        "lost": outcome["invalid"], "limited_by": outcome["limited_by"],
        "generator_cores": sum(process["cores"]
                               for process in processes), "processes": processes, "unfinished": outcome["unfinished"],
    }


def name_of(row):
    workers = [plural(row["workers"], "worker")] if row.get("workers") else []
    return ", ".join([row["variant"], row["client"], *workers]) + "*" * bool(row.get("lost"))


def notes(row, load, lab):
    """What a reader has to know before believing a row."""
    name = name_of(row)
    if row["lost"]:
        yield f"{name}: {row['lost']}; do not compare this row"
    elif row["limited_by"]:
        other = lab.get(row["variant"])
        yield f"{name}: {row['limited_by']}" + (f"; lab gets {number(other['req_per_s'])} req/s from this server with "
                                                f"{percent(other['generator_cores'])} of a core" if other else "")
    answer = load["users"] / row["req_per_s"] - load["think_ms"] / 1000
    if answer > 1.5 * row["p99_ms"] / 1000:
        yield (f"{name}: these are the latencies of a queue that still grows; by Little's law an answer takes "
               f"{answer:.0f} s in the end")


def compared(rows, article):
    """The table of one number of workers: the article's figures, Locust's, and lab's."""
    head = ["", *(["article"] if article else []), "req/s", *(["ratio"] if article else []), "p50 ms", "p99 ms",
            "generator CPU", "server CPU"]
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
        [(plural(row["workers"], "worker") if row["workers"] else "1 process") + "*" * bool(row["lost"]),
         number(row["req_per_s"]), number(row["req_per_s"] / rows[0]["req_per_s"],
                                          2), number(row["p50_ms"]), number(row["p99_ms"]),
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


def tell(name, chosen, load, rows):
    """Prints the table and the notes, and saves the record."""
    lab, article = from_lab(name, load), ARTICLE.get(name, {})
    if article.get("users") != load["users"]:
        article = {}
    shown = [*rows, *({"variant": variant, **lab[variant]} for variant in dict.fromkeys(row["variant"] for row in rows)
                      if variant in lab)]
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
        remarks.append(f"lab's rows are from the record {shown[-1]['record']}: the same users and pause, on another "
                       f"day")
    if load["requests"] > 1:
        remarks.append(f"a visit of {load['requests']} requests counts as one, as in lab")
    if chosen.short:
        remarks.append(SHORT)
    print("".join(f"\nnote: {remark}" for remark in remarks))
    record = {"article": article, "load": {**load, "ramp_per_s": RAMP}, "listen": bool(chosen.listen),
              "rows": rows, "lab": lab, "ratios": ratios, "notes": remarks}
    save("-".join(["locust", name, *["workers"] * (chosen.workers != [0]), *["fast"] * chosen.fast]), record,
         chosen, ["locust"], **tables)


def measure(name, variant, chosen, load, options):
    arrivals = {"closed_loop": {key: load[key] for key in ("users", "think_ms", "connections")}}
    # Other machines reach the server at this address; without one, only this machine reaches it.
    where = ["--addr", f"{chosen.listen}:0"] if chosen.listen else []
    with serving(chosen.bin_dir, f"{name}-{variant}", "--connections", str(load["users"] * load["connections"]),
                 args=where) as session:
        outcome = session.load(load["seconds"], engine="locust", arrivals=arrivals, grace_s=0, options=options)
    if outcome["first_fault"]:
        raise Problem(f"{variant}: {outcome['wrong']} wrong and {outcome['failed']} failed answers, the first: "
                      f"{outcome['first_fault']}")
    if not outcome["ok"]:
        raise Problem(f"{variant} answered nothing in {load['seconds']} s; give it more `--seconds`")
    return outcome


def main():
    chosen = options()
    variants = chosen.variant or (["fixed"] if chosen.scaling else ["slow", "fixed"])
    about = case(chosen.case, *variants, bin_dir=chosen.bin_dir)
    name, runs = about["case"], plan_runs(variants, chosen)
    require("locust")
    load = {**about["load"], "seconds": chosen.seconds, "requests": len(about["requests"])}
    load["users"] = chosen.users or load["users"]
    if chosen.short:
        load.update(users=min(load["users"], 200), seconds=2)
    if chosen.ui:
        print(f"Locust's web UI is at http://127.0.0.1:{free_port(WEB_PORT)} during each run", flush=True)

    rows = []
    for variant, fast, count in runs:
        client = "FastHttpUser" if fast else "HttpUser"
        said = [plural(load["users"], "user"), client, *([plural(count, "worker")] if count else [])]
        say(f"{name}-{variant}: {', '.join(said)}; "
            f"{load['users'] // RAMP // max(count, 1) + load['seconds']} s")
        kept = {"workers": count or None, "listen": chosen.listen, "web_port": WEB_PORT if chosen.ui else None}
        outcome = measure(name, variant, chosen, load,
                          {"fast": fast, **{key: value for key, value in kept.items() if value}})
        rows.append(as_row(variant, client, count, outcome))

    print(f"\n{name}: Locust {outcome['engine']['version']}; {plural(load['users'], 'user')}, {RAMP} more "
          f"per second and process, "
          f"wait {load['think_ms']} ms, {load['seconds']} s\n")
    tell(name, chosen, load, rows)
    return 0
