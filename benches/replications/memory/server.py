"""A server that keeps something of each request: `python3 server.py leak` keeps all, `cache` the last ones."""

import sys
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEPT = {"leak": None, "cache": 2000}
SIZE = 4096


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.kept.append(bytearray(SIZE))
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    server.kept = deque(maxlen=KEPT[sys.argv[1]])
    server.serve_forever()
