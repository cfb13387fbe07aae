"""The parts that need no load generator: the case files, the tools' output, the table, and the processes."""

import argparse
import asyncio
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import tomllib
import unittest
import unittest.mock
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from harness import BIN_DIR, ROOT, TARGET, Problem, compare, engines, lab, processes, report
from harness.install import INSTALLERS
from harness.lab import Server
from harness.processes import started, wait_for, wait_for_url
from heaptrack_valgrind import run as counts
from hotspot import run as hotspot
from locust import run as locust_run
from mongodb import run as mongodb
from mystery import run as mystery
from protocol import Refused, only_request, refuse_features_of_lab
from proxy import waterfall
from releases import run as releases
from releases import sides
from soak import broken
from soak import run as soak
from soak import troubles
from varnish import profiles, servers
from wild import data as wild_data
from wild import run as wild

locust = engines.script("locust")

WRK = """Running 1s test @ http://127.0.0.1:1/read
  Latency Distribution
     50%  116.00us
     75%    0.88ms
     99%    1.03s 
  53457 requests in 1.11s, 7.04MB read
  Socket errors: connect 0, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 7
Requests/sec:  48297.04
"""
OHA = {
    "summary": {"total": 2.0, "requestsPerSec": 195.0},
    "latencyPercentiles": {"p50": 0.0515, "p99": 0.0557},
    "statusCodeDistribution": {"200": 370, "503": 10},
    "errorDistribution": {"aborted due to deadline": 10, "connection refused": 1},
}
AB = """Complete requests:      %d
Failed requests:        1
Non-2xx responses:      2
Requests per second:    177.11 [#/sec] (mean)
  50%%     51
  99%%     52
 100%%     52 (longest request)
"""
K6 = {
    "http_reqs": {"values": {"count": 20, "rate": 9.5}},
    "http_req_duration": {"values": {"med": 51.2, "p(99)": 53.4}},
    "ok": {"values": {"count": 18}},
    "wrong": {"values": {"count": 2}},
    "dropped_iterations": {"values": {"count": 1}},
}
DHAT = {
    "ftbl": ["[root]", "0x1: malloc (in /lib/dhat.so)", "0x2: opendir (opendir.c:63)", "0x3: main (in /bin/server)"],
    "pps": [{"tb": 300, "tbk": 3, "fs": [1, 3]}, {"tb": 32816, "tbk": 1, "fs": [1, 2, 3]}],
}
CACHEGRIND = """desc: I1 cache: none
events: Ir
fl=./malloc/malloc.c
fn=_int_malloc
3900 70
3901 5
fl=???
fn=main
0 25
summary: 100
"""


# Two samples, of which only the first has more than one frame.
PERF = """
\tffffffff8202 tcp_ack ([kernel.kallsyms])
\tffffffff81e6 net_rx_action ([kernel.kallsyms])
\tffffffff8130 __x64_sys_epoll_ctl ([kernel.kallsyms])
\t       fde9d __GI___writev (/usr/lib/x86_64-linux-gnu/libc.so.6)


\t      125984 hyper::proto::h1::io::Buffered<T,B>::poll_flush (/a b/fixed)
"""
STATUS = """Active connections: 1
server accepts handled requests
 12 12 345
Reading: 0 Writing: 1 Waiting: 0
"""


class Settings(unittest.TestCase):
    def test_a_library_that_the_system_lacks_is_no_path(self):
        self.assertIsNone(compare.library("LD_PRELOAD={no-such-library.so.9}"))
        self.assertEqual(compare.library("MALLOC_ARENA_MAX=2"), "MALLOC_ARENA_MAX=2")

    def test_an_estimate_has_its_interval_or_is_missing(self):
        self.assertEqual(compare.interval({"estimate": 1.234, "low": 1.1, "high": 1.5}), "1.23 (1.10 to 1.50)")
        self.assertEqual(compare.interval(None), "-")


class Lab(unittest.TestCase):
    def test_a_case_is_described_by_its_name_and_its_alias(self):
        about = lab.case("busy-server", "slow", "fixed")
        self.assertEqual((about["case"], about["load"]["users"]), ("hot-clone", lab.connections(about)))

    def test_a_case_or_a_variant_that_does_not_exist_is_named(self):
        with self.assertRaisesRegex(Problem, "no case is named `no-such-case`"):
            lab.case("no-such-case")
        with self.assertRaisesRegex(Problem, "lock-scope has no variant `quick`; it has slow, "):
            lab.case("lock-scope", "slow", "quick")

    def test_the_figures_of_a_run(self):
        with lab.serving(BIN_DIR, "lock-scope-fixed") as session:
            outcome = session.load(0.3, arrivals={"closed_loop": {"users": 2, "think_ms": 5}})
        found = lab.figures(outcome)
        self.assertAlmostEqual(found["req_per_s"], outcome["ok_in_time"] / outcome["measured_s"])
        self.assertTrue(0 < found["p50_ms"] <= found["p99_ms"] and found["failed"] == 0, found)
        self.assertEqual(found["generator_cores"], found["busiest_cores"])


