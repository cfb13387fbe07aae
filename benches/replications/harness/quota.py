"""A control group whose programs may use only so much CPU time, in version 1 or 2 of control groups."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from harness import Skipped

CGROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000


@contextlib.contextmanager
def quota(cores: float) -> Iterator[Path]:
    """The directory of a group with this quota, which goes once its programs have ended."""
    quota_us = round(cores * PERIOD_US)
    for parent, limits in (
        (CGROUPS / "cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota_us}),
        (CGROUPS, {"cpu.max": f"{quota_us} {PERIOD_US}"}),
    ):
        group = parent / f"lab-quota-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if all((group / name).exists() for name in limits):
                for name, value in limits.items():
                    (group / name).write_text(str(value))
                yield group
                return
        finally:
            end = time.monotonic() + 5
            while (group / "cgroup.procs").read_text() and time.monotonic() < end:
                time.sleep(0.05)
            group.rmdir()
    raise Skipped("no controller; quotas need one for CPU time that this user may use")


def inside(group: Path, command: list) -> list:
    """The command, as a member of the group from its first instruction on."""
    return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group, *command]
