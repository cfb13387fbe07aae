//! What a triage measures: one server, kept running, under one kind of load after the other.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use http::Uri;
use lab_display::plural;
use lab_model::{Arrivals, EngineOptions, Load, LoadPlan, Outcome, Target};
use lab_observation::{Observation, Profiler, Recording, ThreadStates};
use lab_profile::{Profilers, watch_threads};
use lab_servers::Stage;
use lab_system::process;

use super::facts::ENOUGH_SAMPLES;
use lab_measure::{
    bench::{Comparison, generate},
    count::{Counter, SYSTEM_CALLS},
    watch::{Progress, Watch, first_that_works},
};

/// The levels of the closed loop.
const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The level at which the server is watched closely: more users than most machines have cores, and
/// few enough for a slow server.
pub const WATCHED: usize = 16;
const WARM_UP: Duration = Duration::from_millis(400);
const LEVEL: Duration = Duration::from_millis(1500);
const WATCH: Duration = Duration::from_secs(3);
const PROFILE: Duration = Duration::from_secs(4);
const GRACE: Duration = Duration::from_millis(500);
/// How long the threads of the unloaded server are watched.
const IDLE: Duration = Duration::from_millis(500);
/// A level lasts for about this many answers of one user, or two of each, but not much longer than a fast
/// server's.
const ANSWERS: f64 = 16.0;
const LONGEST: Duration = Duration::from_secs(4);
/// Answers that take this long, in milliseconds, may have waited for a delayed acknowledgement, which
/// Linux sends after 40 ms. The range is wider than that, so that the experiment has to remove such
/// answers and cannot merely shift them.
pub const DELAYED: std::ops::Range<f64> = 30.0..80.0;
/// Where most of the delayed answers begin, and what comes before that: fewer answers, unless they took so
/// long for another reason.
const ONSET: std::ops::Range<f64> = 38.0..60.0;
const BEFORE: std::ops::Range<f64> = 19.0..38.0;
/// A server that uses this share of a core has enough samples, unless the profiler got too little time.
const WORKS: f64 = 0.2;
/// Fewer delayed answers are outliers.
const FEWEST: u64 = 10;

/// What is counted for each request, by the events of `perf stat`.
const EVENTS: [&str; 9] = [
    SYSTEM_CALLS,
    "syscalls:sys_enter_connect",
    "syscalls:sys_enter_openat",
    "syscalls:sys_enter_write",
    "syscalls:sys_enter_fsync",
    "syscalls:sys_enter_fdatasync",
    "syscalls:sys_enter_clone",
    "syscalls:sys_enter_clone3",
    "page-faults",
];

/// A server, its requests, and the tools to watch it.
#[derive(Debug)]
pub struct Triage<'a> {
    pub comparison: &'a Comparison,
    pub profilers: &'a Profilers,
    pub scratch: &'a Path,
    pub progress: &'a Progress,
}

/// Everything that was measured. What the system does not show is absent.
#[derive(Debug)]
pub struct Measured {
    pub cores: usize,
    /// Requests of a visit, which an outcome counts as one.
    pub asks: usize,
    pub levels: Vec<Level>,
    /// Connections that the system refused during all levels, because the accept queue was full.
    pub refused_connections: Option<u64>,
    /// An experiment at `WATCHED` users, if answers took as long as a delayed acknowledgement: a client that
    /// acknowledges at once; and its control, the usual client once more.
    pub quick_ack: Option<[Outcome; 2]>,
    /// The threads without load, and with `WATCHED` users.
    pub threads: Option<[ThreadStates; 2]>,
    pub outbound: Outbound,
    /// `EVENTS` per visit, with `WATCHED` users.
    pub counts: Option<Counts>,
    pub profiler: Profiler,
    pub observation: Observation,
    pub notices: Vec<String>,
}

/// How often each event occurs per visit.
pub type Counts = BTreeMap<&'static str, f64>;

/// One level of the closed loop.
#[derive(Debug)]
pub struct Level {
    pub users: usize,
    pub outcome: Outcome,
    /// Requests that have no answer, if the level was long enough for two answers to each user.
    pub lost: u64,
}