class Output(unittest.TestCase):
    def check(self, name, output, *expected):
        outcome = engines.script(name).parse(*output)
        self.assertEqual(outcome["sent"], sum(outcome[key] for key in ("ok", "wrong", "failed", "unfinished")))
        for value, wanted in zip(engines.parsed(name, *output).values(), expected, strict=True):
            self.assertAlmostEqual(value, wanted, places=1)

    def test_wrk_units_and_errors(self):
        self.check("wrk", [WRK], 48290.7, 0.116, 1030, 12)

    def test_oha_leaves_out_what_the_deadline_cut_off(self):
        self.check("oha", [json.dumps(OHA)], 185, 51.5, 55.7, 11)
        self.assertEqual(engines.script("oha").parse(json.dumps(OHA))["unfinished"], 10)

    def test_ab_reads_fractions_only_from_a_long_list(self):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "ab.csv").write_text("Percentage served,Time in ms\n0,50.4\n50,51.25\n99,0.000\n")
            self.check("ab", [AB % 40, Path(directory)], 163.8, 51, 52, 3)
            (Path(directory) / "ab.csv").write_text("Percentage served,Time in ms\n0,50.4\n50,51.25\n99,51.929\n")
            self.check("ab", [AB % 182, Path(directory)], 174.2, 51.25, 51.929, 3)

    def test_k6_counts_failures_and_dropped_arrivals(self):
        self.check("k6", [json.dumps(K6)], 8.55, 51.2, 53.4, 3)

    def test_cut_off_output_is_an_error(self):
        for name, text in [("wrk", WRK[:60]), ("oha", "{"), ("k6", "")]:
            with self.assertRaisesRegex(Problem, f"cannot read the output of {name}"):
                engines.parsed(name, text)


class Plans(unittest.TestCase):
    PLAN = {
        "target": {"address": "127.0.0.1:1", "host": "127.0.0.1:1",
                   "tls": None}, "arrivals": {"closed_loop": {"users": 2}}, "options": {},
        "requests": [{"method": "GET", "path": "/", "headers": [], "body_file": None,
                      "expected": {"status": 200, "answer": "any"}}],
    }

    def test_what_a_tool_cannot_do_is_refused(self):
        for change, words in [
            ({"requests": 2 * self.PLAN["requests"]}, "wrk repeats one request, and this visit has 2"),
            ({"arrivals": {"open_loop": {"rate_per_s": 9, "connections": 2}}}, "wrk has no open loop"),
            ({"arrivals": {"closed_loop": {"users": 2, "think_ms": 5}}}, "the users of wrk cannot pause"),
            ({"arrivals": {"closed_loop": {"users": 2, "connections": 6}}}, "wrk has one connection for each user"),
            ({"options": {"workers": 2}}, "wrk has no workers"),
        ]:
            with self.assertRaisesRegex(Refused, words):
                only_request({**self.PLAN, **change}, "wrk")
        request, load = only_request(self.PLAN, "wrk")
        self.assertEqual((request["path"], load["users"]), ("/", 2))
        random = {"arrivals": {"open_loop": {"rate_per_s": 9, "connections": 2, "spacing": {"random": {"seed": 1}}}}}
        with self.assertRaisesRegex(Refused, "evenly"):
            only_request({**self.PLAN, **random}, "oha", open_loop=True)

    def test_what_only_lab_can_do_is_refused(self):
        refuse_features_of_lab(self.PLAN, "wrk")
        (request,) = self.PLAN["requests"]
        two = {**request, "expected": {**request["expected"], "or": {"text": "7"}}}
        rising = {"open_loop": {"rate_per_s": 9, "connections": 2, "doubles_every_s": 5}}
        for feature, change in [
            ("visits", {"visits": [{"name": "a", "weight": 1, "alternatives": [[request]]}], "requests": []}),
            ("stop_when", {"stop_when": {"wrong": True}}),
            ("doubles_every_s", {"arrivals": rising}),
            ("expected.or", {"requests": [two]}),
        ]:
            with self.assertRaisesRegex(Refused, f"wrk does not support `{feature}`"):
                refuse_features_of_lab({**self.PLAN, **change}, "wrk")

    def test_a_plan_takes_its_bodies_along(self):
        plan = {**self.PLAN, "warm_up_s": 0, "measurement_s": 2, "grace_s": 1,
                "requests": [dict(*self.PLAN["requests"])]}
        with tempfile.TemporaryDirectory() as directory:
            body, kit = Path(directory) / "body", Path(directory) / "kit"
            body.write_text("text")
            plan["requests"][0]["body_file"] = str(body)
            kit.mkdir()
            locust.write_files(plan, kit)
            text = (kit / "plan.json").read_text()
            (request,) = json.loads(text)["requests"]
            self.assertEqual((kit / request["body_file"]).read_text(), "text")
            # It can be copied to another machine.
            self.assertNotIn(directory, text)


