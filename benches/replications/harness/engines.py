"""The outcomes of the engines in benches/engines, as figures for tables; docs/src/engines.md describes them."""

import importlib.machinery
import importlib.util
from types import ModuleType

import protocol
from harness.cases import ROOT, Problem

ENGINES = ROOT / "benches" / "engines"
# Locust starts so many users a second.
RAMP = 100


def script(name: str) -> ModuleType:
    """An engine as a module."""
    loader = importlib.machinery.SourceFileLoader(f"engine_{name}", str(ENGINES / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def figures(outcome: dict) -> dict:
    """What the tables show of an outcome."""
    seconds = outcome["measured_s"]
    latencies = outcome.get("percentiles_ms") or {f"p{percent}": percentile(outcome["latency_us"], percent)
                                                  for percent in (50, 99)}
    cores = {name: None if (used := outcome.get(key)) is None else used / seconds
             for name, key in (("server_cores", "server_cpu_s"), ("busiest_cores", "generator_cpu_s"))}
    total = outcome.get("total_cpu_s", outcome.get("generator_cpu_s"))
    return {
        "req_per_s": outcome["ok_in_time"] / seconds, "p50_ms": latencies["p50"], "p99_ms": latencies["p99"],
        "failed": sum(outcome.get(key) or 0 for key in ("wrong", "failed", "lost")), **cores,
        "generator_cores": None if total is None else total / seconds,
    }


def parsed(name: str, *output: object) -> dict:
    """The figures in what the tool of an engine printed."""
    module = script(name)
    try:
        shown = figures(module.parse(*output))
    except (protocol.Refused, ValueError, KeyError, AttributeError, OSError) as error:
        raise Problem(f"cannot read the output of {name}: {error}") from error
    return {key: shown[key] for key in ("req_per_s", "p50_ms", "p99_ms", "failed")}


def percentile(latencies: list, percent: float) -> float | None:
    """The latency in milliseconds that so many per cent did not exceed, or None without any."""
    left = sum(count for _, count in latencies) * percent / 100
    for us, count in sorted(latencies):
        left -= count
        if left <= 0:
            return us / 1000
    return None
