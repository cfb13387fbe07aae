#!/usr/bin/env python3
"""The parts that need no load generator: the case files, the tools' output, the table, and the processes."""

import json
import tempfile
import unittest
from pathlib import Path

from crosscheck import generators
from harness import cases, report
from harness.processes import started, wait_for, wait_for_url
from hotspot import run as hotspot
from memory import run as memory

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
# 25 latencies; `lab` says that their median is 199.807 ms.
LATENCIES = (
    "HISTEwAAADsAAAAAAAAAAwAAAAAAAAABAAAAANaTpAA/8AAAAAAAAOlxAqkBAjUClQ0CCQIbAtEBAkECAwK3AgLLAQI3Aj0CEQIrAgJNAhUCgwECbwI3AqEEAu8CAq8BAlUC"
)
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


class CaseFiles(unittest.TestCase):
    def test_every_case_can_be_read(self):
        for file in (cases.ROOT / "crates").glob("*/case.toml"):
            case = cases.read(file.parent.name)
            self.assertTrue({"slow", "fixed"} <= set(case.variants), case.name)
            for request in case.requests:
                self.assertTrue(request.answer is not None or (request.bytes and request.crc32), request.path)

    def test_counting_overrides_the_case(self):
        case = cases.read("per-request-client").counted()
        self.assertEqual(case.env, {"SSL_CERT_FILE": "{scratch}/ca-bundle.pem", "SSL_CERT_DIR": "{scratch}"})
        self.assertEqual(case.companions[0]["args"][-2:], ["--made-up-authorities", "146"])
        self.assertEqual(len(case.requests), 19)
        self.assertEqual(cases.read("hot-clone").counted().requests[0].path, "/cpu?rounds=10000")

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

    def test_the_histogram_of_lab(self):
        latencies = generators.histogram(LATENCIES)
        self.assertEqual(sum(count for _, count in latencies), 25)
        self.assertEqual(generators.percentile(latencies, 50), 199.807)
        outcome = {"measured": {"secs": 1, "nanos": 250_000_000}, "ok_in_time": 25, "wrong": 1, "failed": 2, "latency": LATENCIES}
        self.check(generators.parse_lab(json.dumps(outcome)), 20, 199.807, latencies[-1][0], 3)

    def test_cut_off_output_is_an_error(self):
        for parse, text in [(generators.parse_wrk, WRK[:60]), (generators.parse_oha, "{"), (generators.parse_k6, "")]:
            with self.assertRaises((ValueError, AttributeError)):
                parse(text)


class Counts(unittest.TestCase):
    def test_what_the_tools_wrote(self):
        opendir = {"allocations": 1, "bytes": 32816}
        self.assertEqual(memory.parse_heaptrack("100\t3\n32816\t1\n", "main;read_dir;opendir 1\nmain 3\n"),
                         {"allocations": 4, "bytes": 33116, "opendir": opendir})
        self.assertEqual(memory.parse_dhat(json.dumps(DHAT)), {"allocations": 4, "bytes": 33116, "opendir": opendir})
        self.assertEqual(memory.parse_cachegrind(CACHEGRIND),
                         {"instructions": 100, "allocator": 75, "functions": {"_int_malloc (malloc.c)": 75, "main": 25}})

    def test_the_cost_of_a_visit_is_a_difference(self):
        first = {"instructions": 1000, "functions": {"setup": 900, "work": 100}}
        second = {"instructions": 1203, "functions": {"setup": 901, "work": 300, "more": 2}}
        self.assertEqual(memory.per_visit(first, second, 2), {"instructions": 101.5, "functions": {"work": 100}})

    def test_the_allocator_of_glibc(self):
        for name, inside in [("malloc", True), ("_int_free", True), ("unlink_chunk.constprop.0", True), ("free_pages", False), ("main", False)]:
            self.assertEqual(bool(memory.re.match(memory.ALLOCATOR, name)), inside, name)

    def test_stacks_of_perf(self):
        self.assertEqual(hotspot.count_stacks("server \n\t  1f main\n\t  2f start\n\nserver \n\t  1f main\n\n"), (2, 3))


class Table(unittest.TestCase):
    def test_columns_line_up(self):
        self.assertEqual(report.table(["", "req/s"], [["slow", "19.5"], ["fixed", "1,294"]]), "       req/s\nslow    19.5\nfixed  1,294")


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
