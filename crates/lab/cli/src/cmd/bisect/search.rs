//! The search: which state is like which end, until one change is left; then that change alone.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use lab_measure::{
    Programs,
    bench::{Effort, Runs, assess_each, run as run_experiment},
    micro,
};
use lab_protocol::Metric;
use lab_report::{CaseRecord, ChangeName, SearchAnswer, plural};
use lab_servers::{Artifact, Change, History, Revisions, learn_answers};
use lab_stats::{Bet, Bisection, Difference, Like, Speedup, SplitMix64, StateTest};
use lab_system::{Progress, allow_connections, err};

use super::{
    super::Places,
    Options,
    ends::difference,
    journal::Journal,
    programs::{Program, programs},
};

/// The pairs of runs of the change that was found, which get figures to publish.
const PAIRS: usize = 12;
/// The smallest effect of that change that matters.
const MINIMUM_EFFECT: f64 = 0.03;

/// The answers: one for the commits, and one for the crates if the commit touches only the lock file. The record
/// compares the state before the change that was found with the one after it.
pub struct Found {
    pub answers: Vec<SearchAnswer>,
    pub record: Option<CaseRecord>,
}

pub async fn search(places: &Places, options: &Options, files: &Path) -> anyhow::Result<Found> {
    let results = places.results()?;
    // The worktrees stay until this returns.
    let revisions = Revisions::open(&results).await?;
    let what = options.program.artifact()?;
    allow_connections(options.load.users as usize)?;
    let [first, last] = options.program.ends();
    let open = async |ends: [&str; 2], is_lock: bool| {
        let history = if is_lock {
            History::of_lock(&revisions, ends).await?
        } else {
            History::of_commits(&revisions, ends).await?
        };
        let random = SplitMix64(jiff::Timestamp::now().as_microsecond() as u64);
        let ends = ends.map(str::to_owned);
        let key = format!(
            "{:?} {:?} {:?} {:?}",
            options.program.args, options.server, options.load, options.metric
        );
        let key = format!(
            "{} {key} {} {}",
            what.key(),
            history.name(0),
            history.name(history.changes.len())
        );
        let journal = Journal::open(&results, &key);
        let (options, revisions, what) = (options, &revisions, &what);
        anyhow::Ok(Search {
            options,
            revisions,
            what,
            files,
            history,
            ends,
            journal,
            random,
            built: 0,
            build_takes: Duration::ZERO,
        })
    };
    let commits = open([first, last], options.program.lock).await?;
    let history = commits.history.changes.len();
    err!("{} between {first} and {last}", plural(history, commits.kind()));
    let (answer, record, lock) = commits.run().await?;
    let mut found = Found { answers: vec![answer], record };
    if let Some([before, after]) = lock {
        err!("this commit touches only Cargo.lock: which of its crates is it?");
        let crates = open([&before, &after], true).await?;
        let (answer, record, _) = crates.run().await?;
        found.answers.push(answer);
        found.record = record.or(found.record);
    }
    Ok(found)
}

struct Search<'a> {
    options: &'a Options,
    revisions: &'a Revisions,
    what: &'a Artifact,
    /// For the bodies of requests.
    files: &'a Path,
    history: History,
    ends: [String; 2],
    journal: Journal,
    random: SplitMix64,
    built: usize,
    build_takes: Duration,
}

