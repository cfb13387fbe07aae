"""Compares a bench with itself again and again, and with itself and a little more work: how often do Criterion's own
report, tango, zenbench and `lab compare --bench-command` call unchanged code changed? How often do they find the work?
The same for two benches of others, as far as a tool can run what was written for Criterion.
`just replicate unchanged`.
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from unchanged import others

from harness import ROOT, TARGET, Problem
from harness.install import compile_quietly
from harness.lab import command
from harness.report import add_options, number, positive, save, say, table

BENCHES = ["unchanged_criterion", "unchanged_tango"]
HERE = Path(__file__).parent
ZENBENCH = "0.1.11"
ROUNDS = 100_000
# The share of work that is added; the first changes nothing.
EFFECTS = (0.0, 0.05, 0.15)
# A neighbour works for the first of these seconds, and rests for the second.
NEIGHBOUR = (5, 5)
# What `lab` is told to find. Its own smallest effect is 10 %.
MINIMUM = 3
LONGEST = 600


def options():
    parser = argparse.ArgumentParser(prog="just replicate unchanged", description=__doc__)
    parser.add_argument("--sessions", type=positive, default=20, help="comparisons of each kind [20]")
    parser.add_argument("--variant", default="slow", help="the variant of hot-clone that the bench asks [slow]")
    add_options(parser, "one comparison of each kind")
    chosen = parser.parse_args()
    if chosen.short:
        chosen.sessions = 1
    return chosen


def built() -> list[str]:
    """The executables of the benches, built as cargo builds benches."""
    # The packages of `.ci/build`'s benches, so that nothing compiles twice.
    apart = ["lock-scope", "quotes", "small-writes", "lab-load", "case-probe"]
    build = ["cargo", "bench", "--workspace", *(word for it in apart for word in ("--exclude", it)),
             "--features", "benches/replications", *(word for it in BENCHES for word in ("--bench", it)), "--no-run",
             "--message-format", "json-render-diagnostics"]
    done = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    found = {it["target"]["name"]: it["executable"] for it in messages if it.get("reason") == "compiler-artifact"}
    if done.returncode or not all(it in found for it in BENCHES):
        raise Problem(f"cargo cannot build {' and '.join(BENCHES)}")
    return [found[it] for it in BENCHES]


def zenbench() -> str:
    """The executable of the bench for zenbench, which is no package of the workspace."""
    home = TARGET / "lab" / "unchanged"
    home.mkdir(parents=True, exist_ok=True)
    paths = {"case-server": "crates/support/case-server", "hot-clone": "crates/hot-clone"}
    needs = "\n".join(f'{name} = {{ path = "{ROOT / path}" }}' for name, path in paths.items())
    (home / "Cargo.toml").write_text(
        f'[workspace]\n\n[package]\nname = "unchanged-zenbench"\nversion = "0.0.0"\nedition = "2024"\n\n'
        f'[[bin]]\nname = "unchanged-zenbench"\npath = "{HERE / "zenbench.rs"}"\n\n'
        f'[dependencies]\n{needs}\ntokio = {{ version = "1", features = ["rt"] }}\n'
        f'zenbench = {{ version = "={ZENBENCH}", default-features = false }}\n')
    build = ["cargo", "build", "--release", "--quiet", "--manifest-path", str(home / "Cargo.toml")]
    compile_quietly("building the bench for zenbench", [build], {"CARGO_TARGET_DIR": str(home / "target")})
    return str(home / "target/release/unchanged-zenbench")


def rounds(effect: float) -> str:
    return str(round(ROUNDS * (1 + effect)))


def output(words: list[str], **environment: str) -> str:
    done = subprocess.run(words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LONGEST)
    if done.returncode not in (0, 1, 3):
        raise Problem(f"{words[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


@dataclass(frozen=True)
class Bench:
    """A bench of Criterion's, with each share of more work."""
    name: str
    benchmark: str
    # The variables and the executable.
    side: Callable[[float], tuple[dict[str, str], str]]
    # Those of the same work for other libraries; none for a bench that isn't ours.
    tango: str = ""
    zenbench: str = ""


