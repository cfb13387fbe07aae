"""The files that the servers of servers.toml serve: made once, and the same on every machine."""

import json
import os
import pwd
import sqlite3
from pathlib import Path

WORDS = "a server waits for its clients and they wait for the server until one of them has had enough".split()


def text(length):
    """Readable text of this length, without a period that a compressor finds at once."""
    words, state = [], 1
    while sum(map(len, words)) + len(words) <= length:
        state = state * 1103515245 % 2**31
        words.append(WORDS[state // 65536 % len(WORDS)])
    return " ".join(words)[:length]


def page(length):
    head = "<!doctype html><title>A page</title><body><p>"
    return head + text(length - len(head))


NGINX = """daemon off;
user {user};
worker_processes auto;
pid {data}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    access_log {data}/nginx.log;
    sendfile on;
    tcp_nopush on;
    client_body_temp_path {data}/nginx-body;
    proxy_temp_path {data}/nginx-proxy;
    fastcgi_temp_path {data}/nginx-fastcgi;
    uwsgi_temp_path {data}/nginx-uwsgi;
    scgi_temp_path {data}/nginx-scgi;
    server {{ listen 127.0.0.1:PORT; root {data}/site; }}
}}
"""
LIGHTTPD = """server.document-root = "{data}/site"
server.bind = "127.0.0.1"
server.port = env.PORT
dir-listing.activate = "enable"
"""


def make(data: Path) -> None:
    """Writes all files below `data`, unless a complete earlier run did."""
    done = data / "complete"
    if done.exists():
        return

    def write(name, content):
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    write("site/page.html", page(40_000))
    write("site/index.html", page(1_000))
    for number in range(1000):
        write(f"site/many/file-{number:04}.txt", text(100))
    write("book/book.toml", '[book]\ntitle = "A book"\n')
    write("book/src/SUMMARY.md", "- [Chapter](chapter.md)\n")
    write("book/src/chapter.md", f"# Chapter\n\n{text(10_000)}\n")
    write("docs/mkdocs.yml", "site_name: A site\nuse_directory_urls: true\n")
    write("docs/docs/index.md", f"# A page\n\n{text(10_000)}\n")
    write("db.json", json.dumps({"posts": [{"id": at, "title": text(40), "body": text(200)} for at in range(1, 101)]}))
    for package in range(200):
        for version in range(5):
            write(f"packages/demo{package}-1.{version}.tar.gz", text(200))
    for number in range(100):
        event = [f"UID:{number}", "DTSTAMP:20260101T000000Z", f"DTSTART:20260101T{number % 24:02}0000Z",
                 f"SUMMARY:{text(40)}"]
        calendar = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:demo", "BEGIN:VEVENT", *event, "END:VEVENT",
                    "END:VCALENDAR"]
        write(f"radicale/collection-root/demo/calendar/{number}.ics", "\r\n".join([*calendar, ""]))
    write("radicale/collection-root/demo/calendar/.Radicale.props", json.dumps({"tag": "VCALENDAR"}))
    stub = {"request": {"method": "GET", "url": "/hello"}, "response": {"status": 200, "body": text(20)}}
    write("wiremock/mappings/hello.json", json.dumps(stub))
    for name, content in (("nginx.conf", NGINX), ("lighttpd.conf", LIGHTTPD)):
        write(name, content.format(data=data, user=pwd.getpwuid(os.getuid()).pw_name))
    with sqlite3.connect(data / "items.db") as database:
        database.execute("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, note "
                         "TEXT)")
        rows = [(number, f"item {number}", number * 37 % 1000, text(60)) for number in range(10_000)]
        database.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", rows)
    done.touch()
