"""Released versions whose difference in speed is documented, compared and examined: `just replicate releases`.

Takes four minutes a pair, and 40 minutes to install and build all of them once. The pairs are in pairs.toml.
"""

import argparse
import contextlib
import json
import tempfile
import time
from pathlib import Path

from harness import Problem, tools
from harness.lab import lab
from harness.report import PUBLISHED, SHORT, add_options, number, save, say, table
from harness.tools import TOOLS
from postgres.run import start_postgres
from releases.sides import HERE, HOME, PAIRS, SIDES, command, differs, locked, make_data, programs, version_of

RECORD = "replicate-releases"
# Nothing to install but Java, and half a minute to build.
CHEAP = ("jdk", "axum-routes")
# What the factor of a metric is about.
METRICS = {"throughput": "the throughput", "cpu_per_request": "less CPU time", "latency_p50": "shorter p50",
           "latency_p99": "shorter p99"}
HEAD = ["program", "slow", "fast", "what is claimed", "the fast one has", "verdict", "triage of the slow one",
        "triage of the fast one", "measured"]


def options():
    parser = argparse.ArgumentParser(prog="just replicate releases", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only these pairs; with --publish, the record keeps its other pairs")
    parser.add_argument("--installed", action="store_true",
                        help="leave out what is not installed, instead of installing it")
    parser.add_argument("--build", action="store_true", help="only install and build, and measure nothing")
    add_options(parser, f"quick comparisons, and without names only {' and '.join(CHEAP)}")
    chosen = parser.parse_args()
    known = [pair["name"] for pair in PAIRS]
    for name in chosen.names:
        if name not in known:
            raise Problem(f"no pair `{name}`; the pairs are {', '.join(known)}")
    if chosen.short and not chosen.names:
        chosen.names = CHEAP
    return chosen


def asked(pair: dict) -> list[str]:
    """The request, as `lab compare` and `lab triage` take it."""
    header = ["--header", pair["header"]] if "header" in pair else []
    return ["--get", pair["get"], *header]


def measure(pair: dict, commands: list[str], chosen: argparse.Namespace) -> dict:
    """What `lab compare` finds. That answers are wrong or lost is a result, too."""
    effort = ["--quick"] if chosen.short else ["--open-loop", "0"]
    try:
        found = lab(chosen.bin_dir, "compare", *commands, *asked(pair), *effort, *pair.get("flags", []), "--json",
                    codes=(0, 1, 3))
    except Problem as problem:
        return {"verdict": "failed", "why": str(problem), "metric": None, "speedup": {}}
    return {key: found[key] for key in ("metric", "verdict", "pairs", "speedup", "aa", "notes")}


def card(pair: dict, start: str, chosen: argparse.Namespace) -> dict:
    """What `lab triage` says of a side."""
    try:
        found = lab(chosen.bin_dir, "triage", start, *asked(pair), "--json")
    except Problem as problem:
        return {"failed": str(problem), "suspects": []}
    kept = ("limit", "limited_by", "suspects", "unchecked", "levels", "functions", "notes")
    return {key: found[key] for key in kept}


def place(found: dict, pair: dict) -> int | None:
    """Which of the suspects names the fault, from 1 on."""
    ids = [suspect["id"] for suspect in found["suspects"]]
    return next((at for at, name in enumerate(ids, 1) if name in pair["suspects"]), None)


def examine(pair: dict, chosen: argparse.Namespace) -> dict:
    """One pair: the comparison, and the card of each side."""
    bin_dirs = [programs(pair, side, chosen.installed) for side in SIDES]
    with contextlib.ExitStack() as stack:
        url = ""
        if "{postgres}" in pair["command"]:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if not (program := TOOLS["postgres"].find("postgres")):
                raise Problem(f"no postgres; {TOOLS['postgres'].install}")
            url = f"postgres://postgres@127.0.0.1:{start_postgres(program, scratch, stack).port}/postgres"
        commands = [command(pair, side, bin_dir, url) for side, bin_dir in zip(SIDES, bin_dirs)]
        say(f"{pair['name']}: the comparison")
        compared = measure(pair, commands, chosen)
        cards = {}
        for side, start in zip(SIDES, commands):
            say(f"{pair['name']}: triage of {version_of(pair, side)}")
            cards[side] = card(pair, start, chosen)
    if "why" in compared and all("failed" in it for it in cards.values()):
        raise Problem(compared["why"])
    return {
        **{key: pair[key] for key in ("program", "changed", "claim", "source", "get")},
        "versions": [version_of(pair, side) for side in SIDES],
        "differs": differs(*(locked(pair, side) for side in SIDES)) if pair["install"] == "build" else None,
        "compared": compared, "triage": cards, "named": {side: place(cards[side], pair) for side in SIDES},
        "measured": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": lab(chosen.bin_dir, "doctor", "--json")["machine"],
    }


def portable(result: dict) -> dict:
    """A result without the paths of this machine."""
    return json.loads(json.dumps(result).replace(str(HOME), "target/lab/releases").replace(str(HERE), "releases"))


def factor(compared: dict) -> str:
    """The metric that decides, as a factor with its interval."""
    if (why := compared.get("why")) is not None:
        return why
    it = compared["speedup"].get(compared["metric"])
    what = METRICS.get(compared["metric"], compared["metric"])
    return f"{times(it['estimate'])} ({times(it['low'])} to {times(it['high'])}) {what}" if it else "n/a"


def times(ratio: float) -> str:
    return f"{number(ratio, 0 if ratio >= 100 else 1 if ratio >= 10 else 2)}×"


def suspected(found: dict, at: int | None) -> str:
    """What triage says of a side, in a cell: first the suspect that names the fault."""
    if "failed" in found:
        return found["failed"]
    shown = [f"{it['title']} ({it['accounts_for']})" if it["accounts_for"] else it["title"] for it in found["suspects"]]
    if at:
        shown.insert(0, f"**{shown.pop(at - 1)}**")
    return "; ".join(shown) or "no suspect"


def totals(results: dict) -> dict:
    """How many pairs a verdict decides, and of those, how often triage names the fault on one side only."""
    decided = {name: it for name, it in results.items() if it["compared"]["verdict"] in ("faster", "slower")}
    return {
        "pairs": len(results), "decided": len(decided),
        "named": sum(it["named"]["slow"] is not None and it["named"]["fast"] is None for it in decided.values()),
        "named_first": sum(it["named"]["slow"] == 1 and it["named"]["fast"] is None for it in decided.values()),
        "named_on_the_fast_side": sum(it["named"]["fast"] is not None for it in results.values()),
    }


def rows(results: dict) -> list[list[str]]:
    return [[it["program"], *it["versions"], it["claim"], factor(it["compared"]), it["compared"]["verdict"],
             *(suspected(it["triage"][side], it["named"][side]) for side in SIDES), it["measured"]]
            for it in results.values()]


def merged(results: dict, chosen: argparse.Namespace) -> dict:
    """These results, and those that the published record has of other pairs, in the order of pairs.toml."""
    path = PUBLISHED / f"{RECORD}.json"
    earlier = json.loads(path.read_text())["pairs"] if chosen.publish and path.exists() else {}
    found = {**earlier, **results}
    return {pair["name"]: found[pair["name"]] for pair in PAIRS if pair["name"] in found}


def origin(results: dict) -> str:
    """Where the rows come from: each has a day of its own."""
    machines = sorted({f"{it['machine']['cpu'] or it['machine']['arch']} ({it['machine']['cores']} cores)"
                       for it in results.values()})
    days = sorted({it["measured"] for it in results.values()})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"Made by `just replicate releases NAME` for each pair on {' and '.join(machines)}, {when}."


def main():
    chosen = options()
    make_data()
    pairs = [pair for pair in PAIRS if not chosen.names or pair["name"] in chosen.names]
    if chosen.short:
        print(f"note: {SHORT}")
    results, left_out = {}, {}
    for pair in pairs:
        try:
            if chosen.build:
                for side in SIDES:
                    programs(pair, side, chosen.installed)
            else:
                results[pair["name"]] = portable(examine(pair, chosen))
        # A program may fail in any way. The results of the others must not be lost.
        except Exception as problem:
            left_out[pair["name"]] = str(problem) if isinstance(problem, Problem) else repr(problem)
            say(f"note: {pair['name']} is left out: {left_out[pair['name']]}")
    if chosen.build:
        return 1 if left_out else 0
    if not results:
        raise Problem("no pair could be measured")
    found = merged(results, chosen)
    shown, counts = rows(found), totals(found)
    print(f"\n{table(HEAD, shown)}\n\n{json.dumps(counts)}")
    record = {"totals": counts, "pairs": found, "left_out": left_out}
    save(RECORD, record, chosen, ["cargo"], pairs=(HEAD, shown, origin(found)))
    return 0
