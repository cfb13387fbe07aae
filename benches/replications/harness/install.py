"""Releases of other programs: each is installed once, into a directory of its own."""

import os
import subprocess
from pathlib import Path

from harness import Problem
from harness.report import say
from harness.tools import TOOLS

# What installs a package into a directory, and where its programs are then.
INSTALLERS = {
    "cargo": ("bin", lambda place, package,
              release: [["cargo", "install", "--locked", "--root", place, "--version", release, package]]),
    "go": ("bin", lambda place, package, release: [["go", "install", f"{package}@v{release}"]]),
    "npm": ("node_modules/.bin", lambda place, package, release: [["npm", "install", "--loglevel=error", "--no-audit",
        "--no-fund", "--prefix", place, f"{package}@{release}"]]),
    "pip": ("bin", lambda place, package, release: [["python3", "-m", "venv", place],
        [f"{place}/bin/pip", "install", "-q", *f"{package}=={release}".split()]]),
    "maven": (".", lambda place, package,
        release: [["mvn", "-q", "dependency:copy", f"-Dartifact={package}:{release}", f"-DoutputDirectory={place}"]]),
}
NEEDS = {"maven": "mvn", "pip": None}


def tool_of(how: str, name: str) -> str | None:
    """Raises a problem if the tool that this way of installing needs is missing."""
    tool = name if how == "system" else NEEDS.get(how, how)
    if tool and not TOOLS[tool].find(tool):
        raise Problem(f"no {tool}; {TOOLS[tool].install}")
    return tool


def compile_quietly(what: str, commands: list[list[str]], env: dict) -> None:
    """Runs commands that build something, so that they disturb no measurement of another program."""
    say(what)
    # Some packages strip the names of their functions, which perf needs. The instructions are the same.
    env = {**os.environ, "CARGO_PROFILE_RELEASE_STRIP": "debuginfo", **env}
    for command in commands:
        done = subprocess.run(["nice", *command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Problem(f"{what} failed: {' '.join(done.stdout.strip().splitlines()[-1:])}")


def install(home: Path, how: str, name: str, package: str, release: str, only_installed: bool = False) -> Path:
    """Where the programs of a release are, below `home`. Raises a problem if its tool is missing or fails."""
    tool_of(how, name)
    if how == "system":
        return Path(TOOLS[name].find(name)).parent
    programs, commands = INSTALLERS[how]
    place = home / how / f"{name}-{release}"
    if not (place / "complete").exists():
        if only_installed:
            raise Problem("not installed")
        place.mkdir(parents=True, exist_ok=True)
        env = {"CARGO_TARGET_DIR": str(home / "build"), "GOBIN": str(place / "bin")}
        compile_quietly(f"installing {name} {release} with {how}", commands(str(place), package, release), env)
        (place / "complete").touch()
    return place / programs