class Proxies(unittest.TestCase):
    def test_the_page_has_the_articles_size(self):
        self.assertEqual(len(servers.page()), 11_321)

    def test_the_backend_counts_connections_and_requests(self):
        self.assertEqual(servers.parse_status(STATUS), (12, 345))

    def test_samples_have_categories(self):
        kernel = "[kernel.kallsyms]"
        for expected, *frames in [
            (profiles.NETWORK, ("copy", kernel), ("tcp_sendmsg", kernel), ("writev", "/usr/lib/libc.so.6")),
            (profiles.WAITING, ("tcp_poll", kernel), ("do_epoll_wait", kernel)),
            (profiles.NETWORK, ("ep_poll_callback", kernel), ("net_rx_action", kernel), ("do_epoll_wait", kernel)),
            (profiles.KERNEL, ("clear_page", kernel), ("exc_page_fault", kernel)),
            (profiles.LIBC, ("_int_malloc", "/usr/lib/x86_64-linux-gnu/libc.so.6")),
            (profiles.TOKIO, ("<&mio::net::tcp::stream::TcpStream as std::io::Write>::write_vectored", "/bin/fixed")),
            (profiles.OWN, ("[unknown]", "/usr/sbin/nginx")),
        ]:
            self.assertEqual(profiles.category(frames), expected, frames)

    def test_shares_add_up(self):
        found = profiles.shares(profiles.parse_script(PERF))
        self.assertEqual((found["samples"], found["shares"][profiles.NETWORK], found["shares"][profiles.OWN]),
                         (2, 0.5, 0.5))
        self.assertEqual([it["file"] for it in found["top"]], ["kernel", "fixed"])

    def test_events_that_perf_cannot_count_are_left_out(self):
        text = "# started\n\n4621,,raw_syscalls:sys_enter,99,100.00,,\n<not supported>,,context-switches,0,100.00,,\n"
        self.assertEqual(profiles.parse_stat(text), {"raw_syscalls:sys_enter": 4621})


class Counts(unittest.TestCase):
    def test_what_the_tools_wrote(self):
        opendir = {"allocations": 1, "bytes": 32816}
        self.assertEqual(counts.parse_heaptrack("100\t3\n32816\t1\n", "main;read_dir;opendir 1\nmain 3\n"),
                         {"allocations": 4, "bytes": 33116, "opendir": opendir})
        self.assertEqual(counts.parse_dhat(json.dumps(DHAT)), {"allocations": 4, "bytes": 33116, "opendir": opendir})
        self.assertEqual(counts.parse_cachegrind(CACHEGRIND),
                         {"instructions": 100, "allocator": 75,
                          "functions": {"_int_malloc (malloc.c)": 75, "main": 25}})

    def test_the_cost_of_a_visit_is_a_difference(self):
        first = {"instructions": 1000, "functions": {"setup": 900, "work": 100}}
        second = {"instructions": 1203, "functions": {"setup": 901, "work": 300, "more": 2}}
        self.assertEqual(counts.per_visit(first, second, 2), {"instructions": 101.5, "functions": {"work": 100}})

    def test_the_allocator_of_glibc(self):
        for name, inside in [("malloc", True), ("_int_free", True), ("unlink_chunk.constprop.0", True),
                             ("free_pages", False), ("main", False)]:
            self.assertEqual(bool(counts.re.match(counts.ALLOCATOR, name)), inside, name)

    def test_stacks_of_perf(self):
        self.assertEqual(hotspot.count_stacks("server \n\t  1f main\n\t  2f start\n\nserver \n\t  1f main\n\n"), (2, 3))


class Table(unittest.TestCase):
    def test_columns_line_up(self):
        self.assertEqual(report.table(["", "req/s"], [["slow", "19.5"], ["fixed", "1,294"]]),
                         "       req/s\nslow    19.5\nfixed  1,294")


class Waterfall(unittest.TestCase):
    FILE = {"path": "/css/a.css", "start": 10, "connect": 12, "connected": 20, "request": 25, "response": 40, "end": 41}

    def test_phases_follow_each_other(self):
        wanted = [("queue", 10, 12), ("connect", 12, 20), ("queue", 20, 25), ("wait", 25, 40), ("body", 40, 41)]
        self.assertEqual(waterfall.phases(self.FILE), wanted)

    def test_an_open_connection_has_no_phase_of_its_own(self):
        # Chromium then reports the start of the request as the start and the end of the connection.
        reused = {**self.FILE, "connect": 10, "connected": 10}
        self.assertEqual(waterfall.phases(reused), [("queue", 10, 25), ("wait", 25, 40), ("body", 40, 41)])

    def test_every_file_is_in_the_picture(self):
        page = [{**self.FILE, "path": request["path"]} for request in lab.case("per-request-client")["requests"]]
        picture = ElementTree.fromstring(waterfall.draw("A & B", [("none", "<direct>", page), ("node", "", page)]))
        titles = [group.find("{*}title").text for group in picture.iterfind("{*}g")]
        self.assertEqual(len(titles), 2 * len(page))
        self.assertIn("/fonts/code.woff2: 10 to 41 ms", titles)


