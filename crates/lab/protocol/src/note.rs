//! Notes about figures, as data: each kind of note has a code and its figures.
//!
//! `lab-report` has the sentences. A sentence of an engine stays one.

use lab_stats::Verdict;
use serde::{Deserialize, Serialize};

use super::Metric;

/// A warning about a case's figures.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Note {
    Known {
        /// The server that it is about, if it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        variant: Option<String>,
        #[serde(flatten)]
        kind: NoteKind,
    },
    /// A sentence of somebody else: an engine or a case file.
    Sentence(String),
}

impl Note {
    pub fn of(variant: &str, kind: NoteKind) -> Self {
        Self::Known { variant: Some(variant.to_owned()), kind }
    }
}

impl From<NoteKind> for Note {
    fn from(kind: NoteKind) -> Self {
        Self::Known { variant: None, kind }
    }
}

/// Factors are at least 1, and shares are from 0 to 1, unless it says something else.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum NoteKind {
    /// Runs without a right answer in time.
    NoAnswers { runs: usize },
    /// `wider` is the share of one answer in a run. A run of `measurement_s` would have 50 answers.
    FewAnswers { answers: f64, wider: f64, measurement_s: f64 },
    /// The least factor that a run gained from its first fifth to its last.
    NotWarm { gain: f64 },
    /// The least factor that a run lost.
    SlowsDown { loss: f64 },
    /// MiB per second, in the last three fifths of each run.
    MemoryGrows { low: f64, high: f64, measurement_s: f64 },
    /// From one half of the session to the other.
    FallsBehind { loss: f64 },
    /// The numbers of wrong and failed requests, and the first fault in words.
    WrongAnswers { wrong: u64, failed: u64, first: String },
    /// Requests without an answer, although the server had the time.
    LostRequests { requests: u64 },
    /// Closed by the server after an answer.
    Reopened { connections: u64 },
    /// Closed by the generator, because bytes followed a complete answer.
    Surplus { connections: u64 },
    /// The server closed so many connections instead of answering that the note is an error.
    DropsRequests,
    /// Sent again, because a connection closed instead of an answer.
    Resent { requests: u64 },
    /// Runs that say how fast the generator is.
    GeneratorLimited { limited: usize, runs: usize, why: Limit },
    /// The largest share of a run in which it waited for a core.
    GeneratorWaited { share: f64 },
    /// The first wrong or failed answer of the open loop.
    WrongArrivals { first: String },
    /// Lost requests of the open loop.
    LostArrivals { arrivals: u64 },
    /// The latencies of the open loop are upper bounds.
    LateArrivals { why: Invalid },
    /// `settled_ms` is the mean latency of a steady queue, by Little's law.
    Unfinished { unfinished: u64, sent: u64, settled_ms: f64 },
    /// By other programs.
    Neighbours(Taken),
    /// By the host.
    Steal(Taken),
    /// By a CPU quota.
    Throttled(Taken),
    /// The generator stood still. The shares are shares of a run, not of the machine.
    Standstill(Taken),
    /// The CPU time is not known exactly, because no single process is the server.
    NoCpuTime { why: String },
    /// Runs whose CPU time is not known exactly, although the process of the server is known.
    InexactCpuTime { runs: usize, of_runs: usize },
    /// Runs in which the memory of the server's processes could not be read.
    NoMemory { runs: usize, of_runs: usize },
    /// Benchmarks that some builds don't have. In records from before November 29, 2026.
    NotInAll { benches: Vec<String> },
    /// Benchmarks that no build has a time of, each with the reason.
    NotCompared { benches: Vec<String> },
    /// A metric that is better (above 1) or worse, while the one that decides is not.
    Contradiction { metric: Metric, factor: f64, decides: Metric, verdict: Verdict },
    /// The p99 latencies of the open loop.
    TailsApart { baseline_ms: f64, candidate_ms: f64 },
    /// The latencies of a closed loop decide the verdict.
    ClosedLoopLatency,
    /// The share of a core.
    Idles { share: f64 },
    /// The factor that the case promises, and the one of this run.
    BelowPromise { metric: Metric, promised: f64, found: f64 },
    /// A line that the server printed at its start about something that it lacks.
    Complained { line: String },
    /// The server answers with the same body as the baseline, in another encoding. The numbers are the bytes that are
    /// sent.
    EncodedApart { request: String, bytes: u64, baseline_bytes: u64 },
    /// Answers differ, so their length is checked, in bytes.
    AnswersVary { request: String, from: u64, to: u64 },
    /// As the user asked.
    OnlyLength { request: String, from: u64, to: u64 },
    /// As the user asked.
    OnlyStatus { request: String },
    /// The server needed a long warm-up, and gained this factor until its end.
    LongWarmUp { warm_up_s: f64, gain: f64 },
    /// The longest warm-up was not enough.
    StillWarming { warm_up_s: f64, gain: f64 },
    /// The server used so little CPU time during a recording that its stacks say little: it waits.
    AlmostIdle { used_ms: f64, window_ms: f64, samples: u64 },
    /// The profiler recorded nothing, and the system didn't count CPU time that is next to nothing.
    NoSamples,
    /// The recording of a working server has few samples.
    FewSamples { samples: u64 },
    /// The share of stacks that do not reach the start of their thread.
    CutStacks { share: f64, advice: String },
    /// The share of stacks with code that was compiled at run time.
    NamelessCode { share: f64, advice: String },
    /// The share of samples that the profiler dropped.
    LostSamples { share: f64 },
    /// The kernel's work is that of the function that asked for it.
    KernelInCallers,
    /// The kernel's work is not in the picture.
    KernelMissing,
    /// The CPU time of the samples, and the system's count.
    CpuDisagrees { sampled_ms: f64, counted_ms: f64 },
    /// In samples a second, so that the recording stays below a size.
    RateLowered { rate: u32, usual: u32, gigabytes: f64 },
    /// Why system calls and other events have no count.
    NotCounted { why: String },
    /// The share of the time in which its threads wanted a core but waited for one.
    Starved { share: f64 },
    /// The largest share of the machine that others had while a triage put load on the server.
    BusyMachine { share: f64 },
    /// Suspects, by their titles.
    NotChecked { suspects: Vec<String> },
}

