//! The card: what a triage found. It is JSON as it is; `text` shows it in a terminal, and `page` adds it to a page.

mod memory;
mod page;
mod routes;
#[cfg(test)]
mod tests;
mod text;

use lab_observation::{Function, JIT, Recording, STARVED};
use lab_protocol::{Note, NoteKind};
use lab_report::{
    Limited, NONE, ObjectiveAnswer, Table, TailAnswer, notes_for_programs, percent, plural,
    significant, time_ms,
};
use serde::Serialize;

use memory::MemoryAnswer;
use routes::RouteRow;

use super::{
    Facts, Measured, Rules, Suspect, figure::Figure, limit::TriageLimit, measure,
    thresholds::ENOUGH_SAMPLES,
};

/// How many functions the card names.
const FUNCTIONS: usize = 6;
/// A function of the handler with this share of the CPU time is worth a look, even if no rule names it.
const WIDE: f64 = 0.3;
/// The heading of the first section.
const LIMITS: &str = "What limits it";
/// A server that wants as many cores keeps the CPU busy.
const BUSY: f64 = 0.5;
/// From this share of the machine on, what others take can look like a fault of the server.
const DISTURBED: f64 = 0.1;

#[derive(Debug, Serialize)]
pub struct Card {
    pub server: String,
    /// The highest rate at which an objective holds, if the user gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveAnswer>,
    /// Which request of a visit costs most, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costliest_route: Option<String>,
    /// Each request of a visit alone; empty if a visit has only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RouteRow>,
    pub limit: TriageLimit,
    /// The limit as a sentence.
    pub limited_by: String,
    /// In the order in which to check them; empty if nothing is unusual.
    pub suspects: Vec<Suspect>,
    /// The titles of the suspects that could not be checked.
    pub unchecked: Vec<String>,
    pub requests_per_visit: usize,
    pub levels: Vec<LevelRow>,
    /// Why the slowest of the random arrivals are slow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailAnswer>,
    /// Whether memory grows, and how fast; absent if the system does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryAnswer>,
    /// The functions that cost most, with what they call, as shares of the CPU time.
    pub functions: Vec<Function>,
    pub facts: Facts,
    #[serde(serialize_with = "notes_for_programs")]
    pub notes: Vec<Note>,
}

#[derive(Debug, Serialize)]
pub struct LevelRow {
    pub users: usize,
    pub throughput_rps: f64,
    /// Latencies of a visit.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// Latencies from here on are lower bounds: requests of this age had no answer yet.
    pub exact_below_ms: Option<f64>,
    pub cpu_us_per_request: Option<f64>,
    /// The share of all cores that the server used.
    pub cpu_share: Option<f64>,
}

/// The notes of the profiler, and what makes the figures of the card doubtful.
fn notes(
    measured: &Measured,
    facts: &Facts,
    limit: TriageLimit,
    unchecked: &[String],
) -> Vec<Note> {
    let is_busy = facts.get(Figure::WantedCores).is_some_and(|cores| cores >= BUSY);
    // Few samples of an idle server add nothing to the limit, which comes from better figures.
    let says_little = |recording: &Recording| recording.samples < ENOUGH_SAMPLES && !is_busy;
    let mut notes = if measured.recording().is_some_and(says_little) {
        Vec::new()
    } else {
        measured.notes.clone()
    };
    let others = measured.levels.iter().filter_map(|level| level.others).reduce(f64::max);
    let disturbed = others.filter(|share| *share >= DISTURBED);
    notes.extend(disturbed.map(|share| NoteKind::BusyMachine { share }.into()));
    // A server that isn't busy waits for cores only if other processes have them.
    let starved = facts.get(Figure::StarvedShare).filter(|share| {
        *share >= STARVED && (disturbed.is_some() || is_busy && limit != TriageLimit::Generator)
    });
    notes.extend(starved.map(|share| NoteKind::Starved { share }.into()));
    if !unchecked.is_empty() {
        notes.push(NoteKind::NotChecked { suspects: unchecked.to_vec() }.into());
    }
    notes
}