class Records(unittest.TestCase):
    """The records that the course quotes, and the newest of each replication that ran here."""

    def test_they_have_what_a_page_needs(self):
        files = list(report.PUBLISHED.glob("*.json"))
        for directory in (TARGET / "lab" / "replications").glob("*/"):
            files += sorted(directory.glob("*.json"))[-1:]
        for file in files:
            record = json.loads(file.read_text(encoding="utf-8"))
            with self.subTest(file.name):
                self.assertTrue(record["command"].startswith("just "))
                self.assertTrue(record["machine"]["cores"] and record["date"])
                self.assertNotIn(None, record["versions"].values())
                # A profile for Hotspot has no table.
                for table in record["tables"].values():
                    self.assertTrue(table["rows"] and table["origin"].startswith("Made by `just "))
                    for row in table["rows"]:
                        self.assertEqual([type(cell) for cell in row], [str] * len(table["head"]), row)
                self.assertFalse(file.is_relative_to(report.PUBLISHED) and record["short"])


class Wild(unittest.TestCase):
    LOG = """10 accept4(3, NULL, NULL, SOCK_CLOEXEC) = 5
10 setsockopt(5, SOL_TCP, TCP_NODELAY, [1], 4) = 0
11 openat(AT_FDCWD, "page.html", O_RDONLY <unfinished ...>
10 write(5, "x", 1) = 1
11 <... openat resumed>) = 6
"""

    def opinion(self, late=0, nodelay=0, per_answer=None):
        load = {"req_per_s": 1000, "p50_ms": 1, "p99_ms": 1, "failed": 0, "cores": 1.9}
        return {"wrk": {"1": load, "16": load, "64": load}, "delayed": {"answers": 100, "late": late},
                "strace": {"answers": 100, "per_answer": {"TCP_NODELAY": nodelay, **(per_answer or {})}}}

    def test_system_calls_count_once_even_if_another_thread_interrupts_them(self):
        self.assertEqual(wild.system_calls(self.LOG),
                         {"accept4": 1, "setsockopt": 1, "openat": 1, "write": 1, "TCP_NODELAY": 1})

    def test_a_suspect_is_confirmed_refuted_or_open(self):
        named = [{"id": name, "title": name, "accounts_for": None, "evidence": "", "instead_of": []}
                 for name in ("nagle", "opens", "allocation")]
        suspects, missed = wild.judged({}, {"suspects": named}, self.opinion(44, 0, {"openat": 1, "fsync": 1}))
        self.assertEqual([it["verdict"] for it in suspects], ["confirmed", "refuted", "open"])
        self.assertEqual(missed, {"flush": "strace: 1.00 flushes per request"})
        by_hand = {"judged": {"allocation": ["confirmed", "heaptrack: 9,000 per request"]}}
        suspects, _ = wild.judged(by_hand, {"suspects": named}, self.opinion(44, 0.1))
        self.assertEqual([it["verdict"] for it in suspects], ["refuted", "refuted", "confirmed"])

    def test_a_queue_is_missed_once_and_not_if_any_rule_of_queues_named_it(self):
        idle = self.opinion()
        for load in idle["wrk"].values():
            load["cores"] = 0.1
        self.assertEqual(list(wild.judged({}, {"suspects": []}, idle)[1]), ["lock"])
        pool = [{"id": "pool", "title": "", "accounts_for": None, "evidence": "", "instead_of": []}]
        self.assertEqual(wild.judged({}, {"suspects": pool}, idle)[1], {})

    def test_one_server_that_fails_leaves_the_results_of_the_others(self):
        with contextlib.redirect_stderr(io.StringIO()):
            results, left_out = wild.each([{"name": "a", "users": 2}, {"name": "b", "users": 0}], "name",
                                          lambda it: 1 / it["users"])
            self.assertRaises(Problem, wild.each, [{"name": "b"}], "name", lambda it: it["users"])
        self.assertEqual((results, left_out), ({"a": 0.5}, {"b": "ZeroDivisionError: division by zero"}))

    def test_each_server_is_complete_and_its_data_the_same_every_time(self):
        for server in wild.LISTS["server"]:
            self.assertIn("{port}", server["command"])
            self.assertTrue(server["get"].startswith("/")
                            and (server["install"] == "system" or server["install"] in INSTALLERS))
        self.assertEqual(len(wild_data.page(40_000)), 40_000)
        self.assertEqual(wild_data.text(99), wild_data.text(100)[:99])


