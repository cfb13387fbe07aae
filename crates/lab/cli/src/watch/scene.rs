//! The servers of a page: started, loaded and watched, one after the other.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use lab_case::{Case, Exhibit, Workspace, usual};

use super::{Progress, observe::Watch, visits};
use crate::{
    bench::Comparison,
    flame::{
        Heap, Observation, Rung, Scene, Seen, View,
        record::{Failure, Ladder},
    },
    launch::Launch,
};

/// What a page shows, and the servers that it is shown of.
#[derive(Debug)]
pub struct Subjects {
    /// What is to be drawn.
    pub scene: Scene,
    /// The servers and their load.
    comparison: Comparison,
    /// Where the first companion answers with what it counted.
    counters: Option<String>,
    /// The builds of the same servers that sample their allocations; empty if no exhibit needs any.
    sampling: Vec<Launch>,
}

impl Subjects {
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
        let scene = Scene {
            title: case.title.clone(),
            question: case.question.clone(),
            exhibits: case.flame.clone(),
            view: View {
                crates: vec![snake(&case.name)],
                variants: case.variants.iter().map(snake).collect(),
            },
            is_case: true,
            ..scene(&comparison)
        };
        let counters = case.companions.first().and_then(|companion| companion.counters.clone());
        Ok(Self { scene, comparison, counters, sampling: launches })
    }

    /// One server of the reader's own, or two.
    pub fn own(comparison: Comparison) -> Self {
        let title = match comparison.subjects.len() {
            1 => "Where the CPU time goes",
            _ => "Where the CPU time goes, in two builds",
        };
        let question = format!("What does {} do with its CPU time?", comparison.name);
        let scene = Scene { title: title.to_owned(), question, ..scene(&comparison) };
        Self { scene, comparison, counters: None, sampling: Vec::new() }
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
            is_case: self.scene.is_case,
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
        self.scene.exhibits.contains(&exhibit)
    }
}

/// What a comparison alone says of its page.
fn scene(comparison: &Comparison) -> Scene {
    let first = comparison.subjects.first();
    Scene {
        name: comparison.name.clone(),
        title: String::new(),
        question: String::new(),
        exhibits: usual(),
        names: comparison.subjects.iter().map(|(name, _)| name.clone()).collect(),
        load: comparison.load_in_words(),
        requests_per_page: comparison.asks.len(),
        program: first.map(|(_, launch)| launch.program.clone()),
        view: View::default(),
        is_case: false,
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
