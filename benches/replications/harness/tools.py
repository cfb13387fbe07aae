"""The programs that the replications use: how each one says its version, and how to install it."""

import glob
import shutil
import sys
from dataclasses import dataclass

import protocol
from harness import ROOT


@dataclass
class Tool:
    """A program. `version` is its arguments, because tools disagree even about this."""

    install: str
    version: tuple = ("--version",)
    # Where it is if not in PATH, relative to the workspace.
    path: str | None = None

    def find(self, name: str) -> str | None:
        own = self.path and ROOT / self.path
        if own and own.exists():
            return str(own)
        return shutil.which(name)


def newest(pattern):
    """The last of the files that fit, or None: Debian has a directory for each version of PostgreSQL."""
    return max(glob.glob(pattern), default=None)


LOCUST = ("python3 -m venv target/locust && "
          "target/locust/bin/pip install --require-hashes -r crates/lab/measure/engines/requirements.txt")
TOOLS = {
    "locust": Tool(LOCUST, path="target/locust/bin/locust"),
    "wrk": Tool("apt-get install wrk", ("-v",)),
    "oha": Tool("cargo install --locked oha"),
    "ab": Tool("apt-get install apache2-utils", ("-V",)),
    "k6": Tool("go install go.k6.io/k6@v1.8.1", ("version",)),
    "heaptrack": Tool("apt-get install heaptrack"),
    "valgrind": Tool("apt-get install valgrind"),
    "cargo": Tool("https://rustup.rs says how"),
    "go": Tool("https://go.dev/doc/install", ("version",)),
    "java": Tool("apt-get install default-jre-headless", ("-version",)),
    "javac": Tool("apt-get install default-jdk-headless", ("-version",)),
    "mvn": Tool("apt-get install maven"),
    "node": Tool("apt-get install nodejs"),
    "npm": Tool("apt-get install npm"),
    "chromium": Tool("apt-get install chromium"),
    "openssl": Tool("apt-get install openssl", ("version",)),
    # Debian installs these where only root's PATH looks.
    "varnishd": Tool("apt-get install varnish", ("-V",), path="/usr/sbin/varnishd"),
    "nginx": Tool("apt-get install nginx-light", ("-v",), path="/usr/sbin/nginx"),
    "lighttpd": Tool("apt-get install lighttpd", ("-v",), path="/usr/sbin/lighttpd"),
    "postgres": Tool("apt-get install postgresql", path=newest("/usr/lib/postgresql/*/bin/postgres")),
    "mdbook": Tool("cargo install --locked mdbook"),
    "perf": Tool("apt-get install linux-perf"),
    # Without a platform, even its version needs a display.
    "hotspot": Tool("apt-get install hotspot", ("-platform", "offscreen", "--version")),
    "strace": Tool("apt-get install strace", ("-V",)),
}


def version(name: str) -> str | None:
    """The version that a tool prints, or None if the tool is missing."""
    tool = TOOLS[name]
    program = tool.find(name)
    if program is None:
        return None
    return protocol.version(program, *tool.version) or "unknown"


def require(*names: str) -> list[str]:
    """The paths of the tools. Ends the script as skipped, with status 0, if one is missing."""
    missing = [name for name in names if TOOLS[name].find(name) is None]
    for name in missing:
        print(f"skipped: no {name}; {TOOLS[name].install}")
    if missing:
        sys.exit(0)
    return [TOOLS[name].find(name) for name in names]
