#!/usr/bin/env python3
"""Checks the licences, the sources and the versions of all dependencies: `just dependencies`.

It looks at all systems and all features. `cargo deny` checks the same, but compiling it takes minutes, and the newest
one that is ready-made, of 2023 on PyPI, does not know the licence Unicode-3.0. Known vulnerabilities are left out,
because their database is not in a package registry.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict

CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
LICENCES = {"0BSD", "Apache-2.0", "BSD-3-Clause", "ISC", "MIT", "Unicode-3.0", "Zlib"}
# These ask for the source of their own files only, or are data.
OTHER_LICENCES = {"inferno": "CDDL-1.0", "option-ext": "MPL-2.0", "tracking-allocator": "MPL-2.0",
                  "webpki-roots": "CDLA-Permissive-2.0"}
# Packages that are there in a newer version, too, and what needs this one.
OLD = {
    "base64 0.22": "bson",
    "bitflags 1": "nix 0.26",
    "block-buffer 0.10": "sqlx-core",
    "cpufeatures 0.2": "sha1",
    "crypto-common 0.1": "sqlx-core",
    "digest 0.10": "sqlx-core",
    "getrandom 0.2": "ring",
    "getrandom 0.3": "bson",
    "hashbrown 0.14": "dashmap",
    "hashbrown 0.16": "sqlx-core",
    "nix 0.26": "pprof",
    "quick-xml 0.41": "inferno",
    "r-efi 5": "getrandom 0.3",
    "rand 0.9": "bson",
    "rand_core 0.9": "rand 0.9",
    "sha1 0.10": "headers",
    "sha2 0.10": "sqlx-core",
    "spin 0.9": "flume",
    "syn 2": "jiff, maud and others",
    "windows-sys 0.52": "ring",
    "windows-sys 0.59": "fs4",
}


def permitted(expression, licences):
    """Whether these licences satisfy an SPDX expression."""
    while "(" in expression:
        expression = re.sub(r"\(([^()]*)\)", lambda inner: "yes" if permitted(inner[1], licences) else "no", expression)
    alternatives = re.split(r" OR |/", expression, flags=re.IGNORECASE)
    return any(all(term.strip() in {*licences, "yes"} for term in re.split(" AND ", one, flags=re.IGNORECASE))
               for one in alternatives)


def faults(packages):
    versions = defaultdict(list)
    for package in packages:
        # Our own packages have no source.
        if package["source"] is None:
            continue
        name, licence = package["name"], package["license"] or "no licence"
        if package["source"] != CRATES_IO:
            yield f"{name} comes from {package['source']}, and not from crates.io"
        if not permitted(licence, LICENCES | {OTHER_LICENCES.get(name)}):
            yield f"{name} has the licence {licence}; if you accept it, add it to .ci/dependencies.py"
        versions[name].append(tuple(map(int, re.findall(r"\d+", package["version"])[:3])))
    old = {f"{name} {version[0] or f'0.{version[1]}'}"
           for name, all_of_it in versions.items() for version in sorted(all_of_it)[:-1]}
    for series in sorted(old - OLD.keys()):
        yield (f"{series} is there next to a newer version; "
               f"`cargo tree --all-features --target all -i {series.split()[0]}` shows what needs it")
    for series in sorted(OLD.keys() - old):
        yield f"{series} is no longer there next to a newer version: remove it from the list"


def main():
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version=1"]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode:
        return done.returncode
    packages = json.loads(done.stdout)["packages"]
    found = list(faults(packages))
    print("\n".join(found) or
          f"{len(packages)} packages: licences and sources are as listed, and so are packages in several versions")
    print("left out: no advisories; cargo install --locked cargo-audit && cargo audit")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
