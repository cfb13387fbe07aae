#!/usr/bin/env python3
"""Writes a case that compiles and runs, and that `just lab verify` refuses until it is real: `just new-case NAME`; with
`--exercise`, an exercise.

In the templates, `NAME` and `SNAKE` stand for the case's name, and `VARIANT` for the last word of the file's name.
"""

import re
import sys
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent
ROOT = TEMPLATES.parent.parent
FILES = {
    "crates/NAME/Cargo.toml": "Cargo.toml",
    "crates/NAME/case.toml": "case.toml",
    "crates/NAME/src/lib.rs": "lib.rs",
    "crates/NAME/src/slow.rs": "variant.rs",
    "crates/NAME/src/fixed.rs": "variant.rs",
    "crates/NAME/src/bin/NAME-slow.rs": "bin.rs",
    "crates/NAME/src/bin/NAME-fixed.rs": "bin.rs",
    "crates/NAME/src/bin/NAME-mine.rs": "bin.rs",
    "crates/NAME/tests/same_answers.rs": "same_answers.rs",
    "crates/NAME/tests/mechanism.rs": "mechanism.rs",
    "benches/micro/SNAKE.rs": "bench.rs",
    "docs/src/cases/NAME.md": "chapter.md",
    "docs/src/cases/NAME-further.md": "further.md",
}
EXERCISE = {
    "crates/exercises/NAME/Cargo.toml": "exercise/Cargo.toml",
    "crates/exercises/NAME/case.toml": "exercise/case.toml",
    "crates/exercises/NAME/src/lib.rs": "exercise/lib.rs",
    "crates/exercises/NAME/src/slow.rs": "variant.rs",
    "crates/exercises/NAME/src/bin/NAME-slow.rs": "bin.rs",
    "crates/exercises/NAME/src/bin/NAME-fixed.rs": "bin.rs",
    "crates/exercises/NAME/src/bin/NAME-mine.rs": "bin.rs",
    "crates/exercises/NAME/tests/same_answers.rs": "same_answers.rs",
    "crates/exercises/solutions/NAME.rs": "variant.rs",
    "docs/src/exercises/NAME.md": "exercise/page.md",
}
# The lists that name every case: the file, a pattern of an entry, and the new entry.
SORTED = (
    ("Cargo.toml", r"^[a-z-]+ = \{ path = .*\n", 'NAME = { path = "crates/NAME" }\n'),
    ("benches/Cargo.toml", r"^(?!rust-version)[a-z0-9]+-[a-z-]+(\.| =).*\n", "NAME.workspace = true\n"),
    ("benches/Cargo.toml", r'^\[\[bench\]\]\nname = "\w+"\npath = "micro/\w+\.rs"\nharness = false\n\n',
     '[[bench]]\nname = "SNAKE"\npath = "micro/SNAKE.rs"\nharness = false\n\n'),
)
# These have the order of the course, where a new case is the last one.
COURSE = (
    ("Cargo.toml", r'^    "crates/[a-z-]+",\n', '    "crates/NAME",\n'),
    ("docs/src/SUMMARY.md", r".*\]\(cases/.*(?<!-further)\.md.*\n", "- [NAME](cases/NAME.md)\n"),
    ("docs/src/SUMMARY.md", r".*\]\(cases/.*-further\.md.*\n", "  - [Further: NAME](cases/NAME-further.md)\n"),
    ("docs/snippets/lib.rs", r'.*"cases/.*(?<!-further)\.md.*\n', '    SNAKE: "cases/NAME.md",\n'),
    ("docs/snippets/lib.rs", r'.*"cases/.*-further\.md.*\n', '    SNAKE_further: "cases/NAME-further.md",\n'),
)
# And those that name every exercise.
EXERCISES = (
    ("docs/src/SUMMARY.md", r".*\]\(exercises/.*\n", "- [TODO: NAME](exercises/NAME.md)\n"),
    ("docs/snippets/lib.rs", r'.*"exercises/.*\n', '    NAME: "exercises/NAME.md",\n'),
)
NEXT_OF_EXERCISE = """
`{name}` compiles and runs: `just bench {name} --quick`.
Now write the fault in src/slow.rs, the fix in crates/exercises/solutions/{name}.rs, and the limits in case.toml. Then add
half fixes to crates/lab/cli/tests/from_outside/exercises/mistakes.txt. `just lab verify {name}` names what is left to do,
and docs/src/adding-a-case.md explains the files."""
NEXT_OF_CASE = """
`{name}` compiles and runs: `just bench {name} --quick`.
Now write the fault, the fix and the counter. `just lab verify {name}` names what is left to do, and docs/src/adding-a-case.md
goes through the files one by one."""


def main(name, *flags):
    if flags not in ((), ("--exercise",)):
        sys.exit(f"error: `{' '.join(flags)}` is no flag: `just new-case NAME`, or `just new-case NAME --exercise`")
    is_exercise = bool(flags)
    # The first build of `just bench-all` takes the names with a hyphen.
    if is_exercise and not re.fullmatch(r"[a-z][a-z0-9]*", name):
        sys.exit(f"error: `{name}` cannot name an exercise: use one lower-case word, such as `tariffs`")
    if not is_exercise and not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z][a-z0-9]*)+", name):
        sys.exit(f"error: `{name}` cannot name a case: use two or more lower-case words joined by `-`, such as `lock-scope`")

    def fill(text, path=""):
        variant = Path(path).stem.rsplit("-", 1)[-1]
        return text.replace("VARIANT", variant).replace("SNAKE", name.replace("-", "_")).replace("NAME", name)

    written = {}
    for path, template in (EXERCISE if is_exercise else FILES).items():
        path = fill(path)
        if (ROOT / path).exists():
            sys.exit(f"error: {path} exists already; choose another name")
        written[path] = fill((TEMPLATES / f"{template}.txt").read_text(), path)

    def add(path, pattern, line, comes_after):
        text, line = written.get(path) or (ROOT / path).read_text(), fill(line)
        entries = list(re.finditer(pattern, text, re.MULTILINE))
        if not entries:
            sys.exit(f"error: {path} has no line with `{pattern}`")
        before = [entry.end() for entry in entries if comes_after(line, entry[0])]
        at = before[-1] if before else entries[0].start()
        written[path] = text[:at] + line + text[at:]

    for entry in () if is_exercise else SORTED:
        add(*entry, lambda line, other: line > other)
    for entry in EXERCISES if is_exercise else COURSE:
        add(*entry, lambda line, other: True)
    for path, text in written.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
        print(f"  {path}")
    print((NEXT_OF_EXERCISE if is_exercise else NEXT_OF_CASE).format(name=name))


main(*sys.argv[1:] or [""])
