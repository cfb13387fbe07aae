//! A whole search: the ends, the states between them, and the change that is left.

use std::{path::Path, time::Duration};

use anyhow::ensure;
use lab_report::{CaseRecord, SearchAnswer};
use lab_servers::{History, Revisions};
use lab_stats::{Bet, Speedup, SplitMix64};
use lab_system::{allow_connections, err};

use super::{
    super::Places,
    Options,
    confirm::confirm,
    decide::{Yardstick, decide},
    ends::difference,
    journal::SearchJournal,
    programs::programs,
    states::States,
};

/// The answers: one for the commits, and one for the crates if the commit touches only the lock file. The record
/// compares the state before the change that was found with the one after it.
pub struct SearchResult {
    pub answers: Vec<SearchAnswer>,
    pub record: Option<CaseRecord>,
}

pub async fn search(
    places: &Places,
    options: &Options,
    files: &Path,
) -> anyhow::Result<SearchResult> {
    let results = places.results()?;
    let what = &options.program.artifact()?;
    allow_connections(options.load.users as usize)?;
    // The worktrees stay until this returns.
    let revisions = &Revisions::open(&results).await?;
    let of_history = async |ends: [&str; 2], history: History| {
        let (answers, build_takes) = (None, Duration::ZERO);
        let states = States { options, revisions, what, files, history, answers, build_takes };
        search_among(states, ends, &results).await
    };
    let ends = options.program.ends();
    let history = if options.program.lock {
        History::of_lock(revisions, ends).await?
    } else {
        History::of_commits(revisions, ends).await?
    };
    let (answer, record, lock) = of_history(ends, history).await?;
    let mut found = SearchResult { answers: vec![answer], record };
    if let Some([before, after]) = &lock {
        err!("this commit touches only Cargo.lock: which of its crates is it?");
        let ends = [before.as_str(), after];
        let history = History::of_lock(revisions, ends).await?;
        let (answer, record, _) = of_history(ends, history).await?;
        found.answers.push(answer);
        found.record = record.or(found.record);
    }
    Ok(found)
}

/// The answer, the record of the change that was found, and the commits around it if it only touches lock files.
type OneSearch = (SearchAnswer, Option<CaseRecord>, Option<[String; 2]>);

async fn search_among(
    mut states: States<'_>,
    ends: [&str; 2],
    results: &Path,
) -> anyhow::Result<OneSearch> {
    let names = ends.map(str::to_owned);
    let [first, last] = &names;
    ensure!(states.last() > 0, "`{first}` and `{last}` are the same commit");
    let kind = states.kind();
    err!("{} between {first} and {last}", kind.count(states.last()));
    let mut journal = SearchJournal::open(results, &key(&states).await?);
    let random = &mut SplitMix64(jiff::Timestamp::now().as_microsecond() as u64);
    let (ends, effort) = states.ends().await?;
    let mut both = programs(states.options, ends.to_vec(), effort)?;
    let difference = difference(&mut both, &names, &mut journal, random).await?;
    let pairs = difference.pairs();
    let mut answer = SearchAnswer {
        ends: names.clone(),
        kind,
        metric: states.options.metric(),
        changes: states.last(),
        built: 0,
        between_ends: None,
        pairs: pairs.len(),
        suspects: Vec::new(),
        confirmation: None,
    };
    let (mut record, mut lock) = (None, None);
    if let Some(effect) = difference.effect() {
        answer.between_ends = Speedup::of_pairs(pairs.iter().map(|pair| pair.exp()));
        let (bet, run) = (Bet::learned(effect, pairs), both.run_takes());
        let yardstick = Yardstick { ends, names, bet, effort, run };
        let (suspects, built) = decide(&mut states, &yardstick, &mut journal, random).await?;
        answer.built = built;
        answer.suspects = states.history.changes[suspects.start() - 1..*suspects.end()].to_vec();
        let (change, last) = suspects.into_inner();
        if change == last {
            let case = confirm(&mut states, change, pairs.len(), effort).await?;
            answer.confirmation = Some(Box::new(case.clone()));
            record = Some(case);
            let is_lock = states.history.is_only_of_lock(states.revisions, change).await?;
            if is_lock && answer.is_confirmed() {
                lock = Some(states.history.around(change).map(str::to_owned));
            }
        }
    }
    journal.end();
    Ok((answer, record, lock))
}

/// Everything that what is decided depends on, but for the machine.
async fn key(states: &States<'_>) -> anyhow::Result<String> {
    let settings = states.revisions.settings().await?;
    let Options { program, server, load, metric, .. } = states.options;
    let ends = [0, states.last()].map(|state| states.history.name(state));
    let what = states.what.key();
    Ok(format!("{what} {settings:08x} {:?} {server:?} {load:?} {metric:?} {ends:?}", program.args))
}
