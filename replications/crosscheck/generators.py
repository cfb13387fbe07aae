"""The load generators of `just crosscheck`: how each is called, and how its output reads.

Each sends one request again and again over keep-alive connections: as fast as the answers come (a closed loop), or at a
fixed rate (an open loop). `parse` returns requests per second, percentiles in milliseconds, and how many answers failed.
"""

import base64
import json
import re
import struct
from dataclasses import dataclass
from pathlib import Path

# Longer than any queue that a slow server builds with these connections.
TIMEOUT = 60


@dataclass
class Load:
    url: str
    request: object
    connections: int
    seconds: int
    threads: int
    scratch: Path
    body: Path | None
    server: int  # the process
    bin_dir: Path
    rate: float | None = None  # requests per second; without it, a closed loop


def figures(req_per_s, p50_ms, p99_ms, failed):
    return {"req_per_s": float(req_per_s), "p50_ms": p50_ms, "p99_ms": p99_ms, "failed": int(failed)}


def find(pattern, text, default=None):
    match = re.search(pattern, text, re.MULTILINE)
    if match is None and default is None:
        raise ValueError(f"no match for {pattern}")
    return match.group(1) if match else default


def wrk(load):
    command = ["wrk", f"-t{load.threads}", f"-c{load.connections}", f"-d{load.seconds}s", "--latency", "--timeout", f"{TIMEOUT}s"]
    if load.body:
        script = load.scratch / "wrk.lua"
        # A JSON string without escapes beyond ASCII is a Lua string too.
        script.write_text(
            f"wrk.method = {json.dumps(load.request.method)}\n"
            f'wrk.headers["content-type"] = {json.dumps(load.request.content_type)}\n'
            f'wrk.body = io.open({json.dumps(str(load.body))}, "rb"):read("*a")\n'
        )
        command += ["-s", str(script)]
    return [*command, load.url]


def parse_wrk(output, _scratch=None):
    def milliseconds(percentile):
        # wrk writes a space after a unit of one letter.
        value, unit = re.search(rf"^\s+{percentile}%\s+([\d.]+)(us|ms|s|m) *$", output, re.MULTILINE).groups()
        return float(value) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}[unit]

    failed = int(find(r"Non-2xx or 3xx responses: (\d+)", output, "0"))
    failed += sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", find(r"Socket errors: (.*)", output, ""))))
    return figures(find(r"^Requests/sec:\s+([\d.]+)", output), milliseconds(50), milliseconds(99), failed)


def oha(load):
    command = ["oha", "--no-tui", "--output-format", "json", "-z", f"{load.seconds}s", "-c", str(load.connections), "-m", load.request.method]
    if load.rate:
        command += ["-q", f"{load.rate:.0f}"]
    if load.body:
        command += ["-D", str(load.body), "-T", load.request.content_type]
    return [*command, load.url]


def oha_corrected(load):
    return [*oha(load), "--latency-correction"]


def parse_oha(output, _scratch=None):
    data = json.loads(output)
    statuses = {int(status): count for status, count in data["statusCodeDistribution"].items()}
    good = sum(count for status, count in statuses.items() if status < 400)
    # oha counts the requests that the end of the run cuts off, in its rate and as errors.
    errors = sum(count for name, count in data["errorDistribution"].items() if name != "aborted due to deadline")
    percentile = {name: 1000 * (data["latencyPercentiles"][name] or 0) for name in ("p50", "p99")}
    return figures(sum(statuses.values()) / data["summary"]["total"], percentile["p50"], percentile["p99"], sum(statuses.values()) - good + errors)


def ab(load):
    # The time limit also sets a limit of 50,000 requests, so the number has to come after it.
    command = ["ab", "-q", "-k", "-r", "-s", str(TIMEOUT), "-c", str(load.connections), "-t", str(load.seconds), "-n", str(100_000 * load.seconds)]
    # Only this file has fractions of a millisecond.
    command += ["-e", str(load.scratch / "ab.csv")]
    if load.body:
        command += ["-p", str(load.body), "-T", load.request.content_type]
    return [*command, load.url]


def parse_ab(output, scratch):
    # The file has microseconds, but its 99 % lies past the end of a list of fewer than 50 times.
    percentile = dict(line.split(",") for line in (scratch / "ab.csv").read_text().splitlines())
    if int(find(r"^Complete requests:\s+(\d+)", output)) < 100:
        percentile = dict(re.findall(r"^\s+(\d+)%\s+(\d+)", output, re.MULTILINE))
    failed = int(find(r"^Failed requests:\s+(\d+)", output)) + int(find(r"^Non-2xx responses:\s+(\d+)", output, "0"))
    return figures(find(r"^Requests per second:\s+([\d.]+)", output), float(percentile["50"]), float(percentile["99"]), failed)


SCRIPT = """import http from 'k6/http';
export const options = {
  scenarios: { load: { %(executor)s, duration: '%(seconds)ds' } },
  summaryTrendStats: ['med', 'p(99)'], discardResponseBodies: true,
};
const body = %(body)s;
const params = { headers: %(headers)s, timeout: '%(timeout)ds' };
export default function () { http.request(%(method)s, %(url)s, body, params); }
export function handleSummary(data) { return { stdout: JSON.stringify(data.metrics) }; }
"""


