//! The document that `lab bench --json` prints.

use std::collections::BTreeMap;

use lab_cases::{FIXED, SLOW, a_request};
use lab_model::{
    ByPercentile, Invalid, Limit, Listener, Metric, Note, Outcome, Reason, Spacing, Speedups,
    is_zero,
};
use lab_stats::{Verdict, judge};
use lab_system::{Build, Machine, own_command};
use serde::{Deserialize, Serialize};

use crate::{Growth, Neighbours, decline, tables::is_of_open_loop};

/// The version of the document's form. It changes when an older document can no longer be read.
pub const VERSION: u32 = 4;

/// A server that uses a smaller share of one core than this idles.
const IDLE: f64 = 0.05;

/// One call of `lab bench` or `lab compare`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Record {
    pub version: u32,
    pub created: jiff::Timestamp,
    pub command: Vec<String>,
    /// Whether it was made with `--quick`.
    pub quick: bool,
    pub machine: Machine,
    pub build: Build,
    pub cases: Vec<CaseRecord>,
}

impl Record {
    /// Whether it is one of `lab compare`.
    pub fn is_of_own_servers(&self) -> bool {
        self.command.get(1).is_some_and(|verb| verb == "compare")
    }

    /// A record of this process, made now and here, without cases yet.
    pub fn new(quick: bool, build: Build) -> Self {
        Self {
            version: VERSION,
            created: jiff::Timestamp::now(),
            command: own_command(),
            quick,
            machine: Machine::here(),
            build,
            cases: Vec::new(),
        }
    }
}

/// The comparison of one case's variants.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CaseRecord {
    /// The name of the case; `compare` for a record of `lab compare`.
    pub case: String,
    /// What a user of this case asks for again and again; a `page` may be several requests.
    #[serde(default = "a_request")]
    pub visit: String,
    /// The load in words.
    pub load: String,
    pub users: usize,
    /// Milliseconds that a user pauses between requests.
    pub think_ms: u64,
    pub pairs: usize,
    /// Of the order of the runs; `None` in older records, whose order was always the same.
    pub seed: Option<u64>,
    /// In how many layouts of its code each server ran, in turn; `None` for the one that it was built
    /// with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<usize>,
    /// Seconds of load before each measurement.
    pub warm_up_s: f64,
    /// What was found before the runs and limits what they show.
    #[serde(rename = "caveats", default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    pub measurement_s: f64,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    /// What the verdict is about, chosen before the runs.
    pub metric: Metric,
    pub verdict: Verdict,
    /// The rule that decided the verdict.
    pub reason: Reason,
    /// The baseline first.
    pub variants: Vec<VariantRecord>,
    /// The variant that the verdict is about; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    /// How many candidates were judged together: the error rates hold for all of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub family: usize,
    /// The candidate over the baseline.
    pub speedup: Speedups,
    pub control: Control,
    /// The lowest factor of `metric` that the case promises.
    #[serde(alias = "promised_throughput")]
    pub promised: Option<f64>,
    /// A note on the figures of the steps.
    pub steps_note: Option<String>,
    /// Every run of the closed loop, in the order in which they were made.
    pub runs: Vec<Run>,
    pub open_runs: Vec<Run>,
}

fn one() -> usize {
    1
}

fn is_one(it: &usize) -> bool {
    *it == 1
}

/// The baseline over itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Control {
    /// How many runs of the baseline followed another one.
    pub pairs: usize,
    /// Their factors: each is 1 plus what the control is off by. Each metric has a control of its own.
    pub speedup: Speedups,
    /// What two equal servers could differ by, as a factor of at least 1, by the names of the fields in `speedup`; see
    /// [`CaseRecord::noise`].
    #[serde(default)]
    pub noise: BTreeMap<String, f64>,
}