impl Level {
    pub fn new(users: usize, outcome: Outcome, before: &[Self]) -> Self {
        let best = peak(before).max(outcome.throughput());
        let is_long = users == 1 || twice(users, best) <= outcome.measured.as_secs_f64();
        let lost = if is_long { outcome.lost } else { 0 };
        Self { users, outcome, lost }
    }

    /// How long a level lasts; `None` if it would have more users than answers. What is counted then depends on
    /// when the level begins.
    fn length(users: usize, before: &[Self]) -> Option<Duration> {
        let (best, longest) = (peak(before), LONGEST.as_secs_f64());
        if users > WATCHED && best * longest < users as f64 {
            return None;
        }
        let least = if users == WATCHED { WATCH } else { LEVEL };
        let alone = before.first().map_or(0.0, |level| 1.0 / level.outcome.throughput());
        let wanted = if users == 1 { 0.0 } else { (ANSWERS * alone).max(twice(users, best)) };
        Some(Duration::from_secs_f64(wanted.min(longest)).max(least))
    }
}

/// Answers per second at the best of these levels.
fn peak(levels: &[Level]) -> f64 {
    levels.iter().map(|level| level.outcome.throughput()).fold(0.0, f64::max)
}

/// The seconds in which each user gets two answers.
fn twice(users: usize, per_s: f64) -> f64 {
    2.0 * users as f64 / per_s
}

/// Connections to other servers, with `WATCHED` users.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outbound {
    pub connections: Option<usize>,
    /// Questions and answers per second, over connections that stay open.
    pub round_trips_per_s: Option<f64>,
}

impl Measured {
    pub fn at(&self, users: usize) -> Option<&Outcome> {
        self.levels.iter().find(|level| level.users == users).map(|level| &level.outcome)
    }

    pub fn recording(&self) -> Option<&Recording> {
        self.observation.recording.as_ref()
    }
}

impl Triage<'_> {
    pub fn load_in_words() -> String {
        let [first, .., last] = LEVELS;
        format!("{first} to {last} users without a pause, {WATCHED} while recorded")
    }

    pub async fn run(&self) -> anyhow::Result<Measured> {
        let (_, launch) = self.comparison.subjects.first().context("there is a server")?;
        let mut stage = Stage::set(launch).await?;
        stage.server.ensure_it_can_be_timed()?;
        let target = stage.server.target();
        let stage_is_own = stage.server.is_own();
        let url = stage.server.url().clone();
        let on = Loaded { triage: self, target, url: &url, pid: stage.server.studied_pid()? };
        let stages = stage.watch(on.stages()).await;
        stage.clear().await?;
        let Stages { idle, climb, quick_ack, profile, counter } = stages?;
        let Profile { profiler, mut observation, mut notices } = profile;
        // `perf stat` reports when the server has exited.
        let counts = match counter {
            Ok(counting) => counting.per_visit(stage_is_own).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &counts {
            notices.push(format!("nothing is counted: {error:#}"));
        }
        observation.threads = climb.busy.clone();
        Ok(Measured {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            asks: self.comparison.asks.len(),
            levels: climb.levels,
            refused_connections: climb.refused_connections,
            quick_ack,
            threads: idle.zip(climb.busy).map(|(idle, busy)| [idle, busy]),
            outbound: climb.outbound,
            counts: counts.ok(),
            profiler,
            observation,
            notices,
        })
    }
}

/// The server under load.
struct Loaded<'a> {
    triage: &'a Triage<'a>,
    target: Target,
    url: &'a Uri,
    pid: u32,
}

/// What each stage found, in their order.
struct Stages {
    idle: Option<ThreadStates>,
    climb: Climb,
    quick_ack: Option<[Outcome; 2]>,
    profile: Profile,
    counter: anyhow::Result<Counting>,
}

/// All levels, and what was seen meanwhile.
#[derive(Default)]
struct Climb {
    levels: Vec<Level>,
    busy: Option<ThreadStates>,
    outbound: Outbound,
    refused_connections: Option<u64>,
}

