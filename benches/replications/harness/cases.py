"""A case as its case.toml describes it: the variants, the load, and the requests."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").absolute()
BIN_DIR = TARGET / "release"


class Problem(Exception):
    """What went wrong and what to do, in one line for the user."""


@dataclass
class Request:
    path: str
    method: str
    bytes: int | None

    def message(self, host: str) -> bytes:
        """The bytes that `lab` sends for this request: only the necessary headers, because each costs work."""
        return f"{self.method} {self.path} HTTP/1.1\r\nhost: {host}\r\n\r\n".encode()


@dataclass
class Case:
    name: str
    variants: list[str]
    users: int
    think_ms: int
    connections: int
    # Those of a visit. Other clients send the others.
    requests: list[Request]
    # What is different when the case is counted.
    count: dict

    def check_variants(self, *variants: str) -> None:
        for variant in variants:
            if variant not in self.variants:
                raise Problem(f"{self.name} has no variant `{variant}`; it has {', '.join(self.variants)}")


def parse(name: str, text: str) -> Case:
    data = tomllib.loads(text)
    load = data["load"]
    requests = [it for it in data["request"] if "rate_per_s" not in it]
    return Case(
        name=name,
        variants=data["variants"],
        users=load["users"],
        think_ms=load.get("think_ms", 0),
        # As in `lab`, a user has one connection unless the case says otherwise.
        connections=load.get("connections", 1),
        requests=[Request(it["path"], it.get("method", "GET"), it.get("bytes")) for it in requests],
        count=data.get("count", {}),
    )


def read(name: str) -> Case:
    """The case with this name or alias."""
    files = sorted((ROOT / "crates").glob("*/case.toml"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        if name in (file.parent.name, tomllib.loads(text).get("alias")):
            return parse(file.parent.name, text)
    raise Problem(f"no case `{name}`; the cases are {', '.join(file.parent.name for file in files)}")


def find_binary(bin_dir: str | Path, name: str) -> str:
    path = Path(bin_dir) / name
    if not path.is_file():
        raise Problem(f"no {name} in {bin_dir}; `cargo build --release --workspace` builds it")
    return str(path)
