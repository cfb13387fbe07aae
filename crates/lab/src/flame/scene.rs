//! What a page is about: its servers, and the pictures that are to be drawn of them.

use crate::{
    bench::Comparison,
    case::Case,
    flame::{
        Folded, Heap, Observation, Rung, View,
        exhibit::{self, Exhibit},
        observe::Watch,
        progress::Progress,
        record::{Failure, Ladder},
        visits,
    },
    launch::Launch,
    workspace::Workspace,
};

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context as _, bail};

/// The servers of a page, one or two, and what is to be shown of them.
#[derive(Debug)]
pub struct Scene {
    /// The name of the case, or of the reader's own server.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// What the page answers.
    pub question: String,
    /// What is shown, the most telling first.
    pub exhibits: Vec<Exhibit>,
    /// The servers and their load.
    pub comparison: Comparison,
    /// Where the first companion answers with what it counted.
    pub counters: Option<String>,
    /// The builds of the same servers that sample their allocations; empty if no exhibit needs any.
    pub sampling: Vec<Launch>,
    /// How stacks are simplified.
    pub view: View,
    /// Whether the servers are ours, so that they tell of themselves.
    pub is_case: bool,
}

/// All that was seen, for the exhibits to be drawn from.
#[derive(Debug)]
pub struct Seen {
    /// Who recorded.
    pub rung: Rung,
    /// The servers under load, in the order of the scene.
    pub observations: Vec<Observation>,
    /// Their allocations, if an exhibit shows any.
    pub heaps: Vec<Heap>,
    /// What a page costs each in counts, if an exhibit shows any.
    pub counts: Vec<BTreeMap<String, f64>>,
    /// What a reader has to know.
    pub notices: Vec<String>,
}

impl Scene {
    /// The slow and the fixed variant of a case. `sampling` has the binaries that sample their
    /// allocations, if an exhibit shows any.
    pub fn of_case(
        case: &Case,
        comparison: Comparison,
        sampling: Option<&Workspace>,
    ) -> anyhow::Result<Self> {
        let mut launches = Vec::new();
        if let Some(workspace) = sampling {
            for (variant, _) in &comparison.subjects {
                launches.push(Launch::of_case(workspace, case, variant)?);
            }
        }
        let snake = |name: &String| name.replace('-', "_");
        Ok(Self {
            name: case.name.clone(),
            title: case.title.clone(),
            question: case.question.clone(),
            exhibits: case.flame.clone(),
            comparison,
            counters: case.companions.first().and_then(|companion| companion.counters.clone()),
            sampling: launches,
            view: View {
                crates: vec![snake(&case.name)],
                variants: case.variants.iter().map(snake).collect(),
            },
            is_case: true,
        })
    }

    /// One server of the reader's own, or two.
    pub fn own(comparison: Comparison) -> Self {
        let title = match comparison.subjects.len() {
            1 => "Where the CPU time goes",
            _ => "Where the CPU time goes, in two builds",
        };
        Self {
            name: comparison.name.clone(),
            title: title.to_owned(),
            question: format!("What does {} do with its CPU time?", comparison.name),
            exhibits: exhibit::usual(),
            comparison,
            counters: None,
            sampling: Vec::new(),
            view: View::default(),
            is_case: false,
        }
    }

    /// Watches the servers, all through the same rung: the best that does not fail.
    pub async fn see(
        &self,
        ladder: &Ladder,
        rungs: &[Rung],
        window: Duration,
        dir: &Path,
        progress: &Progress,
    ) -> anyhow::Result<Seen> {
        let skipped = ladder.skipped().iter();
        let mut notices: Vec<_> =
            skipped.map(|it| format!("{}: {}", it.rung, it.obstacle)).collect();
        let counters = self.counters.as_deref().filter(|_| self.shows(Exhibit::Connections));
        let watch = Watch {
            comparison: &self.comparison,
            ladder,
            counters,
            is_case: self.is_case,
            tells_spans: self.shows(Exhibit::Timeline) || self.shows(Exhibit::Waits),
            window,
            dir,
        };
        for rung in rungs {
            match self.observe(&watch, *rung, progress).await {
                Ok(observations) => {
                    notices.extend(told_by(&observations));
                    let heaps = self.heaps(progress).await?;
                    let counts = self.counts(progress).await?;
                    return Ok(Seen { rung: *rung, observations, heaps, counts, notices });
                }
                Err(Failure::Fatal(error)) => return Err(error),
                Err(Failure::StepDown(obstacle)) => {
                    let notice = format!("{rung}: {obstacle}");
                    progress.note(&format!("note: {notice}"));
                    notices.push(notice);
                }
            }
        }
        bail!("no profiler works here; `lab doctor` says what is missing")
    }

    async fn observe(
        &self,
        watch: &Watch<'_>,
        rung: Rung,
        progress: &Progress,
    ) -> Result<Vec<Observation>, Failure> {
        let mut observations = Vec::new();
        for (name, launch) in &self.comparison.subjects {
            progress.step(&format!("recording {name}"));
            observations.push(watch.observe(rung, name, launch).await?);
        }
        Ok(observations)
    }

    async fn heaps(&self, progress: &Progress) -> anyhow::Result<Vec<Heap>> {
        let mut heaps = Vec::new();
        for launch in &self.sampling {
            progress.step(&format!("sampling the allocations of {}", launch.name));
            let heap = visits::heap(launch, &self.comparison.asks).await;
            heaps.push(heap.with_context(|| launch.name.clone())?);
        }
        Ok(heaps)
    }

    async fn counts(&self, progress: &Progress) -> anyhow::Result<Vec<BTreeMap<String, f64>>> {
        let mut counts = Vec::new();
        if self.shows(Exhibit::Counters) {
            for (name, launch) in &self.comparison.subjects {
                progress.step(&format!("counting what {name} does"));
                let path = self.counters.as_deref();
                let counted = visits::counters(launch, &self.comparison.asks, path).await;
                counts.push(counted.with_context(|| launch.name.clone())?);
            }
        }
        Ok(counts)
    }

    fn shows(&self, exhibit: Exhibit) -> bool {
        self.exhibits.contains(&exhibit)
    }
}

/// What the profiler has to say of the servers; what holds for all of them is said once.
fn told_by(observations: &[Observation]) -> Vec<String> {
    let of = |observation: &Observation| {
        observation.recording.as_ref().map_or_else(Vec::new, |recording| recording.notices.clone())
    };
    let all: Vec<Vec<String>> = observations.iter().map(of).collect();
    let holds_for_all = |notice: &String| all.iter().all(|notices| notices.contains(notice));
    let common = all.first().into_iter().flatten().filter(|notice| holds_for_all(notice));
    let mut told: Vec<_> = common.cloned().collect();
    for (observation, notices) in observations.iter().zip(&all) {
        let own = notices.iter().filter(|notice| !holds_for_all(notice));
        told.extend(own.map(|notice| format!("{}: {notice}", observation.name)));
    }
    told
}

impl Seen {
    /// The stacks of every server as the page shows them, in nanoseconds of CPU time per request.
    pub fn cpu(&self, view: &View) -> Option<Vec<Folded>> {
        let of = |observation: &Observation| {
            let recording = observation.recording.as_ref()?;
            let mut per_request = observation.cpu_per_request()?.as_secs_f64();
            if recording.rung == Rung::PerfUserOnly {
                // The kernel's part is in the system's account and in no stack.
                per_request *= recording.cpu_agreement()?.min(1.0);
            }
            let stacks = view.of(&recording.stacks);
            Some(stacks.scaled_to((per_request * 1e9) as u64))
        };
        self.observations.iter().map(of).collect()
    }
}
