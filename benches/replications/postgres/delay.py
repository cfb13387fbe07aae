"""A network in between: passes bytes to a port of this machine and back, each later by so many milliseconds.

Every direction of a connection has a thread that reads and one that writes once the time has come, so bytes wait side
by side, as they do on a wire.
"""

import queue
import socket
import sys
import threading
import time


def read(source, line, seconds):
    try:
        while data := source.recv(1 << 16):
            line.put((time.monotonic() + seconds, data))
    except OSError:
        pass
    line.put((time.monotonic() + seconds, b""))


def write(target, line):
    try:
        while True:
            due, data = line.get()
            time.sleep(max(0, due - time.monotonic()))
            if not data:
                return target.shutdown(socket.SHUT_WR)
            target.sendall(data)
    except OSError:
        pass


def main():
    port, seconds = int(sys.argv[1]), float(sys.argv[2]) / 1000
    # A thread of Python keeps the others waiting for this long; the usual 5 ms would be the delay.
    sys.setswitchinterval(0.00005)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(f"listening on tcp://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        ends = [listener.accept()[0], socket.create_connection(("127.0.0.1", port))]
        for source, target in (ends, reversed(ends)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = queue.SimpleQueue()
            threading.Thread(target=read, args=(source, line, seconds), daemon=True).start()
            threading.Thread(target=write, args=(target, line), daemon=True).start()


main()