class Releases(unittest.TestCase):
    TEXTS = ("name", "program", "slow", "fast", "changed", "claim", "source", "install", "command", "get")

    def test_each_pair_is_complete_and_its_suspects_are_rules(self):
        rules = tomllib.loads((ROOT / "crates/lab/triage/src/rules.toml").read_text(encoding="utf-8"))["rule"]
        rules = {rule["id"] for rule in rules}
        self.assertEqual(len({pair["name"] for pair in sides.PAIRS}), len(sides.PAIRS))
        self.assertTrue({*releases.CHEAP} <= {pair["name"] for pair in sides.PAIRS})
        for pair in sides.PAIRS:
            with self.subTest(pair["name"]):
                self.assertTrue(all(pair[key].strip() for key in self.TEXTS))
                self.assertNotEqual(pair["slow"], pair["fast"])
                self.assertTrue(pair["suspects"] and {*pair["suspects"]} <= rules)
                self.assertTrue("{port}" in pair["command"] and pair["get"].startswith("/"))
                self.assertIn(pair["install"], {*INSTALLERS, "system", "build"})
                if pair["install"] == "build":
                    self.assertTrue((sides.SERVERS / pair["server"]).is_file())
                    # The version of one crate differs, and no other line.
                    lines = [sides.manifest(pair, side).splitlines() for side in sides.SIDES]
                    differing = [line for line, other in zip(*lines, strict=True) if line != other]
                    self.assertEqual(len(differing), 1)
                    self.assertTrue(differing[0].startswith(f"{pair['program']} = "))

    def test_every_server_belongs_to_a_pair(self):
        used = " ".join(f"{pair.get('server')} {pair['command']}" for pair in sides.PAIRS)
        for path in sides.SERVERS.iterdir():
            self.assertIn(path.stem if path.suffix == ".py" else path.name, used)

    def test_two_lock_files_differ_in_versions_and_crates(self):
        slow = {"axum": ["0.7.3"], "syn": ["1.0.0", "2.0.0"], "old": ["1.0.0"]}
        fast = {"axum": ["0.7.4"], "syn": ["1.0.0", "2.0.0"], "new": ["3.0.0"]}
        self.assertEqual(sides.differs(slow, fast), {"axum": [["0.7.3"], ["0.7.4"]], "new": [[], ["3.0.0"]],
                                                     "old": [["1.0.0"], []]})

    def result(self, verdict="faster", slow=(), fast=(), metric="throughput"):
        def card(names):
            return {"suspects": [{"id": name, "title": name, "accounts_for": "9 %"} for name in names]}

        triage = {"slow": card(slow), "fast": card(fast)}
        pair = {"suspects": ["nagle"]}
        return {"program": "p", "versions": ["1", "2"], "claim": "c", "triage": triage, "measured": "2026-01-02",
                "named": {side: releases.place(it, pair) for side, it in triage.items()},
                "machine": {"cpu": None, "arch": "x86_64", "cores": 2},
                "compared": {"verdict": verdict, "metric": metric,
                             "speedup": {metric: {"estimate": 2.0, "low": 1.5, "high": 120.4}}}}

    def test_a_fault_is_named_if_triage_says_so_of_the_slow_side_alone(self):
        results = {"a": self.result(slow=["nagle"]), "b": self.result(slow=["lock", "nagle"], fast=["lock"]),
                   "c": self.result(slow=["nagle"], fast=["nagle"]), "d": self.result("undecided", slow=["nagle"])}
        self.assertEqual(releases.totals(results), {"pairs": 4, "decided": 3, "named": 2, "named_first": 1,
                                                    "named_on_the_fast_side": 1})

    def test_a_row_has_the_factor_that_decides_and_first_the_suspect_that_names_the_fault(self):
        row, = releases.rows({"a": self.result(slow=["lock", "nagle"])})
        self.assertEqual(row, ["p", "1", "2", "c", "2.00× (1.50× to 120×) the throughput", "faster",
                               "**nagle (9 %)**; lock (9 %)", "no suspect", "2026-01-02"])
        failed = {"verdict": "failed", "why": "answers are lost", "metric": None, "speedup": {}}
        self.assertEqual(releases.factor(failed), "answers are lost")
        self.assertEqual(releases.suspected({"failed": "it exited", "suspects": []}, None), "it exited")

    def test_the_origin_has_the_days_and_machines_of_all_rows(self):
        early = self.result() | {"measured": "2026-01-01"}
        self.assertEqual(releases.origin({"a": self.result(), "b": early}),
                         "Made by `just replicate releases NAME` for each pair on x86_64 (2 cores), "
                         "2026-01-01 to 2026-01-02.")

    def test_a_record_keeps_the_rows_of_other_pairs(self):
        first, second, *_ = (pair["name"] for pair in sides.PAIRS)
        with tempfile.TemporaryDirectory() as here, unittest.mock.patch.object(releases, "PUBLISHED", Path(here)):
            Path(here, "replicate-releases.json").write_text(json.dumps({"pairs": {second: 1, "gone": 2, first: 3}}))
            kept = releases.merged({second: 4}, argparse.Namespace(publish=True))
            self.assertEqual(list(kept.items()), [(first, 3), (second, 4)])
            self.assertEqual(releases.merged({second: 4}, argparse.Namespace(publish=False)), {second: 4})


