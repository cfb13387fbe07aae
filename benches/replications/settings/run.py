"""What do the settings do that everybody recommends? Builds or starts the fixed server of each CASE with one setting
changed, and compares it by `lab compare` with the server as cargo builds it: `just settings CASE`. What memory does
later, `just replicate memory` shows.
"""

import argparse
import os
import resource
import shlex
import shutil
import subprocess
from pathlib import Path

from harness import ROOT, TARGET, Problem
from harness.compare import compare, interval, library
from harness.lab import case
from harness.report import add_options, number, save, say, table

CASES = ["double-parse", "query-per-row", "hot-clone"]
AS_IT_IS = "as-it-is"
# Variables of the server. In braces, a library of the system.
STARTS = {
    "2-arenas": "MALLOC_ARENA_MAX=2",
    "jemalloc": "LD_PRELOAD={libjemalloc.so.2}",
    "mimalloc": "LD_PRELOAD={libmimalloc.so.2}",
    "1-worker": "TOKIO_WORKER_THREADS=1",
    "2-workers": "TOKIO_WORKER_THREADS=2",
    "4-workers": "TOKIO_WORKER_THREADS=4",
}
# Settings of cargo for a build, and flags of rustc.
BUILDS = {
    AS_IT_IS: ([], ""),
    "opt-level-2": (["profile.release.opt-level=2"], ""),
    "opt-level-s": (["profile.release.opt-level='s'"], ""),
    "1-codegen-unit": (["profile.release.codegen-units=1"], ""),
    "panic-abort": (["profile.release.panic='abort'"], ""),
    "thin-lto": (["profile.release.lto='thin'"], ""),
    "fat-lto": (["profile.release.lto='fat'"], ""),
    "native-cpu": ([], "-C target-cpu=native"),
    "pgo": ([], "-C profile-use={profile}"),
}
# A session for each group: the candidates in it share one error rate.
GROUPS = [
    ["2-arenas", "jemalloc", "mimalloc"],
    ["1-worker", "2-workers", "4-workers"],
    ["opt-level-2", "opt-level-s", "1-codegen-unit", "panic-abort"],
    ["thin-lto", "fat-lto", "native-cpu", "pgo"],
]
PAIRS = ["--pairs=8", "--measurement=0.5", "--warm-up=0.4", "--open-loop=0"]
SETTINGS = [setting for group in GROUPS for setting in group]
HEAD = ["", "req/s", "CPU/req", "p99", "peak memory", "binary MiB", "build, CPU s"]


def options():
    parser = argparse.ArgumentParser(prog="just settings", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"cases whose servers need no other server [{' '.join(CASES)}]")
    parser.add_argument("--only", action="append", metavar="SETTING", choices=SETTINGS,
                        help=f"one of {', '.join(SETTINGS)}; repeat it for several")
    add_options(parser, "one setting of a start and one of a build, and quick runs")
    chosen = parser.parse_args()
    chosen.case = chosen.case or (CASES[:1] if chosen.short else CASES)
    chosen.only = chosen.only or (["2-arenas", "panic-abort"] if chosen.short else SETTINGS)
    return chosen