/// One variant over all its runs.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct VariantRecord {
    pub variant: String,
    /// What the reader of `lab compare` gave: a command, a URL or a revision.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub given: String,
    /// Right answers per second: the median run.
    pub throughput_rps: f64,
    pub latency_ms: Latencies,
    /// CPU time of the server per right answer, in microseconds: the median run.
    pub cpu_us_per_request: Option<f64>,
    /// Nanoseconds of an iteration of a benchmark: the median run; `None` for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    /// The server's peak memory in MiB: the largest of all runs.
    pub peak_rss_mib: Option<f64>,
    /// How its memory grew late in the runs; `None` if a run does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_growth: Option<Growth>,
    /// Share of one core that the generator used, from 0 to 1: the largest of all runs.
    pub generator_cpu: Option<f64>,
    /// Share of a run in which the generator waited for a core, from 0 to 1: the largest of all runs.
    pub generator_waited: Option<f64>,
    #[serde(flatten)]
    pub requests: RequestCounts,
    /// Connections that had to be opened again.
    pub reopened: u64,
    /// Why a run measured the generator instead of the server, if one did.
    pub generator_limited: Option<Limit>,
    /// How many runs did.
    pub limited_runs: usize,
    pub open_loop: Option<OpenLoopRecord>,
    /// The counts of one visit from the case's `counts.toml`; empty without one.
    pub exact: BTreeMap<String, f64>,
    /// Counts of one visit that differ from round to round: the fewest and the most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// This variant over the baseline; `None` for the baseline.
    pub speedup: Option<Speedups>,
}

impl VariantRecord {
    /// What this metric is about: of the median run, or of all requests. More is better.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => Some(self.throughput_rps),
            Metric::Cpu => Some(1.0 / self.cpu_us_per_request?),
            Metric::PeakMemory => Some(1.0 / self.peak_rss_mib?),
            Metric::Time => Some(1.0 / self.time_ns?),
            Metric::Latency(at) => Some(1.0 / self.open_loop.as_ref()?.latency_ms.by.get(at)?),
        }
    }
}

/// What became of all requests: `sent = ok + wrong + failed + unfinished`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RequestCounts {
    pub sent: u64,
    pub ok: u64,
    pub wrong: u64,
    /// Without an answer.
    pub failed: u64,
    /// Still waiting when the run ended.
    pub unfinished: u64,
    /// Those unfinished ones that the load does not explain: errors.
    pub lost: u64,
    /// Sent again, because the server closed a connection that it had used before instead of answering.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// Connections that the generator closed, because bytes followed a complete answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surplus: u64,
    /// The first wrong or failed request, in words.
    pub first_fault: Option<String>,
}

impl RequestCounts {
    pub fn add(&mut self, outcome: &Outcome) {
        self.sent += outcome.sent;
        self.ok += outcome.ok;
        self.wrong += outcome.wrong;
        self.failed += outcome.failed;
        self.unfinished += outcome.unfinished;
        self.lost += outcome.lost;
        self.resent += outcome.resent;
        self.surplus += outcome.surplus;
        self.first_fault = self.first_fault.take().or(outcome.first_fault.clone());
    }

    /// Wrong answers, and requests that never got one.
    pub fn errors(&self) -> u64 {
        self.wrong + self.failed + self.lost
    }
}

/// Arrivals at a constant mean rate. Their latency starts when they are due.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OpenLoopRecord {
    /// Arrivals per second as planned. Random ones are a bit fewer or more: [`CaseRecord::arrived_per_s`].
    pub rate_per_s: f64,
    /// Random or even, and the session's seed, from which each round of runs has its own ([`Run::seed`]).
    pub spacing: Spacing,
    /// Includes the time in the arrival queue.
    pub latency_ms: Latencies,
    /// All arrivals that were due. Those that were unfinished are recorded with their age.
    #[serde(flatten)]
    pub requests: RequestCounts,
    /// Arrivals that found no free connection.
    pub queued: u64,
    /// The latencies of the requests that other clients sent meanwhile; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_ms: Option<Latencies>,
    /// How late the generator was, in milliseconds, for 99 % of the arrivals at most.
    pub lag_p99_ms: f64,
    /// That the generator was late in at least half of the runs, if so: these latencies are upper bounds.
    pub invalid: Option<Invalid>,
}

impl OpenLoopRecord {
    /// The latencies, as upper bounds if the generator was late.
    pub fn latencies(&self) -> Latencies {
        Latencies { at_most: self.invalid.is_some(), ..self.latency_ms }
    }
}

/// Percentiles of latency and its mean, in milliseconds. A percentile without ten samples beyond it is `None`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Latencies {
    #[serde(flatten)]
    pub by: ByPercentile<f64>,
    /// What most dashboards show. `None` in records from before November 28, 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The age of the youngest unfinished request. Percentiles from there on are lower bounds.
    pub exact_below: Option<f64>,
    /// Whether the generator's lag is much of them, so that each is an upper bound; see
    /// [`OpenLoopRecord::latencies`].
    #[serde(skip)]
    pub at_most: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    pub variant: String,
    /// Its pair: the other run with this number was the one just before or after it. `None` for the
    /// extra runs of the baseline that only the control uses.
    pub pair: Option<usize>,
    /// The seed of its random arrivals, which all runs of a round share; that of the background follows from
    /// it. `None` if nothing was random, and in records from before November 24, 2026, whose runs all had
    /// the session's seed. In those from before November 28, only the two runs of a pair share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The system's load average just before the run.
    pub load_average: Option<f64>,
    /// Where the server was found; `None` if it announced that itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Listener>,
    /// `None` if the system does not report it, and in records from before November 23, 2026.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    pub outcome: Outcome,
}