class Mystery(unittest.TestCase):
    def test_each_planted_fault_has_rules_that_exist(self):
        rules = tomllib.loads((ROOT / "crates/lab/triage/src/rules.toml").read_text(encoding="utf-8"))["rule"]
        rules = {rule["id"] for rule in rules}
        self.assertTrue({name for names in mystery.NAMED_BY.values() for name in names} <= rules)
        self.assertTrue({fault for pair in mystery.PAIRS for fault in pair.split("+")} <= mystery.NAMED_BY.keys())

    def test_a_suspect_is_right_or_a_false_alarm(self):
        for planted, suspects, words, alarms in [
            ([], [], "nothing, rightly", 0),
            ([], ["lock"], "false alarm", 1),
            (["lock"], ["lock"], "named first", 0),
            (["lock"], ["pool", "lock"], "named", 1),
            (["pool"], ["limit"], "named first", 0),
            (["regex"], ["allocation"], "missed", 1),
            (["clone", "regex"], ["regex"], "1 of 2 named", 0),
            (["clone", "lock"], ["lock", "allocation", "nagle"], "2 of 2 named", 1),
        ]:
            it = mystery.judged(planted, suspects)
            self.assertEqual((mystery.result(it), len(it["false_alarms"])), (words, alarms), planted)

    def test_the_totals_add_up(self):
        cards = {"healthy": ([], ["lock"]), "lock": (["lock"], ["lock"]), "regex": (["regex"], []),
                 "clone+lock": (["clone", "lock"], ["lock"])}
        found = mystery.totals({name: mystery.judged(*card) for name, card in cards.items()})
        self.assertEqual([found[key] for key in ("alone", "first", "missed")], [2, 1, 1])
        self.assertEqual([found[key] for key in ("of_pairs", "named_of_pairs", "false_alarms")], [2, 1, 1])


class Mongodb(unittest.TestCase):
    def test_each_package_pins_its_driver_and_the_bson_of_that_time(self):
        for package in mongodb.PACKAGES[:3]:
            version = f"2.0.0-{package.replace('-', '.')}"
            self.assertEqual(mongodb.driver(package), version)
            self.assertIn(f'bson = "={version}"', mongodb.manifest(package))
        self.assertTrue(mongodb.driver("today").startswith("3."))

    def test_each_round_begins_with_another_choice(self):
        order = []
        with contextlib.redirect_stderr(io.StringIO()):
            runs = mongodb.alternate(3, ["a", "b", "c"], lambda choice: order.append(choice) or len(order))
        self.assertEqual("".join(order), "abcbcacab")
        self.assertEqual(runs, {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]})

    def test_figures_that_a_system_does_not_count_are_left_out(self):
        runs = [{"ms": 2.0, "server_cpu_ms": None}, {"ms": 1.0, "server_cpu_ms": None}]
        self.assertEqual(mongodb.summary(runs), {"ms": {"median": 1.5, "lowest": 1.0, "highest": 2.0}})


class Processes(unittest.TestCase):
    def run_shell(self, script):
        return started("server", ["sh", "-c", script], Path(self.enterContext(tempfile.TemporaryDirectory())))

    def test_the_announced_url_is_found_and_the_server_stopped(self):
        with self.run_shell("echo counting; echo listening on http://127.0.0.1:1; exec sleep 60") as server:
            self.assertEqual(wait_for_url(server), "http://127.0.0.1:1")
        self.assertFalse(server.running())

    def test_a_server_that_does_not_start_is_named_with_its_last_words(self):
        with self.run_shell("echo error: no port >&2; exit 3") as server:
            with self.assertRaisesRegex(Problem, "server died with status 3: error: no port"):
                wait_for_url(server)

    def test_a_server_that_dies_ends_the_load(self):
        with self.run_shell("exec sleep 60") as load, self.run_shell("exit 3") as server:
            with self.assertRaisesRegex(Problem, "server died with status 3"):
                wait_for(load, [server], 60)
        self.assertFalse(load.running())

    def test_a_killed_master_leaves_no_workers(self):
        with self.run_shell("sleep 60 & echo listening on http://$!; wait") as server:
            worker = int(wait_for_url(server).removeprefix("http://"))
            self.assertIn(worker, server.family())
            server.child.kill()
            server.child.wait()
        end = time.monotonic() + 10
        # A signal takes effect only when the process runs next.
        with contextlib.suppress(OSError):
            while ") Z " not in Path(f"/proc/{worker}/stat").read_text():
                self.assertLess(time.monotonic(), end, f"process {worker} lives on")
                time.sleep(0.01)