class Build:
    """The servers with one setting of cargo, in a target directory of their own, and the CPU time of the whole build."""

    def __init__(self, setting: str, servers: list[str], flags: str | None = None):
        settings, usual = BUILDS.get(setting, ([], ""))
        flags = f"{os.environ.get('RUSTFLAGS', '')} {usual if flags is None else flags}".strip()
        target = TARGET / "settings" / setting
        words = ["cargo", "build", "--release", "--workspace", "--quiet", "--target-dir", str(target)]
        words += [word for server in servers for word in ("--bin", server)]
        words += [word for it in settings for word in ("--config", it)]
        say(f"building: {setting}")
        shutil.rmtree(target, ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {**os.environ, "RUSTFLAGS": flags} if flags else None
        if subprocess.run(words, cwd=ROOT, env=environment).returncode:
            raise Problem(f"cargo cannot build {setting}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.servers = {server: target / "release" / server for server in servers}


def with_profile(cases: dict[str, dict], servers: list[str], chosen: argparse.Namespace) -> Build | None:
    """Builds with the profile of the servers under their cases' load; `None` without `llvm-profdata`."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, text=True).stdout.strip()
    # Debian has one for each version of LLVM.
    installed = sorted(Path("/usr/lib").glob("llvm-*/bin/llvm-profdata"), key=lambda it: int(it.parts[3][5:]))
    merge = next(Path(sysroot).rglob("llvm-profdata"), None) or next(reversed(installed), None)
    if not merge:
        say("skipped: pgo needs llvm-profdata: rustup component add llvm-tools")
        return None
    profiles = TARGET / "settings" / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    build = Build("pgo-generate", servers, f"-C profile-generate={profiles}")
    for name, about in cases.items():
        side = str(build.servers[f"{name}-fixed"])
        compare({"one": side, "other": side}, about["requests"], about["load"], chosen, "--quick")
    merged = profiles / "merged.profdata"
    found = [str(it) for it in profiles.glob("*.profraw")]
    if not found:
        raise Problem("the servers left no profile")
    if subprocess.run([str(merge), "merge", "-o", str(merged), *found]).returncode:
        say(f"skipped: pgo, because {merge} is older than the LLVM of rustc: rustup component add llvm-tools")
        return None
    return Build("pgo", servers, f"-C profile-use={merged}")


def of_case(name: str, about: dict, builds: dict[str, Build], chosen: argparse.Namespace) -> tuple[list, dict]:
    """The rows of a case, and what they are from."""
    server = f"{name}-fixed"
    plain = builds[AS_IT_IS].servers[server]

    def side(setting: str) -> str | None:
        build = builds.get(setting) if setting in BUILDS else builds[AS_IT_IS]
        start = library(STARTS.get(setting, ""))
        return build and start is not None and f"{start} {shlex.quote(str(build.servers[server]))}".strip()

    rows, kept = [], {}
    for group in GROUPS:
        sides = {setting: side(setting) for setting in group if setting in chosen.only}
        for missing in [setting for setting, side in sides.items() if not side]:
            say(f"skipped: {missing}, which this system lacks")
            del sides[missing]
        if not sides:
            continue
        say(f"{name}: {', '.join(sides)}")
        sides = {AS_IT_IS: str(plain), **sides}
        flags = ["--quick"] if chosen.short else PAIRS
        cases = compare(sides, about["requests"], about["load"], chosen, *flags)
        for found, setting in zip(cases, [it for it in sides if it != AS_IT_IS], strict=True):
            speedup, build = found["speedup"], builds.get(setting, builds[AS_IT_IS])
            size = build.servers[server].stat().st_size / 2**20
            metrics = ["throughput", "cpu_per_request", "latency_p99", "peak_memory"]
            rows.append([f"{name}, {setting}", *(interval(speedup.get(it)) for it in metrics), number(size),
                         number(build.cpu_s, 0)])
            kept[setting] = {"verdict": found["verdict"], "speedup": speedup, "control": found["control"],
                             "binary_mib": size, "build_cpu_s": build.cpu_s}
    return rows, kept


def speeds(kept: dict[str, dict]) -> tuple[list, list]:
    """A row for each setting, with the throughput of each case, the size of all servers and the time to build them."""
    rows = []
    for setting in SETTINGS:
        of_it = [of_case.get(setting) for of_case in kept.values()]
        if not any(of_it):
            continue
        found = [it for it in of_it if it]
        rows.append([setting, *(interval(it and it["speedup"]["throughput"]) for it in of_it),
                     number(sum(it["binary_mib"] for it in found)), number(found[0]["build_cpu_s"], 0)])
    return ["", *(f"{name}, req/s" for name in kept), "binaries, MiB", "build, CPU s"], rows


def main():
    chosen = options()
    cases = {name: case(name, "fixed", bin_dir=chosen.bin_dir) for name in chosen.case}
    servers = [f"{name}-fixed" for name in cases]
    builds = {}
    for setting in [AS_IT_IS, *(it for it in BUILDS if it in chosen.only)]:
        found = with_profile(cases, servers, chosen) if setting == "pgo" else Build(setting, servers)
        if found:
            builds[setting] = found
    rows, kept = [], {}
    for name, about in cases.items():
        of_it, kept[name] = of_case(name, about, builds, chosen)
        rows += of_it
    print(table(HEAD, rows), table(*speeds(kept)), sep="\n\n")
    save("settings", {"cases": kept}, chosen, [], settings=(HEAD, rows), speeds=speeds(kept))
