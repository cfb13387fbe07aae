"""Where the CPU time of a proxy goes under load, as shares by category: `perf record` and `perf stat`.

Kernel time is sorted by its call stack, because the innermost function is often a lock or a copy that
everything uses. The time of a program and its libraries is sorted by the innermost function.
"""

import re
import shutil
from collections import Counter
from pathlib import Path

from harness.processes import started, wait_for

NETWORK, WAITING, KERNEL = "kernel: TCP and sockets", "kernel: epoll, poll, futex", "kernel: the rest"
OWN, TOKIO, LIBC = "user: code of the proxy", "user: Tokio and mio", "user: C library"
CATEGORIES = [NETWORK, WAITING, KERNEL, OWN, TOKIO, LIBC]

# Packets arrive in the middle of whatever the thread does, so this comes before the system calls.
ARRIVING = re.compile(r"^(net_rx_action|__napi_poll|process_backlog)$")
WAITS = re.compile(r"epoll|futex|_sys_poll|sys_ppoll|sched_yield|nanosleep")
SOCKETS = re.compile(r"^_*(tcp|inet|sock|skb|ip_|dev_queue|netif|"
                     r"sys_(accept|bind|connect|getsockopt|recv|send|setsockopt|shutdown|socket))")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((.+)\)$")
TOP = 8


def category(frames):
    """The category of one sample. `frames` are pairs of function and file, the innermost first."""
    function, file = frames[0]
    if is_kernel(file):
        names = [name for name, where in frames if is_kernel(where)]
        for pattern, found in [(ARRIVING, NETWORK), (WAITS, WAITING), (SOCKETS, NETWORK)]:
            if any(pattern.search(name) for name in names):
                return found
        return KERNEL
    if re.match(r"(libc|libpthread|ld-linux)[-.]", Path(file).name):
        return LIBC
    return TOKIO if re.search(r"\b(tokio|mio)::", function) else OWN


def is_kernel(file):
    # Modules have names such as [nf_conntrack].
    return file.startswith("[") and file not in ("[unknown]", "[vdso]")


def parse_script(text):
    """The stacks of `perf script -F ip,sym,dso`, which separates samples with empty lines."""
    for sample in re.split(r"\n\s*\n", text):
        frames = [match.groups() for line in sample.splitlines() if (match := FRAME.match(line))]
        if frames:
            yield frames


def shares(stacks):
    """The share of each category, and the functions with the largest shares."""
    categories, functions = Counter(), Counter()
    for frames in stacks:
        categories[category(frames)] += 1
        function, file = frames[0]
        functions[function, "kernel" if is_kernel(file) else Path(file).name] += 1
    total = categories.total()
    top = [{"function": name, "file": file, "share": count / total} for (name, file),
           count in functions.most_common(TOP)]
    return {"samples": total, "shares": {name: categories[name] / total for name in CATEGORIES}, "top": top}


def parse_stat(text):
    """The counts of `perf stat -x,` by event; events that perf cannot count are left out."""
    lines = [line.split(",") for line in text.splitlines() if line and not line.startswith("#")]
    return {fields[2]: int(fields[0]) for fields in lines if fields[0].isdigit()}


def of(server: object, load: list, scratch: Path, processes: list) -> dict | str:
    """Profiles all processes of `server` while the command `load` runs, or says why that is impossible."""
    if not shutil.which("perf"):
        return "no perf; `apt-get install linux-perf`"
    family = ",".join(map(str, server.process.family()))

    def perf(*command):
        with started("perf", ["perf", *command], scratch) as tool:
            wait_for(tool, processes, 120)
        return tool

    data, counts = scratch / "perf.data", scratch / "perf.txt"
    recorded = perf("record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", data, "-p", family, "--", *load)
    if recorded.child.returncode:
        return f"{recorded.died()}; try as root"
    script = perf("script", "-i", data, "-F", "ip,sym,dso", "--no-inline")
    if script.child.returncode:
        return script.died()
    found = shares(parse_script(script.output()))
    if not sum(found["shares"][name] for name in (NETWORK, WAITING, KERNEL)):
        return "perf sees nothing of the kernel here; try as root"
    # Apart from the profile, because tracing all system calls slows them down. Only root may count them.
    perf("stat", "-x,", "-o", counts, "-e", "raw_syscalls:sys_enter,context-switches", "-p", family, "--", *load)
    events = parse_stat(counts.read_text()) if counts.exists() else {}
    requests = int(load[load.index("-n") + 1])
    for name, event in [("system_calls", "raw_syscalls:sys_enter"), ("context_switches", "context-switches")]:
        found[f"{name}_per_request"] = events[event] / requests if event in events else None
    return found