def by_criterion(bench: Bench, effect: float, _: str) -> bool:
    """Whether the report of `--baseline` says that the performance has changed."""
    with tempfile.TemporaryDirectory() as home:
        for share, flag in ((0, "--save-baseline"), (effect, "--baseline")):
            variables, program = bench.side(share)
            words = [program, "--bench", "--noplot", bench.benchmark, flag, "old"]
            said = output(words, CRITERION_HOME=home, **variables)
    verdicts = re.findall(
        r"Performance has (?:improved|regressed)|Change within noise threshold|No change in performance", said)
    if len(verdicts) != 1:
        raise Problem(f"the report of Criterion cannot be read: {said[-300:]}")
    return verdicts[0].startswith("Performance has")


def by_tango(bench: Bench, effect: float, _: str) -> bool:
    """Whether tango marks the difference as significant after a second, the time that it promises 1 % in."""
    with tempfile.TemporaryDirectory() as here:
        # It compares two executables. The older one is the same with other work.
        old = Path(here, "old")
        old.write_text(f'#!/bin/sh\nROUNDS={rounds(0)} exec {shlex.quote(bench.tango)} "$@"\n')
        old.chmod(0o755)
        said = output([bench.tango, "--color", "never", "compare", str(old), "-t", "1", "-f", bench.benchmark],
                      ROUNDS=rounds(effect))
    verdicts = re.findall(r"[+-][\d.]+%(\*?)\s*$", said, re.MULTILINE)
    if len(verdicts) != 1:
        raise Problem(f"the report of tango cannot be read: {said[-300:]}")
    return verdicts[0] == "*"


def by_zenbench(bench: Bench, effect: float, _: str) -> bool:
    """Whether zenbench calls it significant. It compares two functions of one process, so the two have the same code at
    the same addresses, and nothing of a second process."""
    said = output([bench.zenbench], VARIANT=bench.benchmark, OLD_ROUNDS=rounds(0), ROUNDS=rounds(effect))
    verdicts = re.findall(r"^significant=(true|false) ", said, re.MULTILINE)
    if len(verdicts) != 1:
        raise Problem(f"the report of zenbench cannot be read: {said[-300:]}")
    return verdicts[0] == "true"


def by_lab(bench: Bench, effect: float, bin_dir: str) -> bool:
    """Whether `lab` calls it faster or slower, also by less than its smallest effect."""
    flags = "--bench --noplot --sample-size=10 --nresamples=1000 --warm-up-time=0.02 --measurement-time=0.05"
    sides = []
    for share in (0, effect):
        variables, program = bench.side(share)
        words = [*(f"{name}={value}" for name, value in variables.items()), program, *flags.split(), bench.benchmark]
        sides.append(f"--bench-command={shlex.join(words)}")
    with tempfile.TemporaryDirectory() as here:
        words = command(bin_dir, "compare", *sides, f"--minimum-effect={MINIMUM}", "--json")
        words[0] = str(Path(words[0]).resolve())
        done = subprocess.run(words, cwd=here, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=LONGEST)
    if done.returncode not in (0, 1, 3):
        raise Problem(f"lab failed: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)["verdict"] not in ("undecided", "equivalent")


TOOLS = {"Criterion --baseline": by_criterion, "tango": by_tango, "zenbench": by_zenbench, "lab compare": by_lab}
# What can run a bench that was written for Criterion.
OF_CRITERION = ["Criterion --baseline", "lab compare"]


@contextlib.contextmanager
def neighbour(is_there: bool) -> Iterator[None]:
    """A process that takes a core for some seconds, again and again."""
    if not is_there:
        yield
        return
    work, rest = NEIGHBOUR
    code = f"import time\nwhile True:\n end = time.time() + {work}\n while time.time() < end: pass\n time.sleep({rest})"
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        child.kill()
        child.wait()


def instructions(bench: str, variant: str) -> dict[str, int] | None:
    """Those of the bench in Criterion's test mode, a request, with each amount of work; `None` without Valgrind."""
    found = {}
    for effect in EFFECTS:
        with tempfile.TemporaryDirectory() as home:
            words = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={home}/out", bench,
                     "--test", variant]
            try:
                done = subprocess.run(words, env={**os.environ, "ROUNDS": rounds(effect)}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
            except OSError:
                return None
        # Criterion asks for gnuplot, in a process that is counted, too.
        counts = [int(it.replace(",", "")) for it in re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr)]
        if not counts:
            return None
        found[rounds(effect)] = max(counts)
    return found


