"""What is each fix of the shop worth, and when? Applies our ten fixes one after the other, in two orders, and has
`just contest` score each state. The same fix gains little while another fault hides it: `just replicate ladder`.
"""

import argparse
import json
import shutil
import subprocess

from harness import ROOT, TARGET, Problem
from harness.report import add_options, number, save, say, table

SHOP = ROOT / "crates/exercises/shop/src"
STEPS = ROOT / "crates/exercises/solutions/shop/steps"
MINE = SHOP / "mine"
KEPT = ROOT / ".practice/shop"
ORDERS = {
    # What a profile of the CPU shows, then what waits.
    "cpu_first": ["index", "one-query", "sessions-later", "templates-once", "hash-apart", "one-client", "nodelay",
                  "log-in-blocks", "short-transaction", "bounded-wait"],
    "waits_first": ["bounded-wait", "short-transaction", "nodelay", "one-client", "hash-apart", "log-in-blocks",
                    "templates-once", "sessions-later", "one-query", "index"],
}
# All states meet the same visits.
SEED = 46


def options():
    parser = argparse.ArgumentParser(prog="just replicate ladder", description=__doc__)
    parser.add_argument("--repeat", type=int, default=0, metavar="N", help="also score the slow state N times")
    add_options(parser, "one order, its first and last state, one run each")
    return parser.parse_args()


def score(runs: int) -> dict:
    """Builds and scores the state in `mine`, apart from what the reader has kept."""
    shutil.rmtree(KEPT, ignore_errors=True)
    command = [str(TARGET / "release/lab"), "practice", "contest", "--json", "--pairs", str(runs), "--seed", str(SEED)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Problem(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def begin() -> None:
    """A copy of the slow state whose files are new: cargo goes by their times."""
    shutil.rmtree(MINE, ignore_errors=True)
    shutil.copytree(SHOP / "slow", MINE, copy_function=shutil.copyfile)


def patch(step: str) -> None:
    with (STEPS / f"{step}.patch").open() as lines:
        subprocess.run(["patch", "--silent", "--no-backup-if-mismatch", "-p1", "-d", str(MINE)], stdin=lines, check=True)


def climb(order: list[str], runs: int) -> list[dict]:
    """The score of each state, from the slow one on."""
    begin()
    states = []
    for step in ["as it was", *order]:
        if states:
            patch(step)
        found = score(runs)
        before = states[-1]["score"] if states else None
        states.append({
            "step": step, "score": found["score_per_s"], "low": found["lowest_per_s"], "high": found["highest_per_s"],
            "factor": found["score_per_s"] / before if before else None,
            **{part: f"{it['kind']} {it['p99_ms']:.0f} ms" if (it := found[part]) else "-" for part in ("first_missed", "overloaded")},
        })
        say(f"{step}: {found['score_per_s']:.0f}")
    return states


def main():
    chosen = options()
    aside = KEPT.with_name("shop.aside")
    if MINE.exists():
        raise Problem(f"{MINE.relative_to(ROOT)} is yours: move it away for as long as this runs")
    if KEPT.exists():
        KEPT.rename(aside)
    try:
        record = {"repeats": [], "orders": {}}
        if chosen.repeat:
            begin()
            record["repeats"] = [score(2)["score_per_s"] for _ in range(chosen.repeat)]
        for name, order in ORDERS.items():
            if chosen.short and record["orders"]:
                break
            record["orders"][name] = climb(order[:1] if chosen.short else order, 1 if chosen.short else 2)
    finally:
        shutil.rmtree(MINE, ignore_errors=True)
        shutil.rmtree(KEPT, ignore_errors=True)
        if aside.exists():
            aside.rename(KEPT)
    tables = {}
    for name, states in record["orders"].items():
        head = ["", "visits/s", "lowest", "highest", "factor", "fails first", "most late when overloaded"]
        rows = [[it["step"], number(it["score"], 0), number(it["low"], 0), number(it["high"], 0),
                 f"{it['factor']:.2f}×" if it["factor"] else "",
                 it["first_missed"], it["overloaded"]] for it in states]
        print(f"{name}\n{table(head, rows)}\n")
        tables[name] = (head, rows)
    save("replicate-ladder", record, chosen, [], **tables)
