"""Measures a find of 10,000 documents with four versions of MongoDB's driver: `just replicate mongodb`.

The article made the `mongodb` crate faster in two releases: 2.0.0-beta.2 removed a clone of the answer, 2.0.0-beta.3 an
intermediate document. Each version is a package with a Cargo.lock of its own; all share src/. Those of the two later
betas are copies of beta-1 in which only two versions differ, so cargo keeps all others that its lock file has.

A full run takes four minutes, and before the first one cargo builds about 500 crates.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from harness import TARGET, Problem, engines
from harness.processes import output_of, started, wait_for_url
from harness.report import SHORT, add_options, in_turn, number, percent, ratio, save, say, span, spread, table
from harness.tools import require
from protocol import used_by_children

HERE = Path(__file__).resolve().parent
OUT = TARGET / "replications"
CRITERION = OUT / "criterion"
PACKAGES = ["beta-1", "beta-2", "beta-3", "today"]
COPIED = ["beta-2", "beta-3"]
BEFORE, AFTER = "beta-1", "beta-3"
# The article's Criterion compared each step with the one before, and its report the last with the first.
CHANGES = [("beta-2", "beta-1"), ("beta-3", "beta-2"), ("today", "beta-3"), (AFTER, BEFORE)]
ARTICLE = {
    "find_ms": {"beta-1": 55.663, "beta-2": 47.843, "beta-3": 30.719},
    "change": {"beta-2/beta-1": -0.1476, "beta-3/beta-2": -0.35791},
    "req_per_s": {"beta-1": 12168.39, "beta-3": 23964.39},
    # 205.45 MB in 122,890 answers, and 404.63 MB in 242,033.
    "response_bytes": 1753,
}
WRK = ["-t8", "-c100"]
WARM_UP = 5  # finds of `find` before it measures
# glibc then keeps freed memory instead of returning it to the system at once.
NO_TRIM = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_TOP_PAD_": str(2**26), "MALLOC_MMAP_THRESHOLD_": str(2**25)}


def options():
    parser = argparse.ArgumentParser(prog="just replicate mongodb", description=__doc__)
    add_options(parser, "about 20 s if everything is built")
    return parser.parse_args()


def manifest(package):
    """What is in a package's Cargo.toml."""
    if package not in COPIED:
        return (HERE / package / "Cargo.toml").read_text()
    text = manifest("beta-1").replace("beta-1", package).replace("beta.1", package.replace("-", "."))
    return text.replace("../src", str(HERE / "src"))


def driver(package):
    """The version of the driver that a package pins."""
    return re.search(r'^mongodb = .*"=(.+?)"', manifest(package), re.MULTILINE).group(1)


def directory_of(package):
    if package not in COPIED:
        return HERE / package
    place, text = OUT / package, manifest(package)
    copy = place / "Cargo.toml"
    if not copy.exists() or copy.read_text() != text:
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "beta-1" / "Cargo.lock", place)
        copy.write_text(text)
    return place


