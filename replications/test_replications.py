#!/usr/bin/env python3
"""The parts that need no load generator: the case files, the tools' output, the table, and the processes."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from crosscheck import generators
from harness import cases, report
from harness.processes import started, wait_for, wait_for_url
from mongodb import run as mongodb

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
    "http_req_failed": {"values": {"rate": 0.1, "passes": 2, "fails": 18}},
}


class CaseFiles(unittest.TestCase):
    def test_every_case_can_be_read(self):
        for file in (cases.ROOT / "crates").glob("*/case.toml"):
            case = cases.read(file.parent.name)
            self.assertTrue({"slow", "fixed"} <= set(case.variants), case.name)
            for request in case.requests:
                self.assertTrue(request.answer is not None or (request.bytes and request.crc32), request.path)

    def test_an_alias_finds_its_case(self):
        self.assertEqual(cases.read("busy-server").name, "hot-clone")

    def test_an_unknown_case_lists_the_cases(self):
        with self.assertRaisesRegex(cases.Problem, "no case `no-such-case`; the cases are .*lock-scope"):
            cases.read("no-such-case")

    def test_wrong_answers_are_found(self):
        text = cases.Request("/", answer="6")
        self.assertIsNone(text.fault(200, b"6"))
        self.assertIn("status 503", text.fault(503, b"6"))
        self.assertIn("wrong answer", text.fault(200, b"7"))
        digest = cases.Request("/", bytes=9, crc32="cbf43926")
        self.assertIsNone(digest.fault(200, b"123456789"))
        self.assertIn("wrong answer", digest.fault(200, b"123456780"))


class Output(unittest.TestCase):
    def check(self, result, *expected):
        for value, wanted in zip((result[key] for key in ("req_per_s", "p50_ms", "p99_ms", "failed")), expected, strict=True):
            self.assertAlmostEqual(value, wanted)

    def test_wrk_units_and_errors(self):
        self.check(generators.parse_wrk(WRK), 48297.04, 0.116, 1030, 12)

    def test_oha_leaves_out_what_the_deadline_cut_off(self):
        self.check(generators.parse_oha(json.dumps(OHA)), 190, 51.5, 55.7, 11)

    def test_ab_reads_fractions_only_from_a_long_list(self):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "ab.csv").write_text("Percentage served,Time in ms\n0,50.4\n50,51.25\n99,0.000\n")
            self.check(generators.parse_ab(AB % 40, Path(directory)), 177.11, 51, 52, 3)
            (Path(directory) / "ab.csv").write_text("Percentage served,Time in ms\n0,50.4\n50,51.25\n99,51.929\n")
            self.check(generators.parse_ab(AB % 182, Path(directory)), 177.11, 51.25, 51.929, 3)

    def test_k6_counts_failures(self):
        self.check(generators.parse_k6(json.dumps(K6)), 9.5, 51.2, 53.4, 2)

    def test_cut_off_output_is_an_error(self):
        for parse, text in [(generators.parse_wrk, WRK[:60]), (generators.parse_oha, "{"), (generators.parse_k6, "")]:
            with self.assertRaises((ValueError, AttributeError)):
                parse(text)


class Table(unittest.TestCase):
    def test_columns_line_up(self):
        self.assertEqual(report.table(["", "req/s"], [["slow", "19.5"], ["fixed", "1,294"]]), "       req/s\nslow    19.5\nfixed  1,294")


class Mongodb(unittest.TestCase):
    def test_each_package_pins_its_driver_and_the_bson_of_that_time(self):
        for package in mongodb.PACKAGES[:3]:
            version = f"2.0.0-{package.replace('-', '.')}"
            self.assertEqual(mongodb.driver(package), version)
            self.assertIn(f'name = "bson"\nversion = "{version}"', (mongodb.HERE / package / "Cargo.lock").read_text())
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
            with self.assertRaisesRegex(cases.Problem, "server died with status 3: error: no port"):
                wait_for_url(server)

    def test_a_server_that_dies_ends_the_load(self):
        with self.run_shell("exec sleep 60") as load, self.run_shell("exit 3") as server:
            with self.assertRaisesRegex(cases.Problem, "server died with status 3"):
                wait_for([load], [server], 60)
        self.assertFalse(load.running())


if __name__ == "__main__":
    unittest.main()
