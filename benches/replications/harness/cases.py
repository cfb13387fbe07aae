"""A case as its case.toml describes it: servers, load, requests, and the right answers."""

import os
import tomllib
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()
BIN_DIR = TARGET / "release"


class Problem(Exception):
    """What went wrong and what to do, in one line for the user."""


@dataclass
class Request:
    path: str
    method: str = "GET"
    status: int = 200
    answer: str | None = None
    bytes: int | None = None
    crc32: str | None = None
    # The file of the body, next to the case file, and the rate at which other clients ask: not sent here.
    body: str | None = None
    rate_per_s: float | None = None

    def message(self, host):
        """The bytes that `lab` sends for this request: no headers but the necessary ones, because each costs the server work."""
        return f"{self.method} {self.path} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()

    def fault(self, status, content):
        """What is wrong with an answer, or None."""
        if status != self.status:
            return f"status {status} instead of {self.status}"
        if self.answer is not None:
            return None if content == self.answer.encode() else f"wrong answer: {content[:60]!r}"
        if len(content) != self.bytes or zlib.crc32(content) != int(self.crc32, 16):
            return f"wrong answer: {len(content)} bytes, CRC-32 {zlib.crc32(content):08x}"
        return None


@dataclass
class Case:
    name: str
    variants: list
    users: int
    think_ms: int
    connections: int
    requests: list
    args: list = field(default_factory=list)
    env: dict = field(default_factory=dict)
    companions: list = field(default_factory=list)
    count: dict = field(default_factory=dict)

    def check_variants(self, *variants):
        for variant in variants:
            if variant not in self.variants:
                raise Problem(f"{self.name} has no variant `{variant}`; it has {', '.join(self.variants)}")

    def counted(self):
        """The case as `lab count` runs it: with fewer or smaller requests, and without waits."""
        changed = self.count
        companions = [
            {**companion, "args": [*companion.get("args", []), *changed.get("companion_args", {}).get(companion["name"], [])]}
            for companion in self.companions
        ]
        requests = [Request(**request) for request in changed.get("request", [])]
        return replace(
            self, args=changed.get("args", self.args), env={**self.env, **changed.get("env", {})}, companions=companions,
            requests=requests or self.requests,
        )


def parse(name, text):
    """The parts of a case file that a load generator needs."""
    data = tomllib.loads(text)
    load = data["load"]
    return Case(
        name=name,
        variants=data["variants"],
        users=load["users"],
        think_ms=load.get("think_ms", 0),
        # As in `lab`, a user has one connection unless the case says otherwise.
        connections=load.get("connections", 1),
        requests=[Request(**request) for request in data["request"] if "rate_per_s" not in request],
        args=data.get("args", []),
        env=data.get("env", {}),
        companions=data.get("companion", []),
        count=data.get("count", {}),
    )


def read(name):
    """The case with this name or alias."""
    files = sorted((ROOT / "crates").glob("*/case.toml"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        if name in (file.parent.name, tomllib.loads(text).get("alias")):
            return parse(file.parent.name, text)
    raise Problem(f"no case `{name}`; the cases are {', '.join(file.parent.name for file in files)}")


def find_binary(bin_dir, name):
    path = Path(bin_dir) / name
    if not path.is_file():
        raise Problem(f"no {name} in {bin_dir}; `cargo build --release --workspace` builds it")
    return str(path)
