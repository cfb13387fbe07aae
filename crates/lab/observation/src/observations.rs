//! The topic of a page, and all observations of its servers.

use std::{collections::BTreeMap, time::Duration};

use lab_protocol::{Exhibit, Note, SpanKind};
use lab_system::Build;

use super::{Folded, Kernel, LANGUAGES, Profiler, Recording, Spans, ThreadStates, View};

/// How many functions of a stack are named.
const NAMED: usize = 4;

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
#[derive(Debug)]
pub struct Observation {
    /// The server's name on the page, such as `slow`.
    pub name: String,
    /// Absent without a profiler.
    pub recording: Option<Recording>,
    /// How long the load was measured; this includes the recording.
    pub measured: Duration,
    /// Requests that were answered in this time.
    pub answered: u64,
    /// The server's CPU time over it, if the system counts it.
    pub cpu: Option<Duration>,
    /// The spans that the server recorded, if it does.
    pub spans: Option<Spans>,
    /// The states of the server's threads during the recording, if a picture shows them.
    pub threads: Option<ThreadStates>,
}

/// The bytes that a server allocates for one visit, and where.
#[derive(Debug)]
pub struct Heap {
    /// Stacks with the symbols as the server names them; bytes per visit.
    pub stacks: Folded,
    /// How many samples they are estimated from.
    pub samples: u64,
}

/// The memory that a server allocated under load, and had not freed at its end.
#[derive(Debug)]
pub struct KeptHeap {
    /// Stacks with the symbols as the server names them, and their bytes.
    pub stacks: Folded,
    /// Requests that were answered meanwhile.
    pub requests: u64,
    /// CPU time per request while allocations were recorded, as a multiple of that without; if both are known.
    pub slowdown: Option<f64>,
}

/// A stack as a reader sees it, without the allocator, and what it keeps.
#[derive(Debug, PartialEq)]
pub struct KeptStack {
    /// The innermost function first: `remember ← serve ← main`.
    pub name: String,
    pub bytes_per_request: u64,
    /// Of all that is kept.
    pub share: f64,
}

impl KeptHeap {
    /// Bytes per request, in these stacks as the page shows them.
    pub fn per_request(&self, view: &View) -> Folded {
        view.of(&self.stacks).scaled_to(self.stacks.total() / self.requests.max(1))
    }

    /// The stacks that keep most.
    pub fn largest(&self, view: &View, most: usize) -> Vec<KeptStack> {
        let total = self.stacks.total().max(1) as f64;
        let mut by_name = BTreeMap::<String, u64>::new();
        for (stack, bytes) in view.of(&self.stacks).iter() {
            let functions = stack.iter().rev().filter(|name| !LANGUAGES.is_allocator(name));
            let named: Vec<_> = functions.take(NAMED).map(String::as_str).collect();
            *by_name.entry(named.join(" ← ")).or_default() += bytes;
        }
        let kept = |(name, bytes): (String, u64)| KeptStack {
            name,
            bytes_per_request: bytes / self.requests.max(1),
            share: bytes as f64 / total,
        };
        let mut stacks: Vec<_> = by_name.into_iter().map(kept).collect();
        stacks.sort_by(|a, b| b.share.total_cmp(&a.share));
        stacks.truncate(most);
        stacks
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stacks_that_keep_most_are_named_from_the_inside_without_the_allocator() {
        let stacks = "main;serve;remember;Vec::push;malloc 3000\nmain;serve;remember;Vec::push;realloc 3000\n\
                      main;serve;log;malloc 2000\n";
        let heap = KeptHeap { stacks: stacks.parse().unwrap(), requests: 100, slowdown: None };
        let largest = heap.largest(&View::default(), 1);
        let name = "Vec::push ← remember ← serve ← main".to_owned();
        assert_eq!(largest, [KeptStack { name, bytes_per_request: 60, share: 0.75 }]);
        assert_eq!(heap.per_request(&View::default()).total(), 80);
        assert_eq!(heap.largest(&View::default(), 3).len(), 2);
    }
}