/// How many of these came in a second of all runs of a variant; `None` without runs.
fn per_s(runs: &[Run], variant: &str, of: impl Fn(&Outcome) -> u64) -> Option<f64> {
    let runs = runs.iter().filter(|run| run.variant == variant);
    let seconds: f64 = runs.clone().map(|run| run.outcome.measured.as_secs_f64()).sum();
    let count: u64 = runs.map(|run| of(&run.outcome)).sum();
    (seconds > 0.0).then(|| count as f64 / seconds)
}

impl CaseRecord {
    /// What two equal servers could differ by in a metric, on that machine and with as many pairs, as a factor of at least
    /// 1: [`lab_stats::Speedup::noise`]. `None` if the metric has no factor or no control.
    pub fn noise(&self, metric: Metric) -> Option<f64> {
        Some(self.speedup.of(metric)?.noise(self.control.speedup.of(metric)?))
    }

    /// The noise of every metric that has one, by the name of its field.
    pub fn noises(&self) -> BTreeMap<String, f64> {
        let known = Metric::all().filter_map(|it| Some((it.field(), self.noise(it)?)));
        known.collect()
    }

    /// The name of a metric in a narrow column: `req/s`, or `pages/s` where a visit is a page.
    pub fn short(&self, metric: Metric) -> String {
        let is_request = self.visit == "request";
        match metric {
            Metric::Throughput if is_request => "req/s".to_owned(),
            Metric::Throughput => format!("{}s/s", self.visit),
            Metric::Cpu if is_request => "CPU/req".to_owned(),
            Metric::Cpu => format!("CPU/{}", self.visit),
            Metric::PeakMemory => "peak MiB".to_owned(),
            Metric::Time => "time".to_owned(),
            Metric::Latency(percentile) => percentile.name().to_owned(),
        }
    }

    pub fn variant(&self, name: &str) -> Option<&VariantRecord> {
        self.variants.iter().find(|variant| variant.variant == name)
    }

    /// The baseline and the variant that the verdict is about.
    pub fn sides(&self) -> Option<(&VariantRecord, &VariantRecord)> {
        let [baseline, others @ ..] = &self.variants[..] else { return None };
        // A case may have variants that go further than its fix.
        let name = self.candidate.as_deref().unwrap_or(FIXED);
        let candidate = others.iter().find(|it| it.variant == name).or(others.last())?;
        Some((baseline, candidate))
    }

    pub fn names(&self) -> [&str; 2] {
        self.sides().map_or([SLOW, FIXED], |(one, other)| [&one.variant, &other.variant])
    }

    /// The share of one core that the baseline used, if it used so little that its CPU time per request
    /// is mostly the cost of idling: timers and wake-ups, which no request causes.
    pub fn idle_baseline(&self) -> Option<f64> {
        let baseline = self.variants.first()?;
        let share = baseline.throughput_rps * baseline.cpu_us_per_request? / 1e6;
        (share < IDLE).then_some(share)
    }

    /// What `metric` alone shows, and why. A bound can only show that a server is faster or slower, not that
    /// it is so by little.
    pub fn judged_by(&self, metric: Metric) -> (Verdict, Reason) {
        let found = self.speedup.of(metric);
        let judgement = judge(found, self.control.speedup.of(metric), self.minimum_effect);
        match judgement.verdict {
            Verdict::Faster | Verdict::Slower => {}
            _ if self.speedup.is_bound(metric) => {
                let (baseline, candidate) = (self.variants.first(), self.sides().map(|it| it.1));
                let sides = baseline.into_iter().chain(candidate);
                let limited = sides.filter(|it| it.is_limited(&self.runs));
                let variants = limited.map(|it| it.variant.clone()).collect();
                let reason = match metric {
                    Metric::Latency(_) if self.speedup.latency_at_least => Reason::LagDecides,
                    _ => Reason::GeneratorDecides { variants },
                };
                return (Verdict::Undecided, reason);
            }
            _ => {}
        }
        (judgement.verdict, Reason::Rule(judgement.reason))
    }

