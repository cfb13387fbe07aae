"""The two sides of a pair: what each needs is installed or built once, below target/lab/releases."""

import hashlib
import shutil
import tomllib
from pathlib import Path

from harness import TARGET, Problem, tools
from harness.install import compile_quietly, install, tool_of
from wild import data

HERE = Path(__file__).parent
SERVERS = HERE / "servers"
PAIRS = tomllib.loads((HERE / "pairs.toml").read_text(encoding="utf-8"))["pair"]
SIDES = ("slow", "fast")
# An installed program knows its path, so links are followed.
HOME = (TARGET / "lab" / "releases").resolve()
DATA = HOME / "data"
# Files too large for the servers of `just replicate wild`, in MB.
LARGE = {"site/large.bin": 40, "file.bin": 8}


def make_data() -> None:
    """Writes what the servers serve, unless an earlier run did."""
    data.make(DATA)
    for name, size in LARGE.items():
        path, length = DATA / name, size * 1_000_000
        if not path.exists() or path.stat().st_size != length:
            path.write_bytes((bytes(range(250)) * (length // 250))[:length])


def version_of(pair: dict, side: str) -> str:
    """The version of a side, as the table shows it."""
    return pair[side].replace("{java}", (tools.version("java") or "") if "{java}" in pair[side] else "")


def manifest(pair: dict, side: str) -> str:
    """The Cargo.toml of a server of ours with the crate's version of this side."""
    needs = "\n".join(line.replace("{version}", pair[side]) for line in pair["needs"])
    return (f'[workspace]\n\n[package]\nname = "{pair["name"]}"\nversion = "0.0.0"\nedition = "2024"\n\n'
            f'[[bin]]\nname = "{pair["name"]}"\npath = "{SERVERS / pair["server"]}"\n\n'
            f"[features]\nnodelay = []\n\n[dependencies]\n{needs}\n")


def project(pair: dict, side: str) -> Path:
    return HOME / "build" / f"{pair['name']}-{pair[side]}"


def build(pair: dict, side: str, only_installed: bool) -> Path:
    """Where the server of a side is. The fast one begins with the lock file of the slow one, so that cargo changes only
    what the version of the crate forces."""
    tool_of("cargo", "cargo")
    place, text = project(pair, side), manifest(pair, side)
    features = pair.get("features", {}).get(side)
    wanted = hashlib.sha256("".join([text, str(features), (SERVERS / pair["server"]).read_text()]).encode()).hexdigest()
    done = place / "complete"
    if done.exists() and done.read_text() == wanted:
        return place / "bin"
    if only_installed:
        raise Problem("not installed")
    (place / "bin").mkdir(parents=True, exist_ok=True)
    (place / "Cargo.toml").write_text(text)
    if side == "fast":
        shutil.copy(project(pair, "slow") / "Cargo.lock", place / "Cargo.lock")
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", str(place / "Cargo.toml")]
    target = HOME / "build" / "target"
    compile_quietly(f"building {pair['name']} with {pair['program']} {pair[side]}",
                    [command + ([f"--features={features}"] if features else [])], {"CARGO_TARGET_DIR": str(target)})
    shutil.copy(target / "release" / pair["name"], place / "bin")
    done.write_text(wanted)
    return place / "bin"


def programs(pair: dict, side: str, only_installed: bool) -> Path:
    if pair["install"] == "build":
        return build(pair, side, only_installed)
    return install(HOME, pair["install"], pair.get("tool", pair["program"]), pair.get("package", pair["program"]),
                   pair[side], only_installed)


def command(pair: dict, side: str, bin_dir: Path, postgres: str) -> str:
    """How a side is started."""
    flags = pair.get("options", {}).get(side, "")
    filled = {"bin": bin_dir, "data": DATA, "here": HERE, "version": pair[side], "flags": flags, "postgres": postgres}
    text = pair["command"]
    for name, value in filled.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def locked(pair: dict, side: str) -> dict[str, list[str]]:
    """The crates of a server of ours, with their versions."""
    found: dict[str, list[str]] = {}
    for package in tomllib.loads((project(pair, side) / "Cargo.lock").read_text())["package"]:
        # Only our own server has no source.
        if "source" in package:
            found.setdefault(package["name"], []).append(package["version"])
    return found


def differs(slow: dict[str, list[str]], fast: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    """The crates whose versions aren't the same in two lock files: those of the slow side, and of the fast one."""
    return {name: [slow.get(name, []), fast.get(name, [])] for name in sorted({*slow, *fast})
            if slow.get(name) != fast.get(name)}
