"""Measures query-per-row with its own SQLite, and with a PostgreSQL server near and far: `just replicate postgres`.

PostgreSQL runs in a private directory and on a free port, and stops at the end. Far means about 1 ms a round trip. A
small proxy adds it, because not every kernel has netem. PostgreSQL itself counts the statements (pg_stat_statements).
"""

import argparse
import os
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import Problem
from harness.lab import Session, case, figures, serving
from harness.processes import free_port, started, wait_for_url
from harness.report import SHORT, add_options, in_turn, number, percent, ratio, save, say, span, spread, table
from harness.tools import require

CASE = "query-per-row"
# By name: the variant, and its arguments.
SERVERS = {
    "slow": ("slow", []), "in-list": ("in-list", []), "fixed": ("fixed", []),
    "slow, pool 1": ("slow", ["--pool", "1"]), "fixed, pool 1": ("fixed", ["--pool", "1"]),
}
# Where the database is, and how the record names it.
PLACES = {"SQLite": "sqlite", "near": "loopback", "1 ms away": "far"}
DELAY = Path(__file__).with_name("delay.py")
# With what the proxy itself takes, a round trip is about 1 ms; the run measures and prints it.
ONE_WAY_MS = 0.35
# Long enough for some requests.
COUNTED_SECONDS = 0.2
# Nothing here has to survive a power cut.
SETTINGS = {"shared_preload_libraries": "pg_stat_statements", "fsync": "off", "listen_addresses": "127.0.0.1",
            "max_connections": "40"}


