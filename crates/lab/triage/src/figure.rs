//! The figures that the rules read, each with its unit. A share also says what it is a share of.

use std::fmt;

use anyhow::anyhow;
use lab_observation::Unit;
use lab_report::{percent, significant, thousands, time_ms, weight};
use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};

use super::thresholds::WATCHED;

/// The unit of a figure, which decides how the figure is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureUnit {
    Number,
    Milliseconds,
    /// Answers per second.
    Rate,
    PerRequest,
    Mebibytes,
    Kibibytes,
    Bytes,
    /// From 0 to 1.
    Share(Whole),
}

/// The whole that a share is part of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whole {
    Answers,
    AnswerTime,
    Connections,
    Cores,
    CpuTime,
    Delays,
    Memory,
    Request,
    Throughput,
    Time,
    Users,
    /// The time with `WATCHED` users.
    WatchedTime,
}

use FigureUnit::{Bytes, Kibibytes, Mebibytes, Milliseconds, Number, PerRequest, Rate, Share};
use Whole::{
    AnswerTime, Answers, Connections, Cores, CpuTime, Delays, Memory, Request, Throughput, Time,
    Users, WatchedTime,
};

macro_rules! figures {
    ($($(#[doc = $doc:literal])* $name:ident: $unit:expr,)*) => {
        /// A figure of one request, even if a visit has several; or of the whole server. Data spells it in
        /// snake case.
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Figure {
            $($(#[doc = $doc])* $name,)*
        }

        impl Figure {
            pub fn unit(self) -> FigureUnit {
                match self {
                    $(Self::$name => $unit,)*
                }
            }
        }
    };
}

figures! {
    // Throughput over users.
    /// The users of the last level.
    Users: Number,
    PeakRps: Rate,
    PeakUsers: Number,
    /// The throughput of the last level, as a share of the peak.
    AfterPeakShare: Share(Throughput),
    /// The share of the peak that the last level lacks.
    LostShare: Share(Throughput),
    /// CPU time per request at the last level, as a multiple of that at the peak.
    CpuGrowth: Number,
    /// The share of all cores that other programs and the host took at the last level.
    OthersShare: Share(Cores),
    /// 1 if the load generator limits the peak, and 0 otherwise.
    GeneratorLimited: Number,

    // A request that arrives alone, and what is inside the server at the peak by Little's law.
    AloneMs: Milliseconds,
    /// How long a request that arrives alone takes without using the CPU.
    WaitMs: Milliseconds,
    WaitShare: Share(Request),
    /// How many requests the server works on at once, if each takes as long as alone.
    AtOnce: Number,
    AtOnceShare: Share(Users),
    /// How many of them wait at a time, rather than compute. With one, they take turns at what they wait for, even
    /// if others compute meanwhile.
    WaitingAtOnce: Number,
    /// `AtOnce`, if a request alone takes no more CPU time than under load. A runtime that compiles while it runs is
    /// slow at first, when one user is alone.
    WarmAtOnce: Number,
    /// The time from one answer to the next at the peak.
    TurnMs: Milliseconds,
    /// How long a request waits for its turn.
    QueueShare: Share(WatchedTime),

    // The CPU.
    CpuMs: Milliseconds,
    /// How many threads ran or waited for a core at a time, with `WATCHED` users.
    WantedCores: Number,
    WantedCoreShare: Share(Cores),
    /// The cores that the server used, or used once no answer waited for an acknowledgement.
    BusyCores: Number,
    /// The share of all cores that neither the server nor the generator wanted.
    IdleCoreShare: Share(Cores),
    /// CPU time that the server used per second, with `WATCHED` users.
    UsedCores: Number,
    /// The share of all cores that the server, the generator and other programs left unused, although threads may have
    /// wanted it. Cores that the server may not use (`taskset`) don't count.
    UnusedCoreShare: Share(Cores),
    BusiestThreadShare: Share(WatchedTime),
    /// How many threads apart from the busiest one, and from helpers, ran or waited for a core at a time.
    OtherThreads: Number,
    /// How long the server's threads waited for a core, of the time that they wanted one.
    StarvedShare: Share(Time),
    /// How many of them waited for one at a time.
    LackedCores: Number,

    // The threads. What counts is what the load adds.
    WaitingThreads: Number,
    /// Threads that wait for a lock, or for work.
    LockThreads: Number,
    /// The time in which a thread runs, and another one that also works waits for a lock, or for work.
    TurnsShare: Share(WatchedTime),
    /// How many threads ran, wanted to, or waited for a lock while another one ran. Threads in `futex` count only if
    /// requests call it: a runtime also parks there what it doesn't need.
    Contenders: Number,
    /// Threads that serve a request and no other one meanwhile, per request.
    OccupiedOverAtOnce: Number,
    /// The time in which no event loop waits for events, and no thread runs.
    DeafShare: Share(WatchedTime),
    /// The time in which no event loop waits for events.
    UnattendedShare: Share(WatchedTime),
    DiskShare: Share(Time),
    /// The larger one of `disk_share` and `flush_cpu_share`: a flush waits for the disk, and works before that.
    FlushShare: Share(Time),

    // Answers and connections.
    FaultShare: Share(Answers),
    FaultUsers: Number,
    LostRequests: Number,
    /// The share of users who wait for a request that has no answer.
    LostUserShare: Share(Users),
    RefusedConnections: Number,
    RefusedShare: Share(Connections),
    ReopenedPerRequest: PerRequest,
    DelayedShare: Share(Answers),
    DelayedAgainShare: Share(Answers),
    DelayedQuickShare: Share(Answers),
    DelayedTimeShare: Share(AnswerTime),
    QuickAckRemovesLeastShare: Share(Delays),

    // Memory, over the CPU time that the server uses: the work that it does.
    MemoryBeforeMib: Mebibytes,
    MemoryAfterMib: Mebibytes,
    /// The growth of the memory, as a share of the memory after the load.
    MemoryGrownShare: Share(Memory),
    /// 1 if memory grew in the second half of the work, and as fast to the end; 0 if it didn't.
    MemorySteady: Number,
    /// The slope of that half, with its 95 % interval.
    MemoryBytesPerRequest: Bytes,
    MemoryBytesPerRequestLow: Bytes,
    MemoryBytesPerRequestHigh: Bytes,
    MemoryMibPerMinute: Mebibytes,

    // Random arrivals.
    OpenRate: Rate,
    OpenP50Ms: Milliseconds,
    OpenP99Ms: Milliseconds,
    /// The p99 in the closed loop, with `WATCHED` users.
    ClosedP99Ms: Milliseconds,
    /// The p99 of the generator's own delay.
    OpenLagMs: Milliseconds,
    /// How often several arrivals waited and no answer came, for far longer than an answer takes.
    Stalls: Number,
    /// The median from the begin of one stall to that of the next.
    StallEveryMs: Milliseconds,
    /// The median length of a stall.
    StallMs: Milliseconds,
    LongestStallMs: Milliseconds,
    StallShare: Share(Time),

    // Other servers.
    Outbound: Number,
    OutboundOverAtOnce: Number,
    RoundTripsPerRequest: PerRequest,
    /// Connections that hold back a small write until an earlier one is acknowledged.
    HeldBack: Number,
    /// Of the requests that are in the server at once: one connection with a fault is no news among 64 busy ones.
    HeldBackOverAtOnce: Number,
    /// The time in which a request waits, or reads and writes.
    ExchangeShare: Share(Request),

    // Counted.
    SystemCallsPerRequest: PerRequest,
    /// Calls of the system call that is made most often, which `Word::MostCall` names.
    MostCallsPerRequest: PerRequest,
    ConnectsPerRequest: PerRequest,
    WritesPerRequest: PerRequest,
    OpensPerRequest: PerRequest,
    /// How many looks found the same file open, which is not the answer itself.
    SameFileLooks: Number,
    /// The growth of the open file that grows most.
    FileGrowthKib: Kibibytes,
    /// The growth of that file for each call of `write`.
    FileBytesPerWrite: Number,
    FlushesPerRequest: PerRequest,
    FutexCallsPerRequest: PerRequest,
    StartsPerRequest: PerRequest,
    PageFaultsPerRequest: PerRequest,

    // Groups of functions, each with all that they call.
    AllocatorCpuShare: Share(CpuTime),
    /// The share of the allocator, without the groups that allocate for a reason of their own.
    AllocatorAloneCpuShare: Share(CpuTime),
    ClientSetupCpuShare: Share(CpuTime),
    CloneCpuShare: Share(CpuTime),
    CloseCpuShare: Share(CpuTime),
    /// Code of the program's own language, not what a compiler just in time makes of it.
    CompileCpuShare: Share(CpuTime),
    CompressionCpuShare: Share(CpuTime),
    /// Compression as only the highest levels do it.
    CompressionLevelCpuShare: Share(CpuTime),
    ConnectCpuShare: Share(CpuTime),
    DocumentCpuShare: Share(CpuTime),
    FlushCpuShare: Share(CpuTime),
    GcCpuShare: Share(CpuTime),
    /// The share of garbage collection, without the time that the runtime still compiles.
    WarmGcCpuShare: Share(CpuTime),
    /// Code that a runtime compiles while it runs. There is hardly any once a server is warm.
    OptimizerCpuShare: Share(CpuTime),
    GilCpuShare: Share(CpuTime),
    HandoverCpuShare: Share(CpuTime),
    HandshakeCpuShare: Share(CpuTime),
    HashingCpuShare: Share(CpuTime),
    /// Threads of a runtime that serve no requests: they collect garbage, or compile.
    HelpersCpuShare: Share(CpuTime),
    JsonCpuShare: Share(CpuTime),
    KernelCpuShare: Share(CpuTime),
    LockCpuShare: Share(CpuTime),
    LogCpuShare: Share(CpuTime),
    LookupCpuShare: Share(CpuTime),
    OpenCpuShare: Share(CpuTime),
    PageFaultCpuShare: Share(CpuTime),
    QueryCpuShare: Share(CpuTime),
    RegexCpuShare: Share(CpuTime),
    /// Tasks below a scheduler of the runtime that uses all cores.
    SchedulerCpuShare: Share(CpuTime),
    SmallIoCpuShare: Share(CpuTime),
    StartCpuShare: Share(CpuTime),
    UnoptimizedCpuShare: Share(CpuTime),
}

impl Figure {
    pub fn named(name: &str) -> anyhow::Result<Self> {
        named(name).ok_or_else(|| anyhow!("no figure is called `{name}`"))
    }

    /// The value as a reader sees it.
    pub fn in_its_unit(self, value: f64) -> String {
        match self.unit() {
            Share(_) => percent(value),
            Milliseconds => time_ms(value),
            Rate => format!("{} req/s", significant(value)),
            Mebibytes => format!("{} MiB", significant(value)),
            Kibibytes => format!("{} KiB", significant(value)),
            Bytes => bytes(value),
            PerRequest if value < 0.005 => "0".to_owned(),
            _ if (value - value.round()).abs() < 0.005 * value.abs() => thousands(value),
            _ => significant(value),
        }
    }
}

/// Bytes, which may be negative: `1.02 kB`.
pub fn bytes(value: f64) -> String {
    let sign = if value <= -0.5 { "−" } else { "" };
    sign.to_owned() + &weight(Unit::Bytes, value.abs().round() as u64)
}

/// A name that was measured, such as the system call in which most threads sleep.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The first wrong or missing answer.
    Fault,
    LoopCall,
    MostCall,
    /// The file of `Figure::SameFileLooks`.
    SameFile,
    /// The file of `Figure::FileGrowthKib`.
    GrownFile,
    /// The work of the threads during stalls, which they hardly do at other times.
    StallWork,
    WaitingCall,
}

impl Word {
    pub fn named(name: &str) -> Option<Self> {
        named(name)
    }
}

fn named<'a, T: Deserialize<'a>>(name: &'a str) -> Option<T> {
    T::deserialize(IntoDeserializer::<value::Error>::into_deserializer(name)).ok()
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answers => "the answers",
            AnswerTime => "the time of all answers",
            Connections => "the connections",
            Cores => "all cores",
            CpuTime => "the CPU time",
            Delays => "the delays",
            Memory => "the server's memory",
            Request => "the time of a request",
            Throughput => "the throughput",
            Time => "the time",
            Users => "the users",
            WatchedTime => return write!(f, "the time with {WATCHED} users"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_shown_in_its_unit() {
        for (figure, value, shown) in [
            (Figure::TurnMs, 51.3, "51.3 ms"),
            (Figure::QueueShare, 0.943, "94 %"),
            (Figure::PeakRps, 1292.0, "1,292 req/s"),
            (Figure::OpensPerRequest, 0.004, "0"),
            (Figure::OpensPerRequest, 12.0, "12"),
            (Figure::WantedCores, 1.24, "1.24"),
            (Figure::MemoryAfterMib, 4180.0, "4,180 MiB"),
            (Figure::FileGrowthKib, 10.04, "10.0 KiB"),
            (Figure::MemoryBytesPerRequest, 1_024.0, "1.02 kB"),
            (Figure::MemoryBytesPerRequestLow, -12.4, "−12 bytes"),
        ] {
            assert_eq!(figure.in_its_unit(value), shown);
        }
    }

    #[test]
    fn a_name_that_no_figure_has_is_an_error() {
        assert_eq!(Figure::named("cpu_ms").unwrap(), Figure::CpuMs);
        let error = Figure::named("cpu_s").unwrap_err();
        assert_eq!(error.to_string(), "no figure is called `cpu_s`");
    }
}
