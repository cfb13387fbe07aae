//! The topic of a page, and all observations of its servers.

use std::{collections::BTreeMap, time::Duration};

use lab_protocol::{Exhibit, Note, RequestTime, SpanKind};
use lab_system::Build;

use super::{
    Folded, KeptHeap, Kernel, Profiler, Recording, RouteCost, SlowestRequests, Spans, ThreadStates,
    View,
};

/// The servers of a page, one or two, and what to show of them.
#[derive(Clone, Debug)]
pub struct Topic {
    /// The name of the case or of your own server.
    pub name: String,
    pub title: String,
    /// The question that the page answers.
    pub question: String,
    /// The pictures, in the order of the page.
    pub exhibits: Vec<Exhibit>,
    /// The names of the servers; the first is the baseline.
    pub servers: Vec<String>,
    /// The load in words.
    pub load: String,
    pub build: Build,
    /// Whether the build records spans, which costs time.
    pub instrumented: bool,
    pub view: View,
    /// The meaning of the servers' spans, by their names.
    pub spans: BTreeMap<String, SpanKind>,
    /// The commands that make the page again.
    pub commands: Vec<String>,
}

/// Everything that was seen of the servers, in the order of the topic.
#[derive(Debug)]
pub struct Observations {
    pub profiler: Profiler,
    pub servers: Vec<Observation>,
    /// The servers' allocations, if an exhibit shows them.
    pub heaps: Vec<Heap>,
    /// What each server keeps of its requests, if that was asked for.
    pub kept: Vec<KeptHeap>,
    pub notes: Vec<Note>,
}

/// The observations of one server under load.
#[derive(Debug, Default)]
pub struct Observation {
    /// The server's name on the page, such as `slow`.
    pub name: String,
    /// Absent without a profiler.
    pub recording: Option<Recording>,
    /// How long the load was measured; this includes the recording.
    pub measured: Duration,
    /// Requests that were answered in this time.
    pub answered: u64,
    /// How long each request of a visit took; empty if a visit has only one.
    pub requests: Vec<RequestTime>,
    /// Each of them loaded alone after that; empty if that wasn't asked for.
    pub routes: Vec<RouteCost>,
    /// The server's CPU time over it, if the system counts it.
    pub cpu: Option<Duration>,
    /// The spans that the server recorded, if it does.
    pub spans: Option<Spans>,
    /// The states of the server's threads during the recording, if a picture shows them.
    pub threads: Option<ThreadStates>,
    /// Random arrivals after the recording, if the server is fast enough for them.
    pub slowest: Option<SlowestRequests>,
}

/// The bytes that a server allocates for one visit, and where.
#[derive(Debug)]
pub struct Heap {
    /// Stacks with the symbols as the server names them; bytes per visit.
    pub stacks: Folded,
    /// How many samples they are estimated from.
    pub samples: u64,
}

impl Observation {
    /// CPU time per answered request, as the system counts it.
    pub fn cpu_per_request(&self) -> Option<Duration> {
        let answered = u32::try_from(self.answered).ok().filter(|count| *count > 0)?;
        Some(self.cpu? / answered)
    }
}

impl Observations {
    /// The observations of a single server, without its allocations.
    pub fn of_one(profiler: Profiler, server: Observation) -> Self {
        Self {
            profiler,
            servers: vec![server],
            heaps: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The profiler, and how it found the callers.
    pub fn made_by(&self) -> String {
        let unwinder = self.servers.first().and_then(|server| server.recording.as_ref()?.unwinder);
        unwinder
            .map_or(self.profiler.to_string(), |unwinder| format!("{}; {unwinder}", self.profiler))
    }

    /// The stacks of every server as the page shows them, in nanoseconds of CPU time per request.
    pub fn cpu(&self, view: &View) -> Option<Vec<Folded>> {
        self.per_request(|stacks| view.of(stacks))
    }

    /// All of every server's stacks, with the names that the source has, in nanoseconds of CPU time per request.
    pub fn whole_cpu(&self) -> Option<Vec<Folded>> {
        self.per_request(Folded::demangled)
    }

    fn per_request(&self, shown: impl Fn(&Folded) -> Folded) -> Option<Vec<Folded>> {
        let of = |observation: &Observation| {
            let recording = observation.recording.as_ref()?;
            let mut per_request = observation.cpu_per_request()?.as_secs_f64();
            if recording.profiler.kernel == Kernel::Missing {
                // The system counts the kernel's part, but no stack shows it.
                per_request *= recording.cpu_agreement()?.min(1.0);
            }
            Some(shown(&recording.stacks).scaled_to((per_request * 1e9) as u64))
        };
        self.servers.iter().map(of).collect()
    }
}
