#!/usr/bin/env python3
"""Runs a server and stops it for one second in every ten, like a busy host or a long garbage collection."""

import signal
import subprocess
import sys
import threading

EVERY, STALL, FIRST = 10, 1, 2  # seconds


def main():
    stop = threading.Event()
    # Set first, so that a signal never leaves a stopped server behind.
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    server = subprocess.Popen(sys.argv[1:])
    threading.Thread(target=lambda: (server.wait(), stop.set()), daemon=True).start()
    wait = FIRST
    while not stop.wait(wait):
        server.send_signal(signal.SIGSTOP)
        stop.wait(STALL)
        server.send_signal(signal.SIGCONT)
        wait = EVERY - STALL
    server.terminate()
    status = server.wait()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