def benches(variant: str) -> list[Bench]:
    """Ours, and those of others."""
    criterion, tango = built()
    ours = Bench("ours", variant, lambda effect: ({"ROUNDS": rounds(effect)}, criterion), tango, zenbench())
    found = [ours]
    for crate in others.CRATES:
        programs = others.executables(crate, EFFECTS)
        found.append(Bench(f"{crate.name} {crate.version}", crate.benchmark,
                           lambda effect, programs=programs: ({}, programs[effect])))
    return found


def trial(bench: Bench, sessions: int, bin_dir: str) -> Iterator[dict]:
    """Comparisons of each kind, in random order within a session: alone, and one of ours next to a neighbour, too."""
    order = random.Random(1)
    tools = TOOLS if bench.tango else OF_CRITERION
    for is_there in (False, True) if bench.tango else (False,):
        with neighbour(is_there):
            for nth in range(sessions):
                kinds = [(tool, effect) for tool in tools for effect in EFFECTS]
                order.shuffle(kinds)
                say(f"{bench.name}, {'next to a neighbour' if is_there else 'alone'}: {nth + 1} of {sessions}")
                for tool, effect in kinds:
                    start = time.monotonic()
                    called = TOOLS[tool](bench, effect, bin_dir)
                    yield {"bench": bench.name, "tool": tool, "effect": effect, "neighbour": is_there,
                           "called": called, "seconds": round(time.monotonic() - start, 1)}


def called_changed(sessions: list[dict]) -> tuple[list[str], list[list[str]]]:
    head = ["bench", "tool", "alone: unchanged", "5 % more work", "15 %", "next to a neighbour: unchanged", "5 %",
            "15 %", "a comparison"]
    rows = []
    for bench, tool in itertools.product(dict.fromkeys(it["bench"] for it in sessions), TOOLS):
        own = [it for it in sessions if (it["bench"], it["tool"]) == (bench, tool)]
        if not own:
            continue
        cells = []
        for is_there in (False, True):
            for effect in EFFECTS:
                of = [it["called"] for it in own if (it["effect"], it["neighbour"]) == (effect, is_there)]
                cells.append(f"{sum(of)} of {len(of)}" if of else "")
        rows.append([bench, tool, *cells, f"{number(sum(it['seconds'] for it in own) / len(own), 0)} s"])
    return head, rows


def main():
    chosen = options()
    compared = benches(chosen.variant)
    counted = instructions(compared[0].side(0)[1], chosen.variant)
    begin = time.monotonic()
    sessions = []
    for bench in compared:
        # Those of others show whether what holds for ours holds for them, too.
        count = chosen.sessions if bench.tango else (chosen.sessions + 1) // 2
        sessions.extend(trial(bench, count, chosen.bin_dir))
    head, rows = called_changed(sessions)
    print(table(head, rows))
    if counted:
        base = counted[rounds(0)]
        print("instructions, with what the bench does once: "
              + ", ".join(f"{count / base - 1:+.1%}" for count in counted.values()))
    record = {"variant": chosen.variant, "minimum_effect": MINIMUM / 100, "neighbour_s": NEIGHBOUR,
              "minutes": round((time.monotonic() - begin) / 60), "instructions": counted, "sessions": sessions}
    save("unchanged", record, chosen, ["valgrind"], called_changed=(head, rows))