@dataclass
class Database:
    """A port of PostgreSQL, which psql asks."""

    psql: str
    port: int

    def ask(self, *statements):
        """The lines that psql prints."""
        command = [self.psql, "-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        # In English, because the times are read.
        done = subprocess.run([*command, *(part for it in statements for part in ("-c", it))], capture_output=True,
                              text=True, timeout=60, env={**os.environ, "LC_ALL": "C"})
        if done.returncode:
            raise Problem(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def round_trip_ms(self):
        return statistics.median(float(line.split()[1]) for line in self.ask(r"\timing", *50 * ["SELECT 1"])
                                 if line.startswith("Time: "))


def as_user(directory):
    """The start of a command that PostgreSQL accepts: it refuses root. The user gets the directory."""
    if os.geteuid() != 0:
        return []
    name = next((name for name in ("postgres", "nobody") if name in {user.pw_name for user in pwd.getpwall()}), None)
    setpriv = shutil.which("setpriv")
    if name is None or setpriv is None:
        raise Problem("PostgreSQL does not run as root, and there is no other way here; run this as another user")
    user = pwd.getpwnam(name)
    directory.parent.chmod(0o711)
    os.chown(directory, user.pw_uid, user.pw_gid)
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def start_postgres(program, scratch, stack):
    """A new PostgreSQL server that stops with `stack`."""
    home = scratch / "postgres"
    home.mkdir()
    user, port = as_user(home), free_port()
    made = [*user, str(Path(program).parent / "initdb"), "-D", str(home / "data"), "-A", "trust", "-U", "postgres",
            "--no-sync", "-E", "UTF8", "--locale=C"]
    done = subprocess.run(made, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Problem(f"initdb failed: {done.stderr.strip().splitlines()[-1]}")
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    server = stack.enter_context(started("postgresql",
        [*user, program, "-D", str(home / "data"), "-k", str(home), "-p", str(port), *settings], scratch))
    database = Database(str(Path(program).with_name("psql")), port)
    for _ in range(300):
        if not server.running():
            raise Problem(server.died())
        try:
            database.ask("CREATE EXTENSION pg_stat_statements")
            return database
        except Problem:
            time.sleep(0.1)
    raise Problem("PostgreSQL does not accept connections")


def statements(session: Session, database: Database) -> float:
    """How many statements PostgreSQL executes for one request."""
    executed = (
        "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements "
        "WHERE query LIKE 'SELECT % FROM orders%' OR query LIKE 'SELECT % FROM customers%'"
    )
    before = int(database.ask(executed)[0])
    outcome = checked(session.load(COUNTED_SECONDS, arrivals={"closed_loop": {"users": 1}}, grace_s=10))
    return (int(database.ask(executed)[0]) - before) / outcome["sent"]


def checked(outcome: dict) -> dict:
    if outcome["first_fault"] or not outcome["ok"]:
        raise Problem(outcome["first_fault"] or "no answer")
    return outcome


def measure(name: str, where: int | None, database: Database, bin_dir: str, seconds: float) -> dict:
    """One run of a server with its database: what lab measured, and the statements of a request."""
    variant, pool = SERVERS[name]
    url = ["--database-url", f"postgres://postgres@127.0.0.1:{where}/postgres"] if where else []
    with serving(bin_dir, f"{CASE}-{variant}", args=[*pool, *url]) as session:
        counted = statements(session, database) if where else None
        outcome = checked(session.load(seconds, warm_up_s=0.5))
        return {**figures(outcome), "statements": counted}


def options():
    parser = argparse.ArgumentParser(prog="just replicate postgres", description=__doc__)
    add_options(parser, "one round instead of three")
    return parser.parse_args()


def main():
    chosen = options()
    users = case(CASE, bin_dir=chosen.bin_dir)["load"]["users"]
    (program,) = require("postgres")
    rounds, seconds = 1 if chosen.short else 3, 3
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = start_postgres(program, scratch, stack)
        delay = stack.enter_context(started("delay",
            [sys.executable, str(DELAY), str(database.port), str(ONE_WAY_MS)], scratch))
        far = int(wait_for_url(delay).rpartition(":")[2])
        places = dict(zip(PLACES, (None, database.port, far)))
        trips = {place: Database(database.psql, where).round_trip_ms() for place, where in places.items() if where}
        say(f"{len(places) * len(SERVERS)} servers, {rounds} x {seconds} s each")
        runs = {}
        for turn in range(rounds):
            for place, name in in_turn([(place, name) for place in places for name in SERVERS], turn):
                say(f"round {turn + 1}: {place}, {name}")
                runs.setdefault((place, name),
                                []).append(measure(name, places[place], database, chosen.bin_dir, seconds))

    rows, lines = [], []
    for (place, name), them in runs.items():
        rates = [it["req_per_s"] for it in them]
        row = {"place": place, "server": name, "statements": them[0]["statements"], "req_per_s": spread(rates),
               "p50_ms": spread(it["p50_ms"] for it in them),
               "server_cores": spread(it["server_cores"] for it in them), "over_slow": ratio(rates,
                   [it["req_per_s"] for it in runs[place, "slow"]])}
        rows.append(row)
        lines.append([f"{place}: {name}", number(row["statements"], 0), number(row["req_per_s"]["median"]),
                      number(row["p50_ms"]["median"], 2),
                      percent(row["server_cores"]["median"]), "" if name == "slow" else span(row["over_slow"], 1)])
    shown = ["", "queries", "req/s", "p50 ms", "CPU", "over slow"], lines
    print(f"\n{CASE}: {users} users, without a pause; the median of {rounds} "
          f"round{'s' * (rounds > 1)}\n\n{table(*shown)}\n")
    notes = [f"PostgreSQL {place}: a query without any work takes {ms:.2f} ms" for place, ms in trips.items()]
    notes += ["queries are those that PostgreSQL executes for a request; CPU is that of our server alone",
              *[SHORT] * chosen.short]
    print("".join(f"note: {note}\n" for note in notes))
    ratios = {PLACES[row["place"]]: row["over_slow"] for row in rows if row["server"] == "fixed"}
    record = {"users": users, "seconds": seconds, "rounds": rounds,
              "round_trip_ms": {PLACES[place]: ms for place, ms in trips.items()},
              "rows": rows, "fixed_over_slow": ratios, "notes": notes}
    save("replicate-postgres", record, chosen, ["postgres"], load=shown)
    return 0
