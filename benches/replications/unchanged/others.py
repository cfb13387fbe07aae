"""Criterion benches of other people's crates, as they were published, and the crates with a little more work.

The bench isn't edited. The crate under it is: one function first does its work again in so many of twenty calls.
"""

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import TARGET, Problem
from harness.install import compile_quietly

HOME = TARGET / "lab" / "unchanged"
CALLS = 20


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    # The bench target, and the benchmark of it.
    bench: str
    benchmark: str
    # The file and the line after which a call begins, and what does the work of a call.
    file: str
    begin: str
    again: str


CRATES = [
    Crate("httparse", "1.10.1", "parse", "req/req", "src/lib.rs",
          "pub fn parse(&mut self, buf: &'b [u8]) -> Result<usize> {",
          "let mut headers = [EMPTY_HEADER; 16]; let mut again = Request::new(&mut headers);"
          " let _ = core::hint::black_box(again.parse_with_config(buf, &Default::default()));"),
    Crate("matchit", "0.9.2", "bench", "Compare Routers/matchit", "src/router.rs",
          "pub fn at<'path>(&self, path: &'path str) -> Result<Match<'_, 'path, &T>, MatchError> {",
          "let _ = core::hint::black_box(self.root.at(path.as_bytes()).is_ok());"),
]


def executables(crate: Crate, effects: tuple[float, ...]) -> dict[float, str]:
    """The bench of a crate, with each share of more work."""
    published = source(crate)
    found = {}
    for effect in effects:
        more = round(effect * CALLS)
        place = HOME / f"{crate.name}-{crate.version}-{more}-of-{CALLS}"
        executable = place / "bench"
        if not executable.exists():
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(published, place)
            add_work(place / crate.file, crate, more)
            # It isn't a member of the workspace around it.
            with (place / "Cargo.toml").open("a") as manifest:
                manifest.write("\n[workspace]\n")
            built = build(crate, place)
            shutil.copy2(built, executable)
        found[effect] = str(executable)
    return found


def source(crate: Crate) -> Path:
    """The directory of the package that was published, which cargo downloads."""
    with tempfile.TemporaryDirectory() as here:
        Path(here, "lib.rs").touch()
        Path(here, "Cargo.toml").write_text(
            '[package]\nname = "needs"\nversion = "0.0.0"\nedition = "2024"\n\n[lib]\npath = "lib.rs"\n\n'
            f'[dependencies]\n{crate.name} = "={crate.version}"\n')
        words = ["cargo", "metadata", "--format-version", "1"]
        done = subprocess.run(words, cwd=here, capture_output=True, text=True)
    if done.returncode:
        raise Problem(f"cargo cannot download {crate.name}: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    packages = json.loads(done.stdout)["packages"]
    return next(Path(it["manifest_path"]).parent for it in packages if it["name"] == crate.name)


def add_work(file: Path, crate: Crate, more: int) -> None:
    text = file.read_text()
    if text.count(crate.begin) < 1:
        raise Problem(f"{crate.name} {crate.version} has no line {crate.begin}")
    # The counter is there without more work, too: what differs is the work.
    work = (
        " { static CALLS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);"
        " let call = CALLS.load(core::sync::atomic::Ordering::Relaxed);"
        " CALLS.store(call.wrapping_add(1), core::sync::atomic::Ordering::Relaxed);"
        f" if call % core::hint::black_box({CALLS}) < core::hint::black_box({more}) {{ {crate.again} }} }}")
    file.chmod(0o644)
    file.write_text(text.replace(crate.begin, crate.begin + work, 1))


def build(crate: Crate, place: Path) -> str:
    target = HOME / "target"
    words = ["cargo", "bench", "--no-run", "--bench", crate.bench]
    env = {"CARGO_TARGET_DIR": str(target)}
    compile_quietly(f"building the bench of {place.name}", [[*words, "--manifest-path", str(place / "Cargo.toml")]], env)
    # The newest one is what was built just now.
    built = [it for it in (target / "release/deps").glob(f"{crate.bench}-*") if not it.suffix]
    return str(max(built, key=lambda it: it.stat().st_mtime))
