//! The servers of a page: started, loaded and watched, one after the other.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use lab_cases::{Case, Workspace};
use lab_model::{Exhibit, Kind, Note, usual};
use lab_observation::{Observation, Observations, Profiler, STARVED, ThreadStates, Topic, View};
use lab_profile::{Failure, Profilers};
use lab_servers::Launch;
use lab_system::{Build, Progress, own_command};

use super::{
    heap,
    observe::{Instruments, SpanSource, Watch, first_that_works},
};
use crate::bench::Comparison;

/// Threads that wanted fewer cores say nothing by waiting for them.
const WANTED: f64 = 0.1;

/// What a page shows, and the servers it shows.
#[derive(Debug)]
pub struct Subjects {
    pub topic: Topic,
    comparison: Comparison,
    /// The builds of the same servers that sample their allocations; empty if no exhibit needs them.
    sampling: Vec<Launch>,
    /// Whether the servers have the in-process sampler.
    has_sampler: bool,
    /// The file where your own server writes its spans.
    spans: Option<PathBuf>,
}

impl Subjects {
    /// The slow and the fixed variant of a case, built as `build` says. `sampling` has the binaries that
    /// sample their allocations, if an exhibit shows any.
    pub fn of_case(
        case: &Case,
        comparison: Comparison,
        sampling: Option<&Workspace>,
        build: Build,
    ) -> anyhow::Result<Self> {
        let mut launches = Vec::new();
        if let Some(workspace) = sampling {
            for subject in &comparison.subjects {
                launches.push(Launch::of_case(workspace, case, &subject.name)?);
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
            ..topic(&comparison)?
        };
        Ok(Self { topic, comparison, sampling: launches, has_sampler: true, spans: None })
    }

    /// One or two servers of your own, which may write their spans to a file.
    pub fn own(comparison: Comparison, spans: Option<PathBuf>) -> anyhow::Result<Self> {
        let mut topic = topic(&comparison)?;
        if spans.is_some() {
            topic.exhibits.extend([Exhibit::Timeline, Exhibit::Waits]);
        }
        Ok(Self { topic, comparison, sampling: Vec::new(), has_sampler: false, spans })
    }

    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// Watches all servers through the first of these profilers that does not fail. `scratch` is for
    /// the profiler's own files.
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
        let instruments = Instruments { sampler: self.has_sampler, threads, spans };
        let watch = Watch { comparison: &self.comparison, profilers, instruments, window, scratch };
        let observe = async |profiler| self.observe(&watch, profiler, progress).await;
        let note = |sentence| {
            progress.note(&format!("note: {sentence}"));
            notes.push(Note::Sentence(sentence));
        };
        let (profiler, servers) = first_that_works(choice, observe, note).await?;
        notes.extend(notes_of(&servers));
        for Observation { name, threads, .. } in &servers {
            let starved = threads.as_ref().map(ThreadStates::starved);
            if let Some((_, share)) = starved.filter(|it| it.0 >= WANTED && it.1 >= STARVED) {
                notes.push(Note::of(name, Kind::Starved { share }));
            }
        }
        let mut heaps = Vec::new();
        for launch in &self.sampling {
            progress.step(&format!("sampling the allocations of {}", launch.name));
            let heap = heap::sample(launch, self.comparison.asks()).await;
            heaps.push(heap.with_context(|| launch.name.clone())?);
        }
        Ok(Observations { profiler, servers, heaps, notes })
    }

    async fn observe(
        &self,
        watch: &Watch<'_>,
        profiler: Profiler,
        progress: &Progress,
    ) -> Result<Vec<Observation>, Failure> {
        let mut observations = Vec::new();
        for subject in &self.comparison.subjects {
            progress.step(&format!("recording {}", subject.name));
            observations.push(watch.observe(profiler, subject).await?);
        }
        Ok(observations)
    }

    fn shows(&self, exhibit: Exhibit) -> bool {
        self.topic.exhibits.contains(&exhibit)
    }
}

/// The page of servers that no case describes.
fn topic(comparison: &Comparison) -> anyhow::Result<Topic> {
    ensure!(!comparison.subjects.is_empty(), "there is no server to watch");
    let title = match comparison.subjects.len() {
        1 => "Where the CPU time goes",
        _ => "Where the CPU time goes, in two builds",
    };
    Ok(Topic {
        name: comparison.name.clone(),
        title: title.to_owned(),
        question: format!("What does {} do with its CPU time?", comparison.name),
        exhibits: usual(),
        servers: comparison.subjects.iter().map(|it| it.name.clone()).collect(),
        load: comparison.describe_load(),
        build: Build::unknown(),
        instrumented: false,
        view: View::default(),
        spans: Default::default(),
        commands: vec![format!("lab {}", shell_words::join(own_command().iter().skip(1)))],
    })
}

/// The notes of the profiler. A note that applies to all servers appears once.
fn notes_of(observations: &[Observation]) -> Vec<Note> {
    let notes = |it: &Observation| it.recording.as_ref().map_or(vec![], |it| it.notes.clone());
    let all: Vec<Vec<Kind>> = observations.iter().map(notes).collect();
    let is_common = |note: &Kind| all.iter().all(|notes| notes.contains(note));
    let common = all.first().into_iter().flatten().filter(|note| is_common(note));
    let mut merged: Vec<_> = common.cloned().map(Note::from).collect();
    for (observation, notes) in observations.iter().zip(&all) {
        let own = notes.iter().filter(|note| !is_common(note)).cloned();
        merged.extend(own.map(|note| Note::of(&observation.name, note)));
    }
    merged
}