/// The share of the machine's CPU time that something took: `most` in a run, and at least `least` in `in_runs` of
/// `of_runs` runs.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Taken {
    pub most: f64,
    pub least: f64,
    pub in_runs: usize,
    pub of_runs: usize,
}

/// The reason for a verdict, or for its absence.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Reason {
    /// Answers were wrong or missing.
    #[default]
    Unclean,
    /// Some runs were too short for an answer. Runs of `measurement_s` seconds would have 50.
    EmptyRuns { measurement_s: f64 },
    /// The generator and not the server limited these variants.
    GeneratorDecides { variants: Vec<String> },
    /// A quota stopped this side for a share of the machine's CPU time, and not the other one.
    SideThrottled { variant: String, share: f64 },
    /// The generator stood still for a share of the runs of this side, and less in those of the other one.
    StandstillDecides { variant: String, share: f64 },
    /// The CPU time is not known exactly.
    CpuUnknown,
    /// The memory of a server is not known.
    MemoryUnknown,
    /// A benchmark has no time on one side.
    NotMeasured { why: String },
    /// The runs have too few answers beyond the percentile.
    PercentileUnknown,
    /// The generator was late by enough to decide either way.
    LagDecides,
    #[serde(untagged)]
    Rule(lab_stats::VerdictRule),
}

/// Why a run measured the generator's limit rather than the server's. Shares of the run in which it used a
/// core and waited for one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Limit {
    /// Our own.
    GeneratorSaturated { busy: f64, waited: f64 },
    /// Another one's busiest process or thread.
    EngineSaturated { engine: String, busy: f64, waited: f64 },
    #[serde(untagged)]
    Invalid(Invalid),
}

/// Why the latencies of a run must not be quoted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum Invalid {
    /// The p99 and the part of it that is the generator's own lag, in milliseconds.
    GeneratorLate { p99_ms: f64, lag_ms: f64 },
    /// A sentence that an engine printed.
    #[serde(untagged)]
    Sentence(String),
}
