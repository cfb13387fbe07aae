#!/usr/bin/env python3
"""Looks for flags that a page names in a command of `lab`, or of `just` with the same verb, and that the program doesn't
have. Needs `lab` as `.ci/build workspace` makes it.
"""

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"```(?:sh|console|bash)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"\s*(?:\$ )?(?:lab|just) (\w[\w-]*)(.*)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def target():
    described = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version=1"], cwd=ROOT, check=True,
                               capture_output=True, text=True)
    return Path(json.loads(described.stdout)["target_directory"])


@functools.cache
def known(verb):
    """The flags of a verb; `None` for a recipe that is no verb."""
    shown = subprocess.run([target() / "release/lab", verb, "--help"], capture_output=True, text=True)
    return set(FLAG.findall(shown.stdout)) if shown.returncode == 0 else None


def named(page):
    """Each flag of a page, with its verb."""
    for block in BLOCK.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            if match := COMMAND.match(line.split(" #")[0]):
                for flag in FLAG.findall(QUOTED.sub("", match[2])):
                    yield match[1], flag


def main():
    pages = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted(ROOT.glob("docs/**/src/**/*.md"))]
    flags, faults = 0, 0
    for page in filter(Path.exists, pages):
        for verb, flag in named(page):
            if known(verb) is None:
                continue
            flags += 1
            if flag not in known(verb):
                faults += 1
                print(f"error: {page.relative_to(ROOT)}: `lab {verb}` has no {flag}", file=sys.stderr)
    print(f"{flags - faults} of {flags} flags on the pages are known")
    return 1 if faults or not flags else 0


if __name__ == "__main__":
    sys.exit(main())