def build(cargo, package):
    """The paths of a package's program and of its bench."""
    locked = [] if package in COPIED else ["--locked"]
    command = [cargo, "build", *locked, "--release", "--bins", "--benches", "--message-format",
               "json-render-diagnostics"]
    # The betas are older than rules that Rust will enforce one day.
    command += ["--config", "future-incompat-report.frequency='never'"]
    done = subprocess.run([*command, "--manifest-path", directory_of(package) / "Cargo.toml", "--target-dir", OUT],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Problem(f"cargo did not build find-{package}; its message is above")
    artifacts = [json.loads(line) for line in done.stdout.splitlines()]
    # Among others, a build script is an executable too.
    programs = {it["target"]["kind"][0]: it["executable"] for it in artifacts if it.get("executable")}
    return programs["bin"], programs["bench"]


def fetch_server(mvn):
    """The directory with the MongoDB server's jars."""
    jars, pom = OUT / "mongo-java-server", HERE / "pom.xml"
    fetched = jars / "pom.xml"
    if not fetched.exists() or fetched.read_text() != pom.read_text():
        say("fetching mongo-java-server")
        shutil.rmtree(jars, ignore_errors=True)
        done = subprocess.run([mvn, "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={jars}"],
                              stdout=sys.stderr)
        if done.returncode:
            raise Problem("Maven did not fetch mongo-java-server; its message is above")
        shutil.copy(pom, fetched)
    return jars


def measure_find(package, program, count, server, url, scratch, env=None):
    """What one find costs, in milliseconds."""
    before = server.cpu_seconds()
    result = json.loads(output_of(f"find-{package}", [program, "find", url, str(count)], scratch, [server], env=env))
    result["server_cpu_ms"] = None if before is None else 1000 * (server.cpu_seconds() - before) / (count + WARM_UP)
    return result


def criterion(benches, short, server, url, scratch):
    """Criterion's estimates in milliseconds, and its verdicts on the changes. CRITERION has its last report."""
    shutil.rmtree(CRITERION, ignore_errors=True)
    env = {"CRITERION_HOME": str(CRITERION), "MONGODB_URL": url}
    # Criterion's own 100,000 resamples take longer than the finds, and change no digit that matters.
    settings = ["--nresamples", "10000",
                *(["--warm-up-time", "0.3", "--measurement-time", "0.3", "--sample-size", "10"] if short else [])]

    def estimate(*path):
        mean = json.loads(CRITERION.joinpath("find", *path, "estimates.json").read_text())["mean"]
        interval = mean["confidence_interval"]
        return mean["point_estimate"], interval["lower_bound"], interval["upper_bound"]

    times, changes = {}, {}
    for package, bench in benches.items():
        say(f"Criterion: {driver(package)}")
        output_of(f"bench-{package}", [bench, "--bench", "--save-baseline", package, *settings], scratch, [server],
                  env=env)
        times[package] = dict(zip(("ms", "low", "high"), (value / 1e6 for value in estimate(package))))
    for new, old in CHANGES:
        # Only compares two saved measurements, and writes the report.
        said = output_of("compare", [benches[new], "--bench", "--load-baseline", new, "--baseline", old, *settings],
                         scratch, [server], env=env)
        verdict = re.search(r"(Performance has \w+|Change within noise threshold|No change in performance detected)",
                            said).group(1)
        changes[f"{new}/{old}"] = dict(zip(("change", "low", "high"), estimate("change")), verdict=verdict)
    return times, changes


def check_answer(url):
    """Asks a web server once, because wrk sees no more of an answer than its status."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            body = answer.read()
            # wrk keeps its connections open, so its answers lack this header.
            headers = [f"{key}: {value}" for key, value in answer.headers.items() if key != "connection"]
            size = len("\r\n".join(["HTTP/1.1 200 OK", *headers, "", ""])) + len(body)
    except urllib.error.HTTPError as error:
        raise Problem(f"{url}: status {error.code}: {error.read().decode()}") from error
    except OSError as error:
        raise Problem(f"{url}: no answer: {error}") from error
    documents = [{key: value for key, value in document.items() if key != "_id"} for document in json.loads(body)]
    if documents != 16 * [{"hello": "world", "anotherKey": "anotherValue", "number": 1234}]:
        raise Problem(f"{url}: wrong answer: {body[:60]!r}")
    return size


def measure_web(wrk, seconds, web, url, mongo, scratch):
    """One run of wrk, with the CPU time of all three in cores."""
    children, before = used_by_children(), [server.cpu_seconds() for server in (web, mongo)]
    command = [wrk, *WRK, f"-d{seconds}s", "--latency", "--timeout", "60s", url]
    result = engines.parsed("wrk", output_of("wrk", command, scratch, [web, mongo]))
    if result["failed"]:
        raise Problem(f"{web.name}: {result['failed']} requests failed")
    result["wrk_cores"] = (used_by_children() - children) / seconds
    for name, server, start in zip(("web_cores", "mongo_cores"), (web, mongo), before):
        result[name] = None if start is None else (server.cpu_seconds() - start) / seconds
    result["web_cpu_us"] = None if result["web_cores"] is None else 1e6 * result["web_cores"] / result["req_per_s"]
    return result


def alternate(rounds, choices, measure):
    """Measures the choices in turn; each round begins with another one."""
    runs = {choice: [] for choice in choices}
    for turn in range(rounds):
        say(f"  round {turn + 1} of {rounds}")
        for choice in in_turn(choices, turn):
            runs[choice].append(measure(choice))
    return runs


def column(runs, key):
    return [run[key] for run in runs if run[key] is not None]


def summary(runs):
    """The median, lowest and highest of every figure of the rounds."""
    return {key: spread(column(runs, key)) for key in runs[0] if column(runs, key)}


def middle(it, key, digits=1):
    return number(it[key]["median"] if key in it else None, digits)


def measure(programs, benches, java, jars, wrk, short):
    """All runs: of find with and without heap trimming, of Criterion, and of wrk; and the bytes of one response."""
    rounds, count, turns, seconds = effort(short)
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as stack:
        scratch = Path(directory)
        # `java` compiles the one class in memory.
        command = [java, "-Xmx1g", "-Dslf4j.internal.verbosity=ERROR", "-cp", f"{jars}/*", str(HERE / "Server.java")]
        mongo = stack.enter_context(started("mongo-java-server", command, scratch))
        url = wait_for_url(mongo)
        output_of("seed", [programs["today"], "seed", url], scratch, [mongo])

        def find(package, trim):
            return measure_find(package, programs[package], count, mongo, url, scratch, None if trim else NO_TRIM)

        say("find of 10,000 documents")
        for package in PACKAGES:
            # The first finds make Java compile the server's hot path.
            measure_find(package, programs[package], 2 * count, mongo, url, scratch)
        finds = alternate(rounds, [(package, trim) for package in PACKAGES for trim in (True, False)],
                          lambda it: find(*it))
        times, changes = criterion(benches, short, mongo, url, scratch)

        say("web servers, a find of 16 documents per request")
        webs = {}
        for package in PACKAGES:
            web = stack.enter_context(started(f"web-{package}", [programs[package], "serve", url], scratch))
            webs[package] = web, wait_for_url(web)
            size = check_answer(webs[package][1])
            if not short:
                measure_web(wrk, 3, *webs[package], mongo, scratch)
        loads = alternate(turns, PACKAGES, lambda package: measure_web(wrk, seconds, *webs[package], mongo, scratch))
        for _, address in webs.values():
            check_answer(address)
    return {
        "find": {package: finds[package, True] for package in PACKAGES},
        "find_no_trim": {package: finds[package, False] for package in PACKAGES},
        "web": loads,
    }, {"criterion": times, "changes": changes, "response_bytes": size}


def evaluate(runs):
    """The medians of all rounds, and the ratios of the versions round by round."""

    def compared(kind, key, over, under):
        figures = [column(runs[kind][package], key) for package in (over, under)]
        return ratio(*figures) if all(figures) else None

    results = {kind: {package: summary(rounds) for package, rounds in by.items()} for kind, by in runs.items()}
    for it in results["find"].values():
        if "server_cpu_ms" in it:
            own = it["server_cpu_ms"]["median"]
            it["server_share"] = own / (own + it["client_cpu_ms"]["median"])
    ratios = {
        "find": {f"{BEFORE}/{it}": {key: compared("find", key, BEFORE, it) for key in ("ms", "client_cpu_ms")}
                 for it in PACKAGES[1:]},
        "find_no_trim": {f"{BEFORE}/{AFTER}": {key: compared("find_no_trim", key, BEFORE, AFTER)
                                               for key in ("ms", "client_cpu_ms")}},
        "web": {"req_per_s": compared("web", "req_per_s", AFTER, BEFORE),
                "web_cpu_us": compared("web", "web_cpu_us", BEFORE, AFTER)},
    }
    return {**results, "ratios": ratios}


def show(record):
    """The three parts as tables, each with the article's figures."""
    drivers, article, web = record["drivers"], record["article"], record["ratios"]["web"]

    def pair(text):
        return " / ".join(drivers[package] for package in text.split("/"))

    def share(it, key):
        return percent(it[key]["median"] if key in it else None)

    tables = {}
    print(f"\nfind of 10,000 documents; rounds {record['rounds']}, finds {record['finds']}, medians; no trim: without "
          f"glibc's heap trimming\n")
    tables["find"] = ["driver", "article ms", "ms", "client CPU", "server CPU", "server's share", "page faults",
                      "CPU, no trim"], [
        [drivers[package], number(article["find_ms"].get(package)), middle(it, "ms"), middle(it, "client_cpu_ms"),
         middle(it, "server_cpu_ms"),
         percent(it.get("server_share")), middle(it, "page_faults", 0), middle(record["find_no_trim"][package],
                                                                               "client_cpu_ms")]
        for package, it in record["find"].items()
    ]
    print(table(*tables["find"]))
    rows = []
    for kind, label in (("find", ""), ("find_no_trim", ", no trim")):
        for names, it in record["ratios"][kind].items():
            own, other = (article["find_ms"].get(package) for package in names.split("/"))
            rows.append([pair(names) + label, number(other and own / other, 2), span(it["ms"]),
                         span(it["client_cpu_ms"])])
    tables["ratios"] = ["ratio (lowest to highest round)", "article", "time", "client CPU"], rows
    print("\n" + table(*tables["ratios"]))

    print("\nCriterion's verdict on each change\n")
    was = {names: f"{100 * change:+.1f} %" for names, change in article["change"].items()}
    tables["changes"] = ["change", "article", "ours", "Criterion's verdict"], [
        [pair(names), was.get(names, "-"), f"{100 * it['change']:+.1f} %",
         it["verdict"]] for names, it in record["changes"].items()
    ]
    print(table(*tables["changes"]))

    print(f"\nwrk {' '.join(record['wrk'])}, a find of 16 documents per request; rounds {record['web_rounds']}, "
          f"medians; CPU of one core\n")
    tables["web"] = ["driver", "article req/s", "req/s", "wrk CPU", "web CPU", "MongoDB CPU", "web CPU a request"], [
        [drivers[package], number(article["req_per_s"].get(package)), middle(it, "req_per_s"),
         *(share(it, key) for key in ("wrk_cores", "web_cores", "mongo_cores")), f"{middle(it, 'web_cpu_us', 0)} us"]
        for package, it in record["web"].items()
    ]
    print(table(*tables["web"]))
    tables["web_ratios"] = ["ratio (lowest to highest round)", "article", "ours"], [
        ["req/s, " + pair(f"{AFTER}/{BEFORE}"), number(article["req_per_s"][AFTER] / article["req_per_s"][BEFORE], 2),
         span(web["req_per_s"])],
        *([["web CPU a request, " + pair(f"{BEFORE}/{AFTER}"), "-", span(web["web_cpu_us"])]] if web["web_cpu_us"]
          else []),
    ]
    print("\n" + table(*tables["web_ratios"]))
    print("".join(f"\nnote: {note}" for note in record["notes"]))
    return tables


def effort(short):
    """Rounds of find, finds in each, rounds of wrk, and seconds of each."""
    return (1, 3, 1, 1) if short else (5, 20, 3, 10)


def main():
    chosen = options()
    cargo, wrk, mvn, javac = require("cargo", "wrk", "mvn", "javac")
    rounds, count, turns, seconds = effort(chosen.short)
    drivers = {package: driver(package) for package in PACKAGES}
    programs, benches = {}, {}
    for package in PACKAGES:
        say(f"building find-{package}: mongodb {drivers[package]}")
        programs[package], benches[package] = build(cargo, package)
    jars = fetch_server(mvn)
    server = re.search(r"<artifactId>(mongo-java-server)</artifactId>\s*<version>(.+)<",
                       (HERE / "pom.xml").read_text()).groups()

    runs, others = measure(programs, benches, str(Path(javac).with_name("java")), jars, wrk, chosen.short)
    notes = [
        f"16 documents make a response of {others['response_bytes']:,} bytes; the article's had "
        f"{ARTICLE['response_bytes']:,}",
        "Criterion measures the versions one after the other; the ratios alternate, so trust them more",
        *([SHORT] if chosen.short else []),
    ]
    record = {
        "article": ARTICLE, "drivers": drivers, "server": " ".join(server), "rounds": rounds, "finds": count,
        "wrk": [*WRK, f"-d{seconds}s"], "web_rounds": turns, **evaluate(runs), **others, "runs": runs, "notes": notes,
    }
    tables = show(record)
    report = CRITERION / "find" / "report"
    if not (report / "index.html").is_file():
        raise Problem(f"Criterion wrote no report to {report}")
    path = save("replicate-mongodb", record, chosen, ["javac", "wrk", "cargo"], **tables)
    if not chosen.short:
        kept = path.parent / "mongodb-report"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(report, kept)
        print(f"Criterion's report on {drivers[AFTER]} against {drivers[BEFORE]}: {os.path.relpath(kept)}/index.html")
    return 0