impl Card {
    pub fn new(
        server: &str,
        requests_per_visit: usize,
        measured: &Measured,
        rules: &Rules,
    ) -> Self {
        let facts = Facts::of(measured, &rules.groups);
        let (suspects, unchecked) = rules.judge(&facts);
        let limit = TriageLimit::of(&facts);
        let levels = measured.levels.iter().map(|measure::Level { users, outcome, .. }| LevelRow {
            users: *users,
            throughput_rps: outcome.throughput() * requests_per_visit as f64,
            p50_ms: outcome.latency.median_ms(),
            p99_ms: outcome.latency.percentile_ms(99.0),
            exact_below_ms: outcome.youngest_unfinished.map(|age| age.as_secs_f64() * 1e3),
            cpu_us_per_request: outcome
                .cpu_us_per_request()
                .map(|us| us / requests_per_visit as f64),
            cpu_share: outcome.server_cpu.map(|cpu| {
                cpu.as_secs_f64() / outcome.measured.as_secs_f64() / measured.cores as f64
            }),
        });
        let notes = notes(measured, &facts, limit, &unchecked);
        let suspect = suspects.first().map(|suspect| &*suspect.title);
        let limited = Limited { limit: limit.short(), suspect, requests_per_visit };
        let objective = measured.objective.as_ref();
        let objective = objective.map(|search| ObjectiveAnswer::of(search, limited));
        let routes = routes::rows(&measured.routes);
        Self {
            server: server.to_owned(),
            objective,
            costliest_route: routes::headline(&routes, requests_per_visit),
            routes,
            limit,
            limited_by: limit.sentence(&facts),
            suspects,
            unchecked,
            requests_per_visit,
            levels: levels.collect(),
            tail: measured.tail().map(TailAnswer::from),
            memory: measured.memory_growth().as_ref().map(MemoryAnswer::of),
            functions: match measured.recording() {
                Some(recording) if recording.samples >= ENOUGH_SAMPLES => {
                    recording.hottest(FUNCTIONS)
                }
                _ => Vec::new(),
            },
            facts,
            notes,
        }
    }

    /// Adds notes of the measurement, which the terminal shows after the card.
    pub fn with_notes(mut self, notes: &[Note]) -> Self {
        self.notes.splice(0..0, notes.iter().cloned());
        self
    }

    /// The answers to what the user asked, before what limits the server.
    fn answers(&self) -> Vec<String> {
        let objective = self.objective.as_ref().map(|answer| answer.sentence.clone());
        objective.into_iter().chain(self.costliest_route.clone()).collect()
    }

    fn headline(&self) -> String {
        match (self.suspects.len(), self.widest()) {
            (0, None) => "Nothing unusual".to_owned(),
            (0, Some(Function { name, share, .. })) => {
                format!(
                    "Nothing unusual; the largest function is {name}, {} of the CPU time",
                    percent(*share)
                )
            }
            (suspects, _) => {
                let suspects = match suspects {
                    1 => "One suspect".to_owned(),
                    many => format!("{many} suspects, the likeliest first"),
                };
                let is_busy = |note: &Note| {
                    matches!(note, Note::Known { kind: NoteKind::BusyMachine { .. }, .. })
                };
                let doubt = "; the machine was busy: measure again";
                suspects + if self.notes.iter().any(is_busy) { doubt } else { "" }
            }
        }
    }

    /// The largest function of a handler that keeps the CPU busy, if it has a name.
    fn widest(&self) -> Option<&Function> {
        let is_busy = self.facts.get(Figure::WantedCores).is_some_and(|cores| cores >= BUSY);
        let is_wide = |function: &&Function| {
            function.in_handler && function.share >= WIDE && function.name != JIT
        };
        self.functions.first().filter(is_wide).filter(|_| is_busy)
    }

