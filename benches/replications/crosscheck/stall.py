"""Stops a server for one second in every ten, like a busy host or a long garbage collection."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

EVERY, STALL, FIRST = 10, 1, 2  # seconds


@contextlib.contextmanager
def repeated(pid: int) -> Iterator[None]:
    end = threading.Event()

    def stall():
        wait = FIRST
        while not end.wait(wait):
            os.kill(pid, signal.SIGSTOP)
            end.wait(STALL)
            os.kill(pid, signal.SIGCONT)
            wait = EVERY - STALL

    stalls = threading.Thread(target=stall, daemon=True)
    stalls.start()
    try:
        yield
    finally:
        end.set()
        stalls.join()