impl Search<'_> {
    fn kind(&self) -> &'static str {
        if matches!(self.history.changes[..], [Change::Crates(_), ..]) {
            "group of crates"
        } else {
            "commit"
        }
    }

    /// The answer, the record of the change that was found, and the commits around it if it only touches lock files.
    async fn run(
        mut self,
    ) -> anyhow::Result<(SearchAnswer, Option<CaseRecord>, Option<[String; 2]>)> {
        let last = self.history.changes.len();
        anyhow::ensure!(last > 0, "`{}` and `{}` are the same commit", self.ends[0], self.ends[1]);
        let ends = [self.program(0).await?, self.program(last).await?];
        let effort = self.short_runs(&ends).await?;
        let mut both = programs(self.options, ends.to_vec(), effort)?;
        let difference = difference(&mut both, &mut self.journal, &mut self.random).await?;
        let mut answer = SearchAnswer {
            ends: self.ends.clone(),
            kind: self.kind(),
            metric: self.options.metric(),
            changes: last,
            built: 0,
            between_ends: None,
            pairs: difference.pairs().len(),
            suspects: Vec::new(),
            confirmation: None,
        };
        if let Some(effect) = difference.effect() {
            answer.between_ends =
                Speedup::of_pairs(difference.pairs().iter().map(|pair| pair.exp()));
            let bet = Bet::learned(effect, difference.pairs());
            let suspects = self.bisect(&ends, bet, effort, both.run_takes()).await?;
            answer.built = self.built;
            answer.suspects = suspects.clone().map(|change| self.name(change)).collect();
            if suspects.clone().count() == 1 {
                let change = *suspects.start();
                let record = self.confirm(change, &difference, effort).await?;
                answer.confirmation = Some(Box::new(record.clone()));
                let around = self.history.around(change).map(str::to_owned);
                let is_lock = self.history.is_only_of_lock(self.revisions, change).await?;
                let lock = Some(around).filter(|_| is_lock && answer.is_confirmed());
                self.journal.end();
                return Ok((answer, Some(record), lock));
            }
        }
        self.journal.end();
        Ok((answer, None, None))
    }

    /// The server or bench at a state. The ends have their names, and so has what the progress shows.
    async fn program(&mut self, state: usize) -> anyhow::Result<Program> {
        let begun = Instant::now();
        let built = self.history.build(self.revisions, state, self.what).await?;
        self.build_takes = begun.elapsed();
        Program::of(self.options, &self.history.name(state), &built, self.files)
    }

    /// Runs that are short, so that a round meets the machine in one state. Fails unless both ends give the same answers.
    async fn short_runs(&self, ends: &[Program; 2]) -> anyhow::Result<Effort> {
        let seed = jiff::Timestamp::now().as_microsecond() as u64;
        let effort = Effort { metric: self.options.metric(), ..Effort::usual(true, seed) };
        let [Program::Server(first), Program::Server(last)] = ends else { return Ok(effort) };
        let mut subjects = [first.clone(), last.clone()];
        let (_, visit) = learn_answers(&mut subjects, &self.options.server.requests).await?;
        Ok(effort.for_visits(visit))
    }

    /// Builds and measures states in the middle until their changes can't be told apart.
    async fn bisect(
        &mut self,
        ends: &[Program; 2],
        bet: Bet,
        effort: Effort,
        run: Duration,
    ) -> anyhow::Result<std::ops::RangeInclusive<usize>> {
        let changes = self.history.changes.len();
        let mut search = Bisection::new(changes);
        let progress = Progress::new(self.options.program.ends()[1]);
        while let Some(state) = search.next() {
            let name = self.history.name(state);
            let like = match self.journal.of(&name) {
                Some(like) => like,
                None => {
                    let left = search.steps_left();
                    let like = match self.measure(state, ends, bet, effort, run, left).await {
                        Ok(like) => like,
                        Err(error) => {
                            progress.note(&format!("{name}  skipped: {error:#}"));
                            Like::Unknown
                        }
                    };
                    self.journal.decide(&name, like)?;
                    like
                }
            };
            let [first, last] = &self.ends;
            let is_like = match like {
                Like::First => format!("like {first}"),
                Like::Last => format!("like {last}"),
                Like::Unknown => "not decided".to_owned(),
            };
            progress.note(&format!("{name}  {is_like}  {}", self.name(state).title));
            search.learn(state, like);
        }
        Ok(search.suspects())
    }

    /// Which end a state is like. `left`: how many states are looked at from here on.
    async fn measure(
        &mut self,
        state: usize,
        ends: &[Program; 2],
        bet: Bet,
        effort: Effort,
        run: Duration,
        left: usize,
    ) -> anyhow::Result<Like> {
        let program = self.program(state).await?;
        self.built += 1;
        let [first, last] = ends.clone();
        let mut all = [first, program, last];
        if let [Program::Server(first), Program::Server(middle), Program::Server(last)] = &mut all {
            let mut subjects = [first.clone(), middle.clone(), last.clone()];
            learn_answers(&mut subjects, &self.options.server.requests).await?;
            [*first, *middle, *last] = subjects;
        }
        let mut programs = programs(self.options, all.to_vec(), effort)?;
        let changes = self.history.changes.len();
        let mut test = StateTest::new(bet, changes);
        let usual = test.usual_rounds() as u32;
        let progress = Progress::new(all[1].name());
        for round in 0.. {
            if !test.needs_more() {
                break;
            }
            let done = f64::from(round).min(f64::from(usual)) / f64::from(usual);
            let step = 3 * usual * run + self.build_takes;
            let steps = left as f64 - done;
            let known = 1.0 - steps / (left + self.built) as f64;
            progress.about(known, &format!("round {}", round + 1), step.mul_f64(steps));
            let mut order = [0, 1, 2];
            self.random.shuffle(&mut order);
            let mut achieved = [0.0; 3];
            for program in order {
                achieved[program] = programs.run(program, round as usize, &progress).await?;
            }
            test.add(achieved);
        }
        Ok(test.decided().unwrap_or(Like::Unknown))
    }

    /// Compares the states around a change, with as many and as long runs as for figures to publish.
    async fn confirm(
        &mut self,
        change: usize,
        difference: &Difference,
        short: Effort,
    ) -> anyhow::Result<CaseRecord> {
        let sides = vec![self.program(change - 1).await?, self.program(change).await?];
        let is_large = difference.effect().is_some_and(|effect| effect.abs() > 0.3);
        let usual = Effort::usual(is_large, short.seed);
        let effort = Effort {
            pairs: if is_large { usual.pairs } else { PAIRS },
            minimum_effect: MINIMUM_EFFECT,
            metric: short.metric,
            open_loop: Duration::ZERO,
            measurement: usual.measurement.max(short.measurement),
            warm_up: usual.warm_up.max(short.warm_up),
            grace: usual.grace.max(short.grace),
            ..usual
        };
        match programs(self.options, sides, effort)? {
            Programs::Servers(mut experiment) => {
                let requests = &self.options.server.requests;
                (experiment.notes, experiment.visit_takes) =
                    learn_answers(&mut experiment.subjects, requests).await?;
                let progress = Progress::planned(experiment.length());
                let mut runs = Runs::default();
                run_experiment(&experiment, &progress, &mut runs).await?;
                assess_each(&experiment, &runs)?.pop().context("there is a candidate")
            }
            Programs::Benches { sides, name, .. } => {
                let effort = Effort { metric: Metric::Time, ..effort };
                let pairs = |_, _| 2 * PAIRS;
                let cases = micro::compare(&self.what.name, &sides, pairs, effort).await?;
                let is_it = |case: &&CaseRecord| cases.len() == 1 || case.case.as_str() == name;
                cases.iter().find(is_it).cloned().context("the benchmark has a time")
            }
        }
    }

    fn name(&self, change: usize) -> ChangeName {
        match &self.history.changes[change - 1] {
            Change::Commit { hash, subject } => {
                ChangeName { name: hash[..hash.len().min(10)].to_owned(), title: subject.clone() }
            }
            Change::Crates(crates) => {
                let versions = |versions: &[String]| match versions {
                    [] => "none".to_owned(),
                    versions => versions.join(" and "),
                };
                let name = |change: &lab_servers::lock_file::CrateChange| {
                    format!("{} {} → {}", change.name, versions(&change.from), versions(&change.to))
                };
                let names: Vec<_> = crates.iter().map(name).collect();
                ChangeName { name: names.join(", "), title: String::new() }
            }
        }
    }
}
