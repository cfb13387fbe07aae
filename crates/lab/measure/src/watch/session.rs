//! The servers of a page of pictures: started, loaded and watched, one after the other.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use lab_cases::{Case, Workspace};
use lab_observation::{KeptHeap, Observation, Observations, Profiler, STARVED, Topic, View};
use lab_profile::{Heaptrack, Profilers};
use lab_protocol::{Exhibit, Note, NoteKind, Request, usual};
use lab_servers::Launch;
use lab_system::{Build, Progress, own_command};

use super::{
    ServerUnderLoad, heap, kept,
    observe::{Instruments, SpanSource, Watch, first_that_works, window},
};

/// Threads that wanted fewer cores say nothing by waiting for them.
const WANTED: f64 = 0.1;

/// The topic of a page, and the servers to watch for it.
#[derive(Debug)]
pub struct FlameSession {
    pub topic: Topic,
    servers: Vec<ServerUnderLoad>,
    /// The builds of the same servers that sample their allocations; empty if no exhibit needs them.
    sampling: Vec<Launch>,
    /// Whether the servers have the in-process sampler.
    has_sampler: bool,
    /// The file where your own server writes its spans.
    spans: Option<PathBuf>,
    /// Shows what your own servers keep of their requests, if you asked for it.
    heaptrack: Option<Heaptrack>,
}

impl FlameSession {
    /// The slow and the fixed variant of a case, built as `build` says. `sampling` has the binaries that
    /// sample their allocations, if an exhibit shows any.
    ///
    /// # Errors
    ///
    /// If a binary that samples allocations is missing, or if there is no server.
    pub fn of_case(
        case: &Case,
        servers: Vec<ServerUnderLoad>,
        sampling: Option<&Workspace>,
        build: Build,
    ) -> anyhow::Result<Self> {
        let mut launches = Vec::new();
        if let Some(workspace) = sampling {
            for server in &servers {
                launches.push(Launch::of_case(workspace, case, &server.name)?);
            }
        }
        let snake = |name: &String| name.replace('-', "_");
        let topic = Topic {
            title: case.title.clone(),
            question: case.question.clone(),
            exhibits: case.flame.clone(),
            view: View {
                crates: vec![snake(&case.name)],
                variants: case.variants.iter().map(snake).collect(),
            },
            spans: case.spans.clone(),
            commands: ["flame", "bench"].map(|verb| format!("just {verb} {}", case.shown)).to_vec(),
            build,
            instrumented: true,
            ..topic(&case.shown, &servers)?
        };
        Ok(Self {
            topic,
            servers,
            sampling: launches,
            has_sampler: true,
            spans: None,
            heaptrack: None,
        })
    }

    /// A session with one or two servers of your own, which may write their spans to a file. With `heaptrack`, they run once more, and
    /// it shows what they keep of their requests.
    ///
    /// # Errors
    ///
    /// If there is no server.
    pub fn own(
        name: &str,
        servers: Vec<ServerUnderLoad>,
        spans: Option<PathBuf>,
        heaptrack: Option<Heaptrack>,
    ) -> anyhow::Result<Self> {
        let mut topic = topic(name, &servers)?;
        if spans.is_some() {
            topic.exhibits.extend([Exhibit::Timeline, Exhibit::Waits]);
        }
        Ok(Self { topic, servers, sampling: Vec::new(), has_sampler: false, spans, heaptrack })
    }

    /// How long a visit to the slowest server takes that meets no other; zero if nobody knows.
    pub fn visit_takes(&self) -> Duration {
        self.servers.iter().map(|server| server.visit_takes).max().unwrap_or_default()
    }

    /// How long each server has to be recorded at least, if it usually is for so long.
    pub fn enough(&self, usual: Duration) -> Duration {
        let users = self.servers.first().map_or(1, |server| server.workload.load.users);
        window(usual, self.visit_takes(), users)
    }

