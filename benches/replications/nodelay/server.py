"""A server on Python's `http.server`, as its documentation has it: `python3 server.py FILE`."""

import os
import shutil
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = sys.argv[1]
with open(FILE, "rb") as content:
    READY = content.read()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(os.path.getsize(FILE)))
        self.end_headers()
        if self.path == "/ready":
            self.wfile.write(READY)
        else:
            with open(FILE, "rb") as content:
                shutil.copyfileobj(content, self.wfile)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