    /// Makes the factor of the throughput a bound where the generator limited the faster side: without that limit, the side
    /// would be at least as far from the other one. A limit of the slower side, or of both, may be all of the difference.
    ///
    /// So it is with the latencies of the closed loop: each one of the faster side includes the generator's own time, and
    /// that side answered more requests.
    pub fn bound_by_generator(&mut self) {
        let is_limited = |side: &VariantRecord| side.is_limited(&self.runs);
        let baseline = self.variants.first().is_some_and(is_limited);
        let is_bound = |candidate: bool, speedups: &Speedups| {
            let found = speedups.throughput.as_ref();
            found.is_some_and(|found| match [baseline, candidate] {
                [false, true] => found.low > 1.0,
                [true, false] => found.high < 1.0,
                _ => false,
            })
        };
        let of = |variant: &VariantRecord| {
            variant.speedup.is_some_and(|it| is_bound(is_limited(variant), &it))
        };
        let bounds: Vec<_> = self.variants.iter().map(of).collect();
        let of_candidate =
            self.sides().is_some_and(|(_, it)| is_bound(is_limited(it), &self.speedup));
        let is_closed = !is_of_open_loop(self);
        let mark = |speedups: &mut Speedups, is_bound: bool| {
            speedups.throughput_at_least = is_bound;
            speedups.closed_latency_at_least = is_bound && is_closed;
        };
        mark(&mut self.speedup, of_candidate);
        for (variant, bound) in self.variants.iter_mut().zip(bounds) {
            if let Some(speedup) = &mut variant.speedup {
                mark(speedup, bound);
            }
        }
    }

    /// Counts one more fault of a variant, which came after its runs. There is no verdict then.
    pub fn spoil(&mut self, variant: usize, fault: String) {
        let requests = &mut self.variants[variant].requests;
        requests.sent += 1;
        requests.wrong += 1;
        requests.first_fault.get_or_insert(fault);
        (self.verdict, self.reason) = (Verdict::Undecided, Reason::Unclean);
    }

    /// Whether a variant closed connections instead of answering, far more often than the baseline.
    pub fn drops_requests(&self, variant: &VariantRecord) -> bool {
        let [baseline, ..] = &self.variants[..] else { return false };
        decline::drops_requests(&variant.requests, &baseline.requests)
    }

    /// Arrivals of the open loop per second that a variant met, as they were.
    pub fn arrived_per_s(&self, variant: &str) -> Option<f64> {
        per_s(&self.open_runs, variant, |outcome| outcome.sent)
    }

    /// Requests of the background per second that a variant met, as they were, in the runs that decide. `None` without
    /// any.
    pub fn background_per_s(&self, variant: &str) -> Option<f64> {
        let of_open_loop = self.open_runs.iter().any(|run| run.pair.is_some());
        let runs = if of_open_loop { &self.open_runs } else { &self.runs };
        per_s(runs, variant, |outcome| outcome.background_sent).filter(|rate| *rate > 0.0)
    }

    /// Whether every run had right answers, and no others.
    pub fn is_clean(&self) -> bool {
        !self.has_faults() && self.runs.iter().all(|run| !run.outcome.is_empty())
    }

    /// Whether answers were wrong or missing. A run that was too short for an answer has no fault.
    pub fn has_faults(&self) -> bool {
        self.variants.iter().any(|variant| {
            let open_loop = variant.open_loop.as_ref().map_or(0, |it| it.requests.errors());
            variant.requests.errors() + open_loop > 0 || self.drops_requests(variant)
        })
    }

    /// How long runs should be, in seconds, if some had no answer: for 50 of the slowest variant, if it has a
    /// rate, and else ten times as long.
    pub fn long_enough_s(&self) -> f64 {
        let rates = self.variants.iter().map(|variant| variant.throughput_rps);
        let slowest = rates.reduce(f64::min).filter(|rate| *rate > 0.0);
        slowest.map_or(10.0 * self.measurement_s, |rate| 50.0 / rate).max(2.0 * self.measurement_s)
    }
}

impl VariantRecord {
    /// Whether the generator limited at least half of its runs. A single one is an outlier, which the
    /// interval tolerates.
    pub fn is_limited(&self, runs: &[Run]) -> bool {
        let runs = runs.iter().filter(|run| run.variant == self.variant).count();
        self.limited_runs > 0 && 2 * self.limited_runs >= runs
    }
}
