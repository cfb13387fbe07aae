//! A whole search: the ends, the states between them, and the change that is left.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, ensure};
use lab_protocol::HistoryChange;
use lab_report::{CaseRecord, SearchAnswer};
use lab_servers::{History, Revisions};
use lab_stats::{ChangeSearch, Like};
use lab_system::{allow_connections, err};

use super::{
    super::Places,
    Options,
    confirm::confirm,
    journal::SearchJournal,
    rounds::{Ends, measure_rounds},
    states::States,
};

/// The answers: one for the commits, and one for the crates if the commit touches only the lock file. The record
/// compares the state before the change that was found with the one after it.
#[derive(Default)]
pub struct SearchResult {
    pub answers: Vec<SearchAnswer>,
    pub record: Option<CaseRecord>,
    /// They are needed until the record is kept.
    pub journals: Vec<SearchJournal>,
}

/// Searches into `found`, whose parts are complete.
pub async fn search(
    places: &Places,
    options: &Options,
    files: &Path,
    found: &mut SearchResult,
) -> anyhow::Result<()> {
    let results = places.results()?;
    let what = &options.program.artifact()?;
    allow_connections(options.load.users as usize)?;
    // The worktrees stay until this returns.
    let revisions = &Revisions::open(&results).await?;
    let states = |history: History| {
        let (answers, build_takes) = (None, Duration::ZERO);
        States { options, revisions, what, files, history, answers, build_takes }
    };
    let ends = options.program.ends();
    let history = if options.program.lock {
        History::of_lock(revisions, ends).await?
    } else {
        History::of_commits(revisions, ends).await?
    };
    let lock = search_among(states(history), ends, &results, found).await?;
    let Some([before, after]) = &lock else { return Ok(()) };
    err!("this commit touches only Cargo.lock: which of its crates is it?");
    // The commit is the answer, even if its crates can't be told apart.
    let among_crates = async {
        let ends = [before.as_str(), after];
        let history = History::of_lock(revisions, ends).await?;
        search_among(states(history), ends, &results, found).await
    };
    if let Err(error) = among_crates.await {
        err!("note: its crates could not be searched: {error:#}");
    }
    Ok(())
}

/// Adds the answer. Returns the commits around the change that was found if it touches only lock files.
async fn search_among(
    mut states: States<'_>,
    ends: [&str; 2],
    results: &Path,
    found: &mut SearchResult,
) -> anyhow::Result<Option<[String; 2]>> {
    let names = ends.map(|end| end.get(..10).filter(|_| end.len() == 40).unwrap_or(end).to_owned());
    let [first, last] = &names;
    ensure!(states.last() > 0, "`{first}` and `{last}` are the same commit");
    let kind = states.kind();
    err!("{} between {first} and {last}", kind.count(states.last()));
    let mut journal = SearchJournal::open(results, &key(&states).await?);
    let (programs, effort) = states.ends().await?;
    let ends = Ends { programs, names: names.clone(), effort };
    let mut search = ChangeSearch::new(states.last(), journal.pairs(), &decided(&states, &journal));
    measure_rounds(&mut search, &mut states, &ends, &mut journal).await?;

    let mut answer = SearchAnswer {
        ends: names,
        kind,
        metric: states.options.metric(),
        changes: states.last(),
        looked_at: search.states()[0],
        between_ends: search.effect(),
        pairs: search.pairs().len(),
        suspects: Vec::new(),
        confirmation: None,
    };
    let (mut record, mut lock) = (None, None);
    if search.effect().is_some() {
        let (change, last) = search.suspects().into_inner();
        answer.suspects = states.history.changes[change - 1..last].to_vec();
        if change == last {
            let case = confirm(&mut states, change, answer.pairs, effort).await?;
            answer.confirmation = Some(Box::new(case.clone()));
            record = Some(case);
            let is_lock = states.history.is_only_of_lock(states.revisions, change).await?;
            if is_lock && answer.is_confirmed() {
                lock = Some(states.history.around(change).map(str::to_owned));
            }
        }
    }
    found.answers.push(answer);
    found.record = record.or(found.record.take());
    found.journals.push(journal);
    Ok(lock)
}

/// The states that an earlier call of the same search has decided.
fn decided(states: &States<'_>, journal: &SearchJournal) -> Vec<(usize, Like)> {
    let of = |state: usize| Some((state, journal.of(&states.history.name(state))?));
    (1..states.last()).filter_map(of).collect()
}

/// Everything that what is decided depends on, but for the machine.
async fn key(states: &States<'_>) -> anyhow::Result<String> {
    let Options { program, server, load, metric, .. } = states.options;
    let settings = states.revisions.settings().await?;
    let ends = [0, states.last()].map(|state| states.history.name(state));
    let mut bodies = Vec::new();
    let requests =
        if program.is_bench() { Vec::new() } else { server.requests.all(&[], states.files)? };
    for path in requests.iter().filter_map(|request| request.body.as_ref()) {
        let body = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        bodies.push(crc32fast::hash(&body));
    }
    let kind = matches!(states.history.changes[..], [HistoryChange::Crates(_), ..]);
    let what = (states.what.key(), settings, &program.args, &program.bench, kind);
    Ok(format!("{what:?} {server:?} {load:?} {metric:?} {ends:?} {bodies:?}"))
}