class Soak(unittest.TestCase):
    def faults(self, short=False, **changes):
        session = unittest.mock.Mock(servers=[Server("fixed", 1)])
        held = {"sent": 9, "ok": 9, "ends": Counter({("slow", "200"): 5, ("silent", "closed"): 5,
            ("garbage", "400"): 2}), "mib": [[20]] + 4 * [[40]], "descriptors": 5 * [[9]]}
        it = soak.Soaked(None, session, **{**held, **changes})
        return " ".join(it.faults(short))

    def test_a_server_that_holds_has_no_fault(self):
        self.assertEqual(self.faults(), "")
        # A burst opens connections, which a pool closes again. A leak would stay.
        self.assertEqual(self.faults(descriptors=[[9], [9], [9], [9], [9], [97], [9]]), "")

    def test_each_way_not_to_hold_is_a_fault(self):
        for words, change in [
            ("fixed panicked at main.rs:3", {"panic": "fixed panicked at main.rs:3"}),
            ("2 of 9 visits got no right answer: unfinished", {"ok": 7}),
            ("1 slow clients ended with `closed`", {"ends": Counter({("slow", "closed"): 1})}),
            ("1 garbage clients ended with `500`", {"ends": Counter({("garbage", "500"): 1})}),
            ("1 silent clients ended with `open`", {"ends": Counter({("silent", "open"): 1})}),
            ("fixed grew from 41.0 to 48.0 MiB", {"mib": [[40], [40], [41], [47], [48]]}),
            ("fixed grew from 9.0 to 11.0 descriptors", {"descriptors": [[9], [9], [9], [9], [11]]}),
        ]:
            self.assertEqual(self.faults(**change), words)
        self.assertEqual(self.faults(short=True, mib=[[20], [30], [40]]), "")
        self.assertEqual(self.faults(short=True, descriptors=[[9], [9], [11]]),
                         "fixed grew from 9.0 to 11.0 descriptors")

    def test_a_broken_client_says_how_it_ended(self):
        async def answer(reader, writer):
            head = await reader.readuntil(b"\r\n\r\n")
            if b"content-length" in head:
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        async def ends():
            async with await asyncio.start_server(answer, "127.0.0.1", 0, limit=4 * broken.HUGE) as server:
                host = ":".join(map(str, server.sockets[0].getsockname()))
                kinds = (broken.half_closed, broken.slow, broken.huge)
                answered = [await broken.visit(kind, host, b"GET / HTTP/1.1\r\n\r\n") for kind in kinds]
            return [*answered, await broken.visit(broken.slow, host, b"\r\n\r\n")]

        self.assertEqual(asyncio.run(ends()), ["400", "closed", "closed", "refused"])


