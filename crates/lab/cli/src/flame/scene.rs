//! What a page is about: its servers, and the pictures that are to be drawn of them.

use std::{collections::BTreeMap, path::PathBuf};

use lab_case::Exhibit;

use super::{Folded, Heap, Observation, Rung, View};

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
    /// The servers' names, the baseline first.
    pub names: Vec<String>,
    /// The load, in words.
    pub load: String,
    /// How many requests one visit makes.
    pub requests_per_page: usize,
    /// The program of the first server.
    pub program: Option<PathBuf>,
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
