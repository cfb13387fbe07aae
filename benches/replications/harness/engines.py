"""The scripts in crates/lab/measure/engines as modules, for those that run their tools as an article did."""

import importlib.machinery
import importlib.util
from types import ModuleType

import protocol
from harness import ENGINES, Problem


def script(name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(f"engine_{name}", str(ENGINES / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def parsed(name: str, *output: object) -> dict:
    """The figures in what the tool of an engine printed."""
    try:
        found = script(name).parse(*output)
    except (protocol.Refused, ValueError, KeyError, AttributeError, OSError) as error:
        raise Problem(f"cannot read the output of {name}: {error}") from error
    percentiles = {f"{name}_ms": ms for name, ms in found["percentiles_ms"].items()}
    return {"req_per_s": found["ok_in_time"] / found["measured_s"], **percentiles,
            "failed": found["wrong"] + found["failed"] + found.get("lost", 0)}
