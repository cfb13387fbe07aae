"""The backend and the proxies of `just replicate varnish`: their configuration, and how they start.

All run as children in the foreground, with their files in a scratch directory and on free ports.
"""

import http.client
import os
import pwd
import re
import socket
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import Problem
from harness.lab import find_binary
from harness.processes import START_SECONDS, free_port, started, wait_for_url

PAGE_BYTES = 11_321  # as in the article
CONNECTIONS = 100  # as in the article

# The article's file, with another port.
VCL = """vcl 4.0;
backend default {
    .host = "127.0.0.1";
    .port = "%(backend)d";
}
sub vcl_recv {
    return (pass);
}
"""

NGINX = """daemon off;
user %(user)s;
worker_processes auto;
pid %(directory)s/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
    # The other servers write no log.
    access_log off;
    sendfile on;
    client_body_temp_path %(directory)s/client_body;
    proxy_temp_path %(directory)s/proxy;
    fastcgi_temp_path %(directory)s/fastcgi;
    uwsgi_temp_path %(directory)s/uwsgi;
    scgi_temp_path %(directory)s/scgi;
    %(http)s
}
"""
BACKEND = """server {
        listen 127.0.0.1:%(port)d;
        root %(directory)s;
        location = /status { stub_status; }
    }"""
PROXY = "server { listen 127.0.0.1:%(port)d; location / { proxy_pass http://127.0.0.1:%(backend)d; } }"
KEEPALIVE = """upstream backend { server 127.0.0.1:%(backend)d; keepalive %(connections)d; }
    server {
        listen 127.0.0.1:%(port)d;
        location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }"""


@dataclass
class Server:
    name: str
    title: str
    process: object
    url: str
    # The ids of its processes, once all of them run.
    family: list | None = None


def page():
    """The page behind all proxies: text that differs from line to line, so that no shift goes unnoticed."""
    lines = "".join(f"<p>line {number} of a static page</p>\n" for number in range(1000))
    return lines[:PAGE_BYTES].encode()


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def check_family(server: Server) -> None:
    """nginx and Varnish replace a worker that dies, so its death shows only in the process ids."""
    if set(server.process.family()) != set(server.family):
        raise Problem(f"a process of {server.title} died and was replaced in mid-run")


def check(server: Server) -> None:
    """The answer must be the page, byte for byte."""
    try:
        body = fetch(server.url)
    except (OSError, http.client.HTTPException) as error:
        raise Problem(f"{server.title} does not answer at {server.url}: {error}") from error
    if body != page():
        raise Problem(f"{server.title} changes the page: {len(body):,} bytes instead of {PAGE_BYTES:,}, or other ones")


def backend_counts(backend: Server) -> tuple[int, int]:
    """How many connections the backend has accepted and how many requests it got, both with this question."""
    return parse_status(fetch(f"{backend.url}status").decode())


def parse_status(text):
    accepted, _, requests = map(int, re.search(r"(\d+) (\d+) (\d+)", text).groups())
    return accepted, requests


def wait_until_listening(process, port):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if not process.running():
            raise Problem(process.died())
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Problem(f"{process.name} does not listen on port {port} after {START_SECONDS} s")


def start_nginx(stack, scratch, program, name, http_block, **values):
    """Starts nginx with the configuration `http_block`; returns the process and its port."""
    directory, port = scratch / name, free_port()
    directory.mkdir()
    # A worker must be able to read the scratch directory. Only root may choose its user, and nginx ignores the line
    # otherwise.
    values |= {"directory": directory, "port": port, "user": pwd.getpwuid(os.getuid()).pw_name}
    (directory / "index.html").write_bytes(page())
    (directory / "nginx.conf").write_text(NGINX % {**values, "http": http_block % values})
    process = stack.enter_context(started(name,
        [program, "-p", directory, "-e", "stderr", "-c", directory / "nginx.conf"], scratch))
    wait_until_listening(process, port)
    return process, port


def start_varnish(stack, scratch, program, backend):
    port, vcl = free_port(), scratch / "varnish.vcl"
    vcl.write_text(VCL % {"backend": backend})
    # `-j none` changes no user, and `-T none` opens no port for administration.
    command = [program, "-F", "-j", "none", "-n", scratch / "varnish", "-a", f"127.0.0.1:{port}", "-T", "none", "-s",
               "malloc,64m", "-f", vcl]
    process = stack.enter_context(started("varnish", command, scratch))
    wait_until_listening(process, port)
    return process, port


def start_all(stack: ExitStack, scratch: Path, nginx: str, varnishd: str, bin_dir: str) -> list[Server]:
    """Starts the backend and the proxies before it. The first server is the backend."""

    def local(port):
        return f"http://127.0.0.1:{port}/"

    process, backend = start_nginx(stack, scratch, nginx, "backend", BACKEND)
    servers = [Server("backend", "backend alone", process, local(backend))]
    process, port = start_varnish(stack, scratch, varnishd, backend)
    servers.append(Server("varnish", "Varnish", process, local(port)))
    process, port = start_nginx(stack, scratch, nginx, "nginx", PROXY, backend=backend)
    servers.append(Server("nginx", "nginx", process, local(port)))
    process, port = start_nginx(stack, scratch, nginx, "nginx-keepalive", KEEPALIVE, backend=backend,
                                connections=CONNECTIONS)
    servers.append(Server("nginx-keepalive", "nginx, keepalive", process, local(port)))
    # no-reuse is fixed with a new connection to the backend for each request.
    for variant in ("fixed", "no-reuse", "slow"):
        program = find_binary(bin_dir, f"per-request-client-{variant}")
        process = stack.enter_context(started(variant, [program, "--upstream", f"http://127.0.0.1:{backend}"], scratch))
        servers.append(Server(variant, f"our {variant} proxy", process, wait_for_url(process) + "/"))
    for server in servers:
        check(server)
    return servers