    /// Watches all servers through the first of these profilers that does not fail. `scratch` is for
    /// the profiler's own files.
    ///
    /// # Errors
    ///
    /// If no profiler works, or if a server cannot be started.
    pub async fn see(
        &self,
        profilers: &Profilers,
        choice: &[Profiler],
        window: Duration,
        scratch: &Path,
        progress: &Progress,
    ) -> anyhow::Result<Observations> {
        let unusable = profilers.unusable().iter();
        let mut notes: Vec<_> = unusable
            .map(|(profiler, obstacle)| Note::Sentence(format!("{profiler}: {obstacle}")))
            .collect();
        let spans = match &self.spans {
            Some(file) => SpanSource::File(file),
            None if self.shows(Exhibit::Timeline) || self.shows(Exhibit::Waits) => {
                SpanSource::Server
            }
            None => SpanSource::Nowhere,
        };
        let threads = self.shows(Exhibit::Threads);
        // The spans in a file would be those of the last request.
        let alone = !self.topic.instrumented && self.spans.is_none();
        let instruments = Instruments { sampler: self.has_sampler, threads, spans, alone };
        let observe = async |profiler| {
            let mut observations = Vec::new();
            for server in &self.servers {
                progress.step(&format!("recording {}", server.name));
                let watch = Watch { server, profilers, instruments, window, scratch };
                observations.push(watch.observe(profiler, progress).await?);
            }
            Ok(observations)
        };
        let note = |sentence| {
            progress.note(&format!("note: {sentence}"));
            notes.push(Note::Sentence(sentence));
        };
        let (profiler, servers) = first_that_works(choice, observe, note).await?;
        notes.extend(notes_of(&servers));
        notes.extend(servers.iter().filter_map(starved));
        let mut heaps = Vec::new();
        for (launch, server) in self.sampling.iter().zip(&self.servers) {
            progress.step(&format!("sampling the allocations of {}", launch.name));
            let heap = heap::sample(launch, &server.requests).await;
            heaps.push(heap.with_context(|| launch.name.clone())?);
        }
        let kept = self.kept(window, scratch, progress).await?;
        Ok(Observations { profiler, servers, heaps, kept, notes })
    }

    /// What the servers keep of their requests, if that was asked for.
    async fn kept(
        &self,
        window: Duration,
        scratch: &Path,
        progress: &Progress,
    ) -> anyhow::Result<Vec<KeptHeap>> {
        let mut found = Vec::new();
        let Some(heaptrack) = &self.heaptrack else { return Ok(found) };
        for server in &self.servers {
            progress.step(&format!("recording the allocations of {}", server.name));
            let kept = kept::kept(server, heaptrack, window, scratch).await;
            found.push(kept.with_context(|| server.name.clone())?);
        }
        Ok(found)
    }

    fn shows(&self, exhibit: Exhibit) -> bool {
        self.topic.exhibits.contains(&exhibit)
    }
}

/// The page of servers that no case describes.
///
/// # Errors
///
/// If there is no server.
pub fn topic(name: &str, servers: &[ServerUnderLoad]) -> anyhow::Result<Topic> {
    let first = servers.first().context("there is no server to watch")?;
    let title = match servers.len() {
        1 => "Where the CPU time goes",
        _ => "Where the CPU time goes, in two builds",
    };
    Ok(Topic {
        name: name.to_owned(),
        title: title.to_owned(),
        question: format!("What does {name} do with its CPU time?"),
        exhibits: usual(),
        servers: servers.iter().map(|server| server.name.clone()).collect(),
        load: first.workload.describe(
            Request::of_visit(&first.requests).len(),
            servers.iter().map(|server| &server.launch),
        ),
        build: Build::unknown(),
        instrumented: false,
        view: View::default(),
        spans: Default::default(),
        commands: vec![format!("lab {}", shell_words::join(own_command().iter().skip(1)))],
    })
}

/// The note on a server whose threads often waited for a core.
fn starved(Observation { name, threads, .. }: &Observation) -> Option<Note> {
    let (wanted, share) = threads.as_ref()?.starved();
    (wanted >= WANTED && share >= STARVED).then(|| Note::of(name, NoteKind::Starved { share }))
}

/// The notes of the profiler. A note that applies to all servers appears once.
fn notes_of(observations: &[Observation]) -> Vec<Note> {
    let notes = |observation: &Observation| {
        observation.recording.as_ref().map_or(vec![], |recording| recording.notes.clone())
    };
    let all: Vec<Vec<NoteKind>> = observations.iter().map(notes).collect();
    let is_common = |note: &NoteKind| all.iter().all(|notes| notes.contains(note));
    let common = all.first().into_iter().flatten().filter(|note| is_common(note));
    let mut merged: Vec<_> = common.cloned().map(Note::from).collect();
    for (observation, notes) in observations.iter().zip(&all) {
        let own = notes.iter().filter(|note| !is_common(note)).cloned();
        merged.extend(own.map(|note| Note::of(&observation.name, note)));
    }
    merged
}
