"""Child processes that never outlive the script: other servers than a case's, and the tools."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Problem

# Loading the certificate authorities takes a debug build a second; nothing takes this long.
START_SECONDS = 30


class Process:
    """A child in a process group of its own, so that Ctrl-C reaches only the script, which stops the child."""

    def __init__(self, name: str, command: list, scratch: Path, env: dict | None = None):
        self.name = name
        self.out, self.err = scratch / f"{name}.out", scratch / f"{name}.err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            # Its standard input stays open: some children end when it closes, so that they never outlive the script.
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True,
                env={**os.environ, **(env or {})},
            )

    def output(self) -> str:
        return self.out.read_text(errors="replace")

    def running(self) -> bool:
        return self.child.poll() is None

    def died(self) -> str:
        """A sentence about an exit that nobody asked for, with the last error that the child wrote."""
        # A script reports that its child was killed as 128 and the signal.
        status = self.child.returncode if self.child.returncode <= 128 else 128 - self.child.returncode
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"died with status {status}"
        lines = self.err.read_text(errors="replace").strip().splitlines()
        return ": ".join([f"{self.name} {how}", *(line.strip() for line in lines[-1:])])

    def family(self) -> list[int]:
        """The ids of the child and of all processes below it, such as the workers of a master. Empty without /proc."""
        family = [self.child.pid] if Path(f"/proc/{self.child.pid}").exists() else []
        for member in family:
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                # A thread may end meanwhile.
                with contextlib.suppress(OSError):
                    family += map(int, children.read_text().split())
        return family

    def cpu_seconds(self) -> float | None:
        """The CPU time of the family so far, or None on a system without /proc."""
        used = []
        for member in self.family():
            with contextlib.suppress(OSError):
                # The clock of another process, in nanoseconds and with its ended threads.
                used.append(time.clock_gettime(~member << 3 | 2))
        return sum(used) if used else None

    def stop(self) -> None:
        try:
            if self.running():
                self.child.terminate()
                self.child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also after a second Ctrl-C during the wait.
            if self.running():
                self.child.kill()
                self.child.wait()
            # The workers of a master that was killed live on.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGKILL)
            self.child.stdin.close()


def below(variable, value):
    """The processes with this in their environment, as all below one that has it: ids and commands."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        # Most end while this looks, and those of other users can't be read.
        with contextlib.suppress(OSError):
            if f"\0{variable}={value}\0".encode() in b"\0" + (path / "environ").read_bytes():
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(path.name)] = command.decode(errors="replace").strip()
    return found


def listening(pids=None):
    """The sockets that listen on a TCP port, of these processes or of all, by their unique numbers."""
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    sockets = {f"socket:[{fields[9]}]" for fields in lines if fields[3] == "0A"}
    if pids is None:
        return sockets
    held = set()
    for path in (fd for pid in pids for fd in Path(f"/proc/{pid}/fd").glob("*")):
        with contextlib.suppress(OSError):
            held.add(os.readlink(path))
    return sockets & held


@contextlib.contextmanager
def started(name: str, command: list, scratch: Path, env: dict | None = None) -> Iterator[Process]:
    """A child that stops at the end."""
    process = Process(name, command, scratch, env)
    try:
        yield process
    finally:
        process.stop()


def wait_for_url(server: Process) -> str:
    """The URL that a server prints once it accepts connections."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        alive = server.running()
        for line in server.output().splitlines(keepends=True):
            if line.startswith("listening on ") and line.endswith("\n"):
                return line.split()[2]
        if not alive:
            raise Problem(server.died())
        time.sleep(0.02)
    raise Problem(f"{server.name} did not print `listening on URL` within {START_SECONDS} s")


def wait_for(process: Process, servers: list[Process], seconds: float) -> None:
    """Waits until a process ends; if one of its servers ends first, that is an error."""
    end = time.monotonic() + seconds
    while True:
        # Check the servers first: what the generator complains about is only a consequence.
        for server in servers:
            if not server.running():
                raise Problem(server.died())
        if not process.running():
            return
        if time.monotonic() > end:
            raise Problem(f"{process.name} did not finish within {seconds:.0f} s")
        time.sleep(0.1)


def output_of(name: str, command: list, scratch: Path, servers: list[Process], seconds: float = 180,
              env: dict | None = None) -> str:
    """What a program prints. That it fails, or that one of its servers ends first, is an error."""
    with started(name, command, scratch, env) as process:
        wait_for(process, servers, seconds)
        if process.child.returncode:
            raise Problem(process.died())
        return process.output()


def free_port(wanted: int = 0) -> int:
    """A free port, or the wanted one if it is free."""
    with socket.socket() as probe:
        # A port that only waits for late packets of an earlier run is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError as error:
            raise Problem(f"port {wanted} is in use; stop what uses it") from error
        return probe.getsockname()[1]


def run(main: Callable[[], int]) -> None:
    """Runs a script: one line for a problem, and the same clean stop for Ctrl-C, SIGTERM and SIGHUP."""

    def interrupt(*_):
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), interrupt)
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"error: {problem}")
    except KeyboardInterrupt:
        print("stopped; nothing was recorded", file=sys.stderr)
        sys.exit(130)