    /// Where throughput stops growing.
    fn shape(&self) -> String {
        let peak = self.facts.text(Figure::PeakRps).unwrap_or_default();
        match (self.facts.get(Figure::AtOnce), self.facts.get(Figure::Users)) {
            (Some(at_once), Some(users)) if at_once < 0.9 * users => {
                let users = plural(at_once.round().max(1.0) as usize, "user");
                format!("Throughput stops growing at about {users}; its peak is {peak}.")
            }
            (_, Some(users)) if self.facts.get(Figure::PeakUsers).is_some_and(|at| at < users) => {
                let [at, all] =
                    [Figure::PeakUsers, Figure::Users].map(|figure| self.facts.text(figure));
                let [at, all] = [at, all].map(Option::unwrap_or_default);
                format!(
                    "Throughput is highest with {at} users, where it is {peak}, and lower with {all}."
                )
            }
            (_, users) => {
                let users = plural(users.unwrap_or(1.0) as usize, "user");
                format!("Throughput still grows at {users}, where it is {peak}.")
            }
        }
    }

    /// A sentence on the latency of random arrivals, which don't wait for other users.
    fn arrivals(&self) -> Option<String> {
        let figures = [Figure::OpenRate, Figure::OpenP50Ms, Figure::OpenP99Ms];
        let [Some(rate), Some(p50), Some(p99)] = figures.map(|figure| self.facts.text(figure))
        else {
            return None;
        };
        let tail = self.tail.as_ref().map_or(String::new(), |tail| format!(" {}", tail.sentence));
        Some(format!("Random arrivals, {rate}: p50 {p50}, p99 {p99}.{tail}"))
    }

    /// The levels that say most: one user, the peak, those that were watched, and the last.
    fn few_levels(&self) -> Vec<&LevelRow> {
        let peak = self.facts.get(Figure::PeakUsers).map(|users| users as usize);
        let last = self.levels.last().map(|level| level.users);
        let says_much =
            |users| [Some(1), peak, Some(measure::WATCHED), last].contains(&Some(users));
        self.levels.iter().filter(|level| says_much(level.users)).collect()
    }

    fn table<'a>(&self, levels: impl IntoIterator<Item = &'a LevelRow>) -> Table {
        let row = |level: &LevelRow| {
            let latency = |ms: Option<f64>| {
                let is_bound = |ms: &f64| level.exact_below_ms.is_some_and(|exact| *ms >= exact);
                ms.map(|ms| format!("{}{}", if is_bound(&ms) { "≥ " } else { "" }, time_ms(ms)))
            };
            vec![
                level.users.to_string(),
                significant(level.throughput_rps),
                or_none(latency(level.p50_ms)),
                or_none(latency(level.p99_ms)),
                or_none(level.cpu_us_per_request.map(|us| time_ms(us / 1e3))),
                or_none(level.cpu_share.map(percent)),
            ]
        };
        let head = ["users", "req/s", "p50", "p99", "CPU/request", "CPU used"];
        Table::new("Closed loop, by users", head, levels.into_iter().map(row))
    }

    /// On average of a visit.
    fn counted(&self) -> Table {
        let names = [
            ("CPU time", Figure::CpuMs),
            ("system calls", Figure::SystemCallsPerRequest),
            ("outgoing connections", Figure::ConnectsPerRequest),
            ("files opened", Figure::OpensPerRequest),
            ("page faults", Figure::PageFaultsPerRequest),
            ("CPU time in the allocator, kernel included", Figure::AllocatorCpuShare),
            ("CPU time in the kernel", Figure::KernelCpuShare),
            ("the server's memory before the load", Figure::MemoryBeforeMib),
            ("the server's memory after the load", Figure::MemoryAfterMib),
        ];
        let row =
            |(name, figure): (&str, Figure)| Some(vec![name.to_owned(), self.facts.text(figure)?]);
        Table::new("", ["What a request costs", ""], names.into_iter().filter_map(row))
    }
}

fn or_none(shown: Option<String>) -> String {
    shown.unwrap_or_else(|| NONE.to_owned())
}

impl Suspect {
    fn parts(&self) -> [(&'static str, String); 4] {
        [
            ("Evidence", self.evidence.clone()),
            ("Wrong if", self.refute.clone()),
            ("First fix", self.fix.clone()),
            ("Read", format!("docs/src/{}", self.chapter)),
        ]
    }
}