struct Profile {
    profiler: Profiler,
    observation: Observation,
    notices: Vec<String>,
}

impl Profile {
    /// On a busy machine, a profiler may get nothing of a server that works.
    fn lacks_samples(&self) -> bool {
        self.observation.recording.as_ref().is_some_and(|recording| {
            let used = recording.system_cpu.unwrap_or_default();
            recording.samples < ENOUGH_SAMPLES && used >= recording.window.mul_f64(WORKS)
        })
    }
}

/// Events from the first request to the last, so that the totals can be divided by the requests. The totals are
/// known once the counter has ended.
struct Counting {
    counter: Counter,
    visits: u64,
}

impl Counting {
    async fn per_visit(self, stage_is_own: bool) -> anyhow::Result<Counts> {
        let totals = self.counter.totals(stage_is_own).await?;
        let visits = self.visits.max(1) as f64;
        Ok(EVENTS.into_iter().zip(totals.into_iter().map(|total| total as f64 / visits)).collect())
    }
}

impl Loaded<'_> {
    async fn stages(&self) -> anyhow::Result<Stages> {
        let progress = self.triage.progress;
        progress.step("watching it without load");
        let idle = watch_threads(self.pid, IDLE).await;
        let climb = self.climb().await?;
        let quick_ack = self.quick_ack(&climb.levels).await?;
        let mut profile = self.profile().await?;
        if profile.lacks_samples() {
            profile = self.profile().await?;
        }
        progress.step("counting");
        let counter = self.count().await;
        Ok(Stages { idle, climb, quick_ack, profile, counter })
    }

    /// One level after the other, up to the most users that get enough answers.
    async fn climb(&self) -> anyhow::Result<Climb> {
        let refused_before = process::refused_connections(self.pid);
        let mut climb = Climb::default();
        for users in LEVELS {
            let Some(length) = Level::length(users, &climb.levels) else { break };
            self.triage.progress.step(&format!("{users} of {} users", LEVELS[LEVELS.len() - 1]));
            let load = self.load(users, WARM_UP, length);
            let answered = climb.levels.last().map(|level| level.users);
            let limited = || too_many(users, answered);
            let outcome = if users == WATCHED {
                let watch = self.watch(length);
                let (outcome, seen) =
                    tokio::try_join!(generate(&load), watch).with_context(limited)?;
                (climb.busy, climb.outbound) = seen;
                outcome
            } else {
                generate(&load).await.with_context(limited)?
            };
            let first_fault = outcome.first_fault.clone().unwrap_or("none came".to_owned());
            // Lost requests are a finding.
            let is_answered = users > 1 || outcome.ok_in_time + outcome.lost > 0;
            ensure!(is_answered, "no right answer: {first_fault}");
            climb.levels.push(Level::new(users, outcome, &climb.levels));
        }
        let refused = process::refused_connections(self.pid);
        climb.refused_connections = refused.and_then(|now| now.checked_sub(refused_before?));
        Ok(climb)
    }

    /// The threads, and the connections to other servers, while a load of this length runs.
    async fn watch(&self, length: Duration) -> anyhow::Result<(Option<ThreadStates>, Outbound)> {
        // Not its beginning, and not its end.
        tokio::time::sleep(WARM_UP).await;
        let (before, start) = (process::round_trips(self.pid), Instant::now());
        let states = watch_threads(self.pid, length - GRACE).await;
        let asked = process::round_trips(self.pid).and_then(|now| now.checked_sub(before?));
        let per_s = asked.map(|it| it as f64 / start.elapsed().as_secs_f64());
        let connections = process::outbound_connections(self.pid);
        Ok((states, Outbound { connections, round_trips_per_s: per_s }))
    }

    /// Whether answers are delayed because the client acknowledges late.
    async fn quick_ack(&self, levels: &[Level]) -> anyhow::Result<Option<[Outcome; 2]>> {
        let watched = levels.iter().find(|level| level.users == WATCHED);
        if !watched.is_some_and(|level| may_be_delayed(&level.outcome)) {
            return Ok(None);
        }
        self.triage.progress.step("a client that acknowledges at once");
        let usual = self.load(WATCHED, WARM_UP, WATCH);
        let options = EngineOptions { quick_ack: true, ..usual.options };
        let quick = LoadPlan { options, ..usual.clone() };
        Ok(Some([generate(&quick).await?, generate(&usual).await?]))
    }

    /// Where CPU time goes, by the first profiler that works.
    async fn profile(&self) -> anyhow::Result<Profile> {
        let Triage { comparison, profilers, scratch, progress } = *self.triage;
        let watch = Watch {
            comparison,
            profilers,
            has_sampler: false,
            has_spans: false,
            shows_threads: false,
            spans_file: None,
            window: PROFILE,
            scratch,
        };
        let load = Load { users: WATCHED, think_ms: 0, ..comparison.load };
        let mut notices = Vec::new();
        let record = async |profiler| {
            progress.step("recording a profile");
            let plan = watch.plan(self.target.clone(), self.pid, load);
            watch.under_load(profiler, "server", self.url, plan).await
        };
        let note = |notice| notices.push(notice);
        let (profiler, observation) = first_that_works(profilers.usable(), record, note).await?;
        notices.extend(observation.recording.iter().flat_map(|it| it.notices.clone()));
        Ok(Profile { profiler, observation, notices })
    }

    async fn count(&self) -> anyhow::Result<Counting> {
        let mut counter = Counter::attach(self.pid, &EVENTS).await?;
        let load = self.load(WATCHED, Duration::ZERO, LEVEL);
        let outcome = counter.during(generate(&load)).await?;
        Ok(Counting { counter, visits: outcome.ok + outcome.wrong + outcome.unfinished })
    }

    fn load(&self, users: usize, warm_up: Duration, measurement: Duration) -> LoadPlan {
        let comparison = self.triage.comparison;
        LoadPlan {
            target: self.target.clone(),
            server_pid: Some(self.pid),
            arrivals: Arrivals::ClosedLoop(Load { users, think_ms: 0, ..comparison.load }),
            warm_up,
            measurement,
            grace: GRACE,
            asks: comparison.asks.clone(),
            background: Vec::new(),
            options: EngineOptions::default(),
        }
    }
}