def k6(load):
    script = load.scratch / "k6.js"
    if load.rate:
        # A user who waits for an answer cannot send the next request, so a stall needs a user for each request in it.
        users = int(3 * load.rate)
        executor = f"executor: 'constant-arrival-rate', rate: {load.rate:.0f}, preAllocatedVUs: {users}, maxVUs: {users}, gracefulStop: '10s'"
    else:
        # Without gracefulStop, k6 would wait for all open requests after the end.
        executor = f"executor: 'constant-vus', vus: {load.connections}, gracefulStop: '0s'"
    values = {
        "executor": executor,
        "body": f"open({json.dumps(str(load.body))}, 'b')" if load.body else "null",
        "headers": json.dumps({"content-type": load.request.content_type} if load.request.content_type else {}),
        "method": json.dumps(load.request.method),
        "url": json.dumps(load.url),
        "seconds": load.seconds,
        "timeout": TIMEOUT,
    }
    script.write_text(SCRIPT % values)
    return ["k6", "run", "--quiet", "--no-color", "--no-usage-report", str(script)]


def parse_k6(output, _scratch=None):
    metrics = json.loads(output)
    duration, failed = metrics["http_req_duration"]["values"], metrics["http_req_failed"]["values"]
    dropped = metrics.get("dropped_iterations", {"values": {"count": 0}})["values"]["count"]
    # `passes` counts the requests for which "has failed" is true.
    return figures(metrics["http_reqs"]["values"]["rate"], duration["med"], duration["p(99)"], failed["passes"] + dropped)


def lab(load):
    return [str(load.bin_dir / "lab"), "generate"]


def lab_plan(load):
    """What `lab generate` reads: the plan that `lab bench` gives it, with one request."""
    request = load.request
    answer = {"text": request.answer} if request.answer is not None else {"digest": {"bytes": request.bytes, "crc32": int(request.crc32, 16)}}
    arrivals = {"closed_loop": {"users": load.connections}}
    if load.rate:
        arrivals = {"open_loop": {"rate_per_s": load.rate, "connections": load.connections}}
    address = load.url.partition("://")[2].partition("/")[0]
    return json.dumps({
        "target": {"address": address, "host": address, "tls": None},
        "server_pid": load.server,
        "arrivals": arrivals,
        "warm_up": {"secs": 0, "nanos": 0},
        "measurement": {"secs": load.seconds, "nanos": 0},
        "grace": {"secs": 10 if load.rate else 1, "nanos": 0},
        "asks": [{
            "method": request.method,
            "path": request.path,
            "headers": [["content-type", request.content_type]] if request.content_type else [],
            "body": load.body and str(load.body),
            "expected": {"status": request.status, "answer": answer},
        }],
    })


def parse_lab(output, _scratch=None):
    data = json.loads(output)
    seconds = data["measured"]["secs"] + data["measured"]["nanos"] / 1e9
    latencies = histogram(data["latency"])
    return figures(data["ok_in_time"] / seconds, percentile(latencies, 50), percentile(latencies, 99), data["wrong"] + data["failed"])


def histogram(text):
    """The latencies in milliseconds, and how often each occurred: HDR histogram's V2 format, with three digits from 1 us up."""
    data = base64.b64decode(text)
    (length,) = struct.unpack_from(">i", data, 4)
    counts, position, index = [], 40, 0
    while position < 40 + length:
        # A variable-length number of up to nine bytes; its last bit is the sign.
        number = shift = 0
        while True:
            byte = data[position]
            position += 1
            number |= (byte if shift == 56 else byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 or shift > 56:
                break
        number = number >> 1 ^ -(number & 1)
        if number < 0:
            index -= number  # so many empty cells
            continue
        # 2,048 cells of 1 us, then 1,024 cells of twice the width, and so on.
        bucket = max(index // 1024 - 1, 0)
        counts.append((((index - bucket * 1024 + 1 << bucket) - 1) / 1000, number))
        index += 1
    return counts


def percentile(latencies, percent):
    """The latency that so many per cent did not exceed."""
    wanted, seen = -(-sum(count for _, count in latencies) * percent // 100), 0
    for latency, count in latencies:
        seen += count
        if seen >= wanted:
            return latency
    raise ValueError("an empty histogram")


@dataclass
class Generator:
    name: str
    command: object
    parse: object
    # What it reads from standard input.
    line: object = lambda load: None
    # ab and lab have one thread; the others take as many as they are given.
    one_thread: bool = False


WRK = Generator("wrk", wrk, parse_wrk)
OHA = Generator("oha", oha, parse_oha)
AB = Generator("ab", ab, parse_ab, one_thread=True)
K6 = Generator("k6", k6, parse_k6)
LAB = Generator("lab", lab, parse_lab, lab_plan, one_thread=True)
GENERATORS = [WRK, OHA, AB, K6]