class Troubles(unittest.TestCase):
    SAID = "measuring\n\ninterrupted: the servers are stopped and nothing was written\n"

    def wrong(self, kind, code, said):
        return " ".join(troubles.Troubles("", Path()).wrong("compare", kind, code, said))

    def test_a_run_that_says_how_it_ended_has_no_fault(self):
        self.assertEqual(self.wrong(signal.SIGTERM, 130, self.SAID), "")
        self.assertEqual(self.wrong(signal.SIGKILL, 2, "note: a\nerror: it ended\n  why?\n  | its last line\n"), "")

    def test_another_code_and_another_message_are_faults(self):
        self.assertIn("exit code 143 instead of 130", self.wrong(signal.SIGTERM, 143, self.SAID))
        self.assertIn("exit code 130 instead of 2", self.wrong(signal.SIGKILL, 130, self.SAID))
        for said in ("", "error: a\nerror: b\n", "error: a\n  b\n  c\n", self.SAID):
            self.assertIn("not one error of at most two lines", self.wrong(signal.SIGKILL, 2, said))

    def test_a_process_is_found_by_its_environment_and_its_port_by_its_socket(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            child = subprocess.Popen(["sleep", "60"], env=os.environ | {"LAB_HERE": "1"}, pass_fds=[listener.fileno()])
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
            while "sleep 60" not in processes.below("LAB_HERE", "1").values():
                time.sleep(0.01)
            self.assertEqual(processes.below("LAB_HERE", "1"), {child.pid: "sleep 60"})
            ports = processes.listening([child.pid])
        self.assertEqual(len(ports), 1)
        self.assertEqual(ports & processes.listening(), ports)
        child.kill()
        child.wait()
        self.assertFalse(processes.below("LAB_HERE", "1") or ports & processes.listening())


class Locust(unittest.TestCase):
    RESULT = {
        "seconds": 2.0, "grace_s": 1.0, "longest_s": 0.03, "ok": 40, "ok_in_time": 38, "wrong": 1, "failed": 1,
        "late": 2, "first_fault": "status 503", "latency_us": [[500, 20], [30000, 20]], "ages_s": [0.2, 0.9],
        "percentiles_ms": {"p50": 0.5, "p99": 30}, "master_cpu_s": 0.1, "lost_workers": [],
        "processes": [{"cpu_s": 1.4, "waited_s": 0.0, "ok_in_time": 20},
                      {"cpu_s": 1.0, "waited_s": 0.9, "ok_in_time": 18}],
    }

    def setUp(self):
        self.scratch = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def start(self, name, script):
        process = locust.Process(name, ["sh", "-c", script], self.scratch)
        self.addCleanup(process.child.stdout.close)
        self.addCleanup(process.child.wait)
        self.addCleanup(process.child.kill)
        return process

    def swarm(self, *workers, master="echo Sending spawn jobs >&2; exec sleep 60"):
        master = self.start("locust", master)
        while not master.err.stat().st_size:
            time.sleep(0.01)
        for worker in workers:
            if worker.name == "gone":
                worker.child.wait()
        return locust.Swarm(master, workers)

    def test_a_lost_worker_is_named_and_the_run_goes_on(self):
        swarm = self.swarm(self.start("gone", "kill -9 $$"), self.start("other", "exec sleep 60"))
        self.assertIsNone(swarm.look())
        self.assertEqual(list(swarm.lost.values()), ["gone was killed by SIGKILL after 0 s"])
        invalid = locust.outcome(self.RESULT, list(swarm.lost.values()))["invalid"]
        self.assertEqual(invalid, "gone was killed by SIGKILL after 0 s, so the load was lighter than planned")

    def test_without_workers_the_run_ends(self):
        swarm = self.swarm(self.start("gone", "echo no memory >&2; exit 3"))
        self.assertEqual(swarm.look(), "no worker is left: gone ended with status 3: no memory")

    def test_a_worker_that_does_not_start_ends_the_run(self):
        swarm = self.swarm(self.start("gone", "echo no module named gevent >&2; exit 1"),
                           master="echo waiting >&2; exec sleep 60")
        self.assertEqual(swarm.look(), "gone ended with status 1: no module named gevent, before the load began")

    def test_a_worker_on_another_machine_is_missed(self):
        log = ("Sending spawn jobs\nWorker east_9f failed to send heartbeat, setting state to missing.\n"
               "Worker 'west_1c' (index 1) quit.")
        swarm = self.swarm(master=f"echo \"{log}\" >&2; exec sleep 60")
        swarm.look()
        self.assertEqual(list(swarm.lost), ["east_9f", "west_1c"])

    def test_workers_that_leave_after_the_window_are_not_lost(self):
        swarm = self.swarm(self.start("gone", "exit 0"))
        swarm.is_over = True
        self.assertIsNone(swarm.look())
        self.assertEqual(swarm.lost, {})

    def test_an_outcome_accounts_for_all_that_locust_counted(self):
        outcome = locust.outcome(self.RESULT, [])
        self.assertEqual((outcome["sent"], outcome["unfinished"], outcome["youngest_unfinished_s"]), (44, 2, 0.2))
        self.assertEqual(sum(count for _, count in outcome["latency_us"]), 42)
        # The busiest process has the least time left.
        self.assertEqual((outcome["generator_cpu_s"], outcome["generator_waited_s"], outcome["total_cpu_s"]),
                         (1.0, 0.9, 2.5))
        self.assertEqual((outcome["unanswered"]["ages_s"], outcome["invalid"]), ([0.2, 0.9], None))
        self.assertIn("Locust lost 1 of its workers",
                      locust.outcome({**self.RESULT, "lost_workers": ["x"]}, [])["invalid"])

    def test_what_locust_cannot_do_is_refused(self):
        plan = {"arrivals": {"closed_loop": {}}, "options": {"listen": "192.168.1.5"}}
        self.assertEqual(locust.check(plan)[1]["workers"], 1)
        for change, words in [
            ({"arrivals": {"open_loop": {}}}, "Locust has no open loop"),
            ({"options": {"quick_ack": True}}, "Locust has no quick_ack"),
            ({"options": {"listen": "0.0.0.0"}}, "an address that they reach"),
        ]:
            with self.assertRaisesRegex(Refused, words):
                locust.check({**plan, **change})

    def test_lab_is_quoted_only_for_the_same_load(self):
        load = {"users": 3000, "think_ms": 500, "requests": 1}
        self.assertTrue({"slow", "fixed"} <= locust_run.from_lab("lock-scope", load).keys())
        self.assertEqual(locust_run.from_lab("lock-scope", {**load, "users": 300}), {})

    def test_the_tables_are_narrow(self):
        outcome = {"measured_s": 20, "ok": 9, "unfinished": 1,
                   "figures": {"throughput_rps": 1294.4, "p50_ms": 152345, "p99_ms": 161234, "server_cores": 0.06,
                               "faults": 0},
                   "master_cpu_s": 0.2, "invalid": "worker-1 left", "limited_by": "no time left", "processes": [{"ok_in_time": 6480, "cpu_s": 18.8,
                                                                                   "waited_s": 1}] * 4}
        row = locust_run.as_row("fixed", "FastHttpUser", 4, outcome)
        for shown in (locust_run.compared([row], {"fixed": 820}), locust_run.scaled([row])):
            text = report.table(*shown)
            self.assertIn("1,294", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        for change, words in (({}, "worker-1 left; do not compare this row"), ({"lost": None}, "no time left")):
            (note, *_) = locust_run.notes({**row, **change}, {"users": 3000, "think_ms": 500, "seconds": 20}, {})
            self.assertIn(words, note)

    def test_a_client_that_measured_only_fixed_is_compared_with_the_other_slow(self):
        measured = [("slow", "HttpUser", 20), ("fixed", "HttpUser", 1000), ("fixed", "FastHttpUser", 3000),
                    ("slow", "lab", 19)]
        rows = [{"variant": variant, "client": client, "req_per_s": rate} for variant, client, rate in measured]
        self.assertEqual(locust_run.speedups(rows), {"HttpUser": 50, "FastHttpUser": 150})


if __name__ == "__main__":
    unittest.main()
