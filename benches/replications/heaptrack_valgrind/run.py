"""Counts what a visit costs under heaptrack, DHAT or cachegrind: `just replicate heaptrack CASE`.

A tool counts a whole run of a server. So each server runs twice, with few and with many visits, and the difference of
the two counts is divided by the difference of the visits: starting and stopping cancels out.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from harness import TARGET, Problem, report
from harness.lab import case, serving
from harness.tools import require

# The signal that ends the server must not end its tool, which then writes its file.
UNDER = ["env", "--ignore-signal=TERM"]
# The functions of glibc's allocator, as cachegrind names them: `_int_malloc`, `unlink_chunk.constprop.0`.
ALLOCATOR = (r"(_int_|_mid_)?(malloc|free|realloc|calloc|memalign)\b|"
             r"(cfree|malloc_consolidate|unlink_chunk|sysmalloc|systrim)\b")
# What opendir() of glibc allocates, as DHAT shows. Heaptrack's stacks have no sizes.
DIRECTORY = 32_816


def read_heaptrack(file):
    """The summary that heaptrack_print prints is rounded. The histogram of sizes and the stacks are not."""
    histogram, stacks = file.with_suffix(".histogram"), file.with_suffix(".stacks")
    command = ["heaptrack_print", "--file", file, "--print-histogram", histogram]
    command += ["--print-flamegraph", stacks, "--flamegraph-cost-type", "allocations"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode or not (histogram.exists() and stacks.exists()):
        raise Problem(f"heaptrack_print cannot read {file.name}: {done.stderr.strip()[-200:]}")
    return parse_heaptrack(histogram.read_text(), stacks.read_text())


def parse_heaptrack(histogram, stacks):
    sizes = [tuple(map(int, line.split())) for line in histogram.splitlines()]
    opendir = sum(int(line.rpartition(" ")[2]) for line in stacks.splitlines() if "opendir" in line)
    return {
        "allocations": sum(count for _, count in sizes),
        "bytes": sum(size * count for size, count in sizes),
        "opendir": {"allocations": opendir, "bytes": opendir * DIRECTORY},
    }


def parse_dhat(text):
    data = json.loads(text)

    def total(points):
        return {"allocations": sum(point["tbk"] for point in points), "bytes": sum(point["tb"] for point in points)}

    opendir = {index for index, frame in enumerate(data["ftbl"]) if re.search(r"\bopendir\b", frame)}
    return {**total(data["pps"]), "opendir": total([point for point in data["pps"] if opendir & set(point["fs"])])}


def parse_cachegrind(text):
    """Instructions in all, in the allocator, and by function and source file."""
    functions = Counter()
    for line in text.splitlines():
        if line.startswith("fl="):
            source = Path(line[3:]).name
        elif line.startswith("fn="):
            function = line[3:]
        elif line[:1].isdigit():
            # The line of the source, then the instructions of this function there.
            functions[function, source] += int(line.split()[1])
    allocator = sum(count for (function, _), count in functions.items() if re.match(ALLOCATOR, function))
    named = {f"{function} ({source})" if source != "???" else function: count for (function, source),
             count in functions.items()}
    return {"instructions": sum(functions.values()), "allocator": allocator, "functions": named}


@dataclass
class Tool:
    """How a tool runs a server, how its file is read, and how to open the file."""

    program: str
    under: object
    read: object
    viewer: str


TOOLS = {
    "heaptrack": Tool("heaptrack", lambda file: ["heaptrack", "-o", file], read_heaptrack,
                      "heaptrack --analyze {file}"),
    "dhat": Tool("valgrind", lambda file: ["valgrind", "--tool=dhat", f"--dhat-out-file={file}.dhat"],
                 lambda file: parse_dhat(file.read_text()),
                 "/usr/libexec/valgrind/dh_view.html in a browser, and load {file}"),
    "cachegrind": Tool("valgrind",
        lambda file: ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={file}.cachegrind"],
                       lambda file: parse_cachegrind(file.read_text()), "cg_annotate {file}"),
}


def options():
    # The tool is the first argument: `just replicate heaptrack CASE`.
    parser = argparse.ArgumentParser(prog="just replicate", description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("case", help="name or alias of a case")
    report.add_options(parser, "one visit of slow and fixed")
    return parser.parse_args()


def count(tool: Tool, server: str, visits: int, bin_dir: str, keep: Path) -> tuple[dict, Path]:
    """What the tool counts in a whole run with so many visits, and the path of its file, which goes to `keep`."""
    with tempfile.TemporaryDirectory() as directory:
        under = shlex.join([*UNDER, *tool.under(f"{directory}/{server}")])
        with serving(bin_dir, server, "--counted", "--under", under) as session:
            session.ask(visits=visits)
        # Heaptrack takes the best compressor that it finds, so only it knows how its file is called.
        file = next(Path(directory).iterdir(), None)
        if file is None:
            raise Problem(f"{tool.program} wrote no file about {server}")
        counts = tool.read(file)
        keep.mkdir(parents=True, exist_ok=True)
        return counts, shutil.move(file, keep / file.name)


def per_visit(first, second, visits):
    """What one visit adds to each count. Of the functions, only those with at least 1 % of the instructions."""
    added = {name: per_visit(first.get(name, {}), count, visits) if isinstance(count, dict)
             else (count - first.get(name, 0)) / visits
             for name, count in second.items()}
    if "functions" in added:
        most = sorted(added["functions"].items(), key=lambda item: -item[1])
        added["functions"] = {name: count for name, count in most if count >= added["instructions"] / 100}
    return added


def allocation_table(rows, tool):
    head = ["", "allocations", "our count", "ratio", "bytes", "our count", "ratio"]
    cells = []
    for variant, row in rows.items():
        cells.append([variant])
        for name in ("allocations", "bytes"):
            cells[-1] += [f"{row['per_visit'][name]:,.1f}", f"{row['exact'][name]:,}", f"{row['ratio'][name]:.4f}"]
    notes = [f"a visit, under {tool} and as in counts.toml, which is the median visit under our own counting allocator"]
    for variant, row in rows.items():
        opendir = row["per_visit"]["opendir"]
        if opendir["allocations"] >= 1:
            without = [f"{(row['per_visit'][name] - opendir[name]) / row['exact'][name]:.4f}"
                       for name in ("allocations", "bytes")]
            notes.append(
                f"{variant}: {opendir['allocations']:.0f} allocations and {opendir['bytes']:,.0f} bytes are opendir() "
                f"of the C library, "
                f"which an allocator for Rust code does not see; the ratios without them: {' and '.join(without)}"
            )
    return (head, cells), notes


def instruction_table(rows):
    head = ["", "instructions", "of them in the allocator", "share", "slow / this"]
    slow = rows["slow"]["per_visit"]["instructions"]
    cells = [
        [variant, *(f"{count[name]:,.0f}" for name in ("instructions", "allocator")),
         f"{100 * count['allocator'] / count['instructions']:.0f} %",
         f"{slow / count['instructions']:.2f}"]
        for variant, count in ((variant, row["per_visit"]) for variant, row in rows.items())
    ]
    return (head, cells), ["a visit; instructions are not time, and those of the kernel are not counted"]


def main():
    chosen = options()
    tool, name = TOOLS[chosen.tool], chosen.tool
    about = case(chosen.case, bin_dir=chosen.bin_dir)
    requests, exact = len(about["counted_requests"]), about["counts"]
    require(tool.program)
    # The first visit sets up what the later ones use.
    few, many = 2, 3 if chosen.short else 2 + max(4, 20 // requests)
    keep = TARGET / "lab" / "replications" / f"{name}-{about['case']}"
    rows = {}
    for variant in ["slow", "fixed"] if chosen.short else about["variants"]:
        report.say(f"{about['case']}-{variant}: {few} and then {many} visits under {name}")
        runs, files = zip(*(count(tool, f"{about['case']}-{variant}", visits, chosen.bin_dir, keep)
                            for visits in (few, many)))
        rows[variant] = {"per_visit": per_visit(*runs, many - few), "file": os.path.relpath(files[1], TARGET)}
        if "allocations" in runs[0]:
            rows[variant]["exact"] = {name: exact[variant][name] for name in ("allocations", "bytes")}
            rows[variant]["ratio"] = {name: rows[variant]["per_visit"][name] / count for name,
                                      count in rows[variant]["exact"].items()}

    table, notes = instruction_table(rows) if name == "cachegrind" else allocation_table(rows, name)
    if requests > 1:
        notes.append(f"a visit is {requests} requests")
    tolerance = about["tolerance_percent"]
    if tolerance and name != "cachegrind":
        notes.append(f"these counts vary from run to run: `lab count` accepts {tolerance.get('bytes', 1)} % for bytes; "
                     f"see docs/src/counts.md")
    if chosen.short:
        notes.append(report.SHORT)
    print(f"{about['case']} under {name}, {many} visits minus {few}\n\n{report.table(*table)}")
    print("".join(f"\nnote: {note}" for note in notes))
    print(f"\nlook at a whole run: {tool.viewer.format(file=os.path.relpath(TARGET / rows['slow']['file']))}")
    record = {"visits": [few, many], "rows": rows, "notes": notes}
    report.save(f"{name}-{about['case']}", record, chosen, [tool.program], counts=table)
    return 0