/// Why a load fails that fewer users can make.
fn too_many(users: usize, answered: Option<usize>) -> String {
    let Some(fewer) = answered else { return "one user gets no answers".to_owned() };
    format!(
        "{} can be served, and {users} cannot. Each keeps a connection open, so look for a limit of \
         connections or workers between these numbers",
        plural(fewer, "user")
    )
}

/// Whether answers took as long as a delayed acknowledgement, and more than took a bit less.
fn may_be_delayed(outcome: &Outcome) -> bool {
    let [onset, before] = [ONSET, BEFORE].map(|range| within(outcome, &range));
    onset >= FEWEST.max(before)
}

/// How many answers took so many milliseconds.
fn within(outcome: &Outcome, range: &std::ops::Range<f64>) -> u64 {
    let answers = outcome.latency.buckets().filter(|(ms, _)| range.contains(ms));
    answers.map(|(_, count)| count).sum()
}

/// How many answers took as long as a delayed acknowledgement, and how many there are.
pub fn delayed(outcome: &Outcome) -> (u64, u64) {
    (within(outcome, &DELAYED), outcome.latency.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_that_begin_at_forty_milliseconds_are_worth_the_experiment() {
        let may_be = |modes: &[(u64, u64)]| {
            let mut outcome = Outcome::default();
            for (ms, answers) in modes {
                (0..*answers).for_each(|_| outcome.latency.record(Duration::from_millis(*ms)));
            }
            may_be_delayed(&outcome)
        };
        assert!(may_be(&[(1, 60_000), (41, 180), (300, 2)]) && may_be(&[(44, 500)]));
        assert!(!may_be(&[(1, 60_000), (41, 9)]) && !may_be(&[(51, 0)]));
        // Slow answers of all lengths are a tail.
        assert!(!may_be(&[(1, 1000), (10, 50), (20, 50), (30, 40), (50, 60)]));
    }
}
