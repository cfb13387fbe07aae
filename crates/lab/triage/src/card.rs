//! The card: what a triage found, as text, as JSON and as sections of a page.

use console::style;
use lab_display::{Table, out, paragraph, percent, significant, time_ms};
use lab_observation::{LANGUAGES, View, top_inclusive};
use lab_pictures::{Page, Section};
use serde::Serialize;

use super::{Facts, Measured, Rules, Suspect, facts::ENOUGH_SAMPLES, limit::Limit};

/// How many functions the card names.
const FUNCTIONS: usize = 6;
/// From this share on, a server that waits for a core is worth a note.
const STARVED: f64 = 0.3;

#[derive(Debug, Serialize)]
pub struct Card {
    pub server: String,
    pub limit: Limit,
    /// What `limit` says, as a sentence.
    pub limited_by: String,
    /// In the order in which to check them; empty if nothing is unusual.
    pub suspects: Vec<Suspect>,
    /// What could not be checked, by the titles of the suspects.
    pub unchecked: Vec<String>,
    pub requests_per_visit: usize,
    pub levels: Vec<Level>,
    /// The functions that cost most, with what they call, and their share of the CPU time.
    pub functions: Vec<(String, f64)>,
    pub facts: Facts,
    pub notices: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Level {
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

impl Card {
    pub fn new(
        server: &str,
        requests_per_visit: usize,
        measured: &Measured,
        rules: &Rules,
    ) -> Self {
        let facts = Facts::of(measured, &rules.groups);
        let (suspects, unchecked) = rules.judge(&facts);
        let limit = Limit::of(&facts);
        let levels = measured.levels.iter().map(|(users, outcome)| Level {
            users: *users,
            throughput_rps: outcome.throughput() * requests_per_visit as f64,
            p50_ms: outcome.latency.percentile_ms(50.0),
            p99_ms: outcome.latency.percentile_ms(99.0),
            exact_below_ms: outcome.youngest_unfinished.map(|age| age.as_secs_f64() * 1e3),
            cpu_us_per_request: outcome
                .cpu_us_per_request()
                .map(|us| us / requests_per_visit as f64),
            cpu_share: outcome.server_cpu.map(|cpu| {
                cpu.as_secs_f64() / outcome.measured.as_secs_f64() / measured.cores as f64
            }),
        });
        Self {
            server: server.to_owned(),
            limit,
            limited_by: limit.sentence(&facts),
            suspects,
            unchecked,
            requests_per_visit,
            levels: levels.collect(),
            functions: functions(measured),
            facts,
            // What few samples say of an idle server is said above, from better figures.
            notices: match measured.recording() {
                Some(it) if it.samples < ENOUGH_SAMPLES => Vec::new(),
                _ => measured.notices.clone(),
            },
        }
    }

    pub fn print(&self) {
        out!("\n{}  what limits it?", style(&self.server).bold().cyan());
        out!("{}", paragraph(&self.limited_by));
        out!("{}", paragraph(&self.shape()));
        out!("\n{}", self.table().text());
        out!("\n{}", self.counted().text());
        if !self.functions.is_empty() {
            out!("\n  {}", style("Largest functions, with what they call").bold());
            for (name, share) in &self.functions {
                out!("  {:>6}  {}", percent(*share), console::truncate_str(name, 68, "…"));
            }
        }
        out!("\n  {}", style(self.headline()).bold());
        for (index, suspect) in self.suspects.iter().enumerate() {
            out!("\n  {}", style(format!("{}. {}", index + 1, suspect.title)).yellow());
            if let Some(share) = &suspect.accounts_for {
                out!("{}", paragraph(&format!("Accounts for: {share}")));
            }
            for (name, text) in suspect.parts() {
                out!("{}", paragraph(&format!("{name}: {text}")));
            }
        }
        out!("");
        for note in self.notes() {
            out!("{}", paragraph(&format!("note: {note}")));
        }
    }

    /// Puts the card before the other sections of a page.
    pub fn add_to(&self, page: &mut Page) {
        page.question = self.headline();
        let mut suspects = Vec::new();
        for (index, suspect) in self.suspects.iter().enumerate() {
            let title = format!("{}. {}", index + 1, suspect.title);
            let explains = suspect.accounts_for.as_ref().map(|it| format!("It accounts for {it}."));
            let mut section = Section::new(&title, explains.unwrap_or_default());
            let rows = suspect.parts().map(|(name, text)| vec![name.to_owned(), text]).to_vec();
            section.tables.push(Table::new("", ["", ""], rows));
            suspects.push(section);
        }
        let mut limits =
            Section::new("What limits it", format!("{} {}", self.limited_by, self.shape()));
        limits.tables.push(self.table());
        limits.tables.push(self.counted());
        suspects.push(limits);
        page.sections.splice(0..0, suspects);
        page.notices.extend(self.notes());
    }

    fn headline(&self) -> String {
        match self.suspects.len() {
            0 => "Nothing unusual".to_owned(),
            1 => "One suspect".to_owned(),
            many => format!("{many} suspects, the likeliest first"),
        }
    }

    /// The form of the throughput curve.
    fn shape(&self) -> String {
        let bend = match self.facts.get("at_once") {
            Some(at_once) if at_once < 60.0 => {
                format!("bends at about {} users", significant(at_once))
            }
            _ => "does not bend up to 64 users".to_owned(),
        };
        let peak = self.facts.shown("peak_rps").unwrap_or_default();
        format!("The throughput curve {bend}, and its peak is {peak}.")
    }

    fn table(&self) -> Table {
        let or_none = |shown: Option<String>| shown.unwrap_or_else(|| lab_display::NONE.to_owned());
        let row = |level: &Level| {
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
        Table::new("Closed loop, by users", head, self.levels.iter().map(row))
    }

    /// What a request costs, on average of a visit.
    fn counted(&self) -> Table {
        let names = [
            ("CPU time", "cpu_ms"),
            ("system calls", "system_calls_per_request"),
            ("connections made", "connects_per_request"),
            ("files opened", "opens_per_request"),
            ("page faults", "page_faults_per_request"),
            ("CPU time in the allocator", "allocator_cpu_share"),
            ("CPU time in the kernel", "kernel_cpu_share"),
        ];
        let row =
            |(name, fact): &(&str, &str)| Some(vec![(*name).to_owned(), self.facts.shown(fact)?]);
        let visit = "request";
        let rows = names.iter().filter_map(row);
        Table::new(format!("What a {visit} costs"), [visit, ""], rows)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.notices.clone();
        let starved = self.facts.get("starved_share").filter(|share| *share >= STARVED);
        let wants = self.facts.get("wanted_cores").is_some_and(|cores| cores >= 0.5);
        if let Some(share) = starved.filter(|_| wants && self.limit != Limit::Generator) {
            notes.push(format!(
                "its threads waited for a core in {} of the time that they wanted one: end other programs, \
                 or the machine is too small for server and generator",
                percent(share)
            ));
        }
        if !self.unchecked.is_empty() {
            notes.push(format!("could not be checked here: {}", self.unchecked.join("; ")));
        }
        notes
    }
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

/// The server's own functions that cost most, without those that are in nearly every stack.
fn functions(measured: &Measured) -> Vec<(String, f64)> {
    let Some(recording) = measured.recording().filter(|it| it.samples >= ENOUGH_SAMPLES) else {
        return Vec::new();
    };
    let stacks = View::default().of(&recording.stacks);
    let total = stacks.total().max(1) as f64;
    let rows = top_inclusive(&stacks, usize::MAX).into_iter();
    let own = rows.filter(|row| !LANGUAGES.any(|it| &it.runtime, &row.name));
    let shares = own.map(|row| (row.name, row.inclusive as f64 / total));
    shares.filter(|(_, share)| *share < 0.999).take(FUNCTIONS).collect()
}
