"""Child processes that never outlive the script: a case's servers, and the load generators."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time

from harness.cases import Problem, find_binary

# Loading the certificate authorities takes a debug build a second; nothing takes this long.
START_SECONDS = 30


class Process:
    """A child in a process group of its own, so that Ctrl-C reaches only the script, which stops the child."""

    def __init__(self, name, command, scratch, env=None):
        self.name = name
        self.out, self.err = scratch / f"{name}.out", scratch / f"{name}.err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True, env={**os.environ, **(env or {})}
            )

    def output(self):
        return self.out.read_text(errors="replace")

    def running(self):
        return self.child.poll() is None

    def died(self):
        """A sentence about an exit that nobody asked for, with the last error that the child wrote."""
        status = self.child.returncode
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"died with status {status}"
        lines = self.err.read_text(errors="replace").strip().splitlines()
        return ": ".join([f"{self.name} {how}", *(line.strip() for line in lines[-1:])])

    def cpu_seconds(self):
        """The CPU time so far, or None on a system without /proc."""
        try:
            with open(f"/proc/{self.child.pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
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
            self.child.stdin.close()


@contextlib.contextmanager
def started(name, command, scratch, env=None):
    process = Process(name, command, scratch, env)
    try:
        yield process
    finally:
        process.stop()


def wait_for_url(server):
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


@contextlib.contextmanager
def serving(case, variant, bin_dir, scratch):
    """A variant's server behind its URL, with its companions; all of them stop at the end."""
    known = {"scratch": str(scratch)}

    def fill(text):
        for name, value in known.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def start(name, binary, args, env):
        # A server whose standard input closes stops, so even a killed script leaves none behind.
        command = [find_binary(bin_dir, binary), "--exit-with-parent", *map(fill, args)]
        server = stack.enter_context(started(name, command, scratch, {key: fill(value) for key, value in env.items()}))
        return server, wait_for_url(server)

    with contextlib.ExitStack() as stack:
        others = []
        for companion in case.companions:
            other, known[companion["name"]] = start(companion["name"], companion["bin"], companion.get("args", []), {})
            others.append(other)
        name = f"{case.name}-{variant}"
        server, url = start(name, name, case.args, case.env)
        yield [server, *others], url


def wait_for(load, servers, seconds):
    """Waits for the first of the processes `load` to finish; any other death on the way is an error."""
    end = time.monotonic() + seconds
    while True:
        # Check the servers first: what the generator complains about is only a consequence.
        for server in servers:
            if not server.running():
                raise Problem(server.died())
        if not load[0].running():
            return
        for worker in load[1:]:
            # At the end, workers leave with status 0 before their master does.
            if not worker.running() and worker.child.returncode:
                raise Problem(worker.died())
        if time.monotonic() > end:
            raise Problem(f"{load[0].name} did not finish within {seconds:.0f} s")
        time.sleep(0.1)


def allow_connections(count):
    """Raises the limit on open files, which the servers and the generators inherit."""
    # A proxy has two sockets per connection; the rest is for files.
    needed = 2 * count + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise Problem(f"{count} connections need {needed} open files and only {hard} are allowed; raise it with `ulimit -Hn {needed}`")
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def run(main):
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
