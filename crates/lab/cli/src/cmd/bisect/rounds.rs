//! Measures what a search asks for, round by round, until it is over.

use lab_measure::{Programs, bench::Effort};
use lab_report::{decided_in_words, ends_in_words};
use lab_stats::{ChangeSearch, Like, NextRound, SplitMix64};
use lab_system::Progress;

use super::{
    journal::SearchJournal,
    programs::{BuiltProgram, programs},
    states::States,
};

/// The first and the last state, and how to measure them.
pub struct Ends {
    pub programs: [BuiltProgram; 2],
    /// The names that the user gave them.
    pub names: [String; 2],
    pub effort: Effort,
}

/// Measures until the search is over. What it decides is in the journal.
///
/// # Errors
///
/// If an end can't be measured, or the journal can't be written.
pub async fn measure_rounds(
    search: &mut ChangeSearch,
    states: &mut States<'_>,
    ends: &Ends,
    journal: &mut SearchJournal,
) -> anyhow::Result<()> {
    let random = &mut SplitMix64(jiff::Timestamp::now().as_microsecond() as u64);
    let [first, last] = &ends.names;
    let metric = states.options.metric();
    let mut both = programs(states.options, ends.programs.to_vec(), ends.effort)?;
    let progress = Progress::new(&format!("{first} and {last}"));
    while search.next_round() == Some(NextRound::Ends) {
        let pair = search.pairs().len();
        progress.running(&format!("pair {}", pair + 1));
        let [first, last] =
            round(&mut both, pair, random, &progress).await.map_err(|(_, error)| error)?;
        search.add_ends(last - first);
        journal.decide_ends(search.pairs())?;
    }
    if let Some(effect) = search.effect() {
        progress.note(&ends_in_words(&ends.names, metric, effect, search.pairs().len()));
    }
    while let Some(NextRound::State(state)) = search.next_round() {
        let name = states.history.name(state);
        let measured = measure_state(search, states, state, ends, &both, random).await?;
        let like = match measured {
            Ok(like) => {
                journal.decide(&name, like)?;
                like
            }
            // It isn't in the journal, so the next call tries it again.
            Err(error) => {
                search.skip();
                progress.note(&format!("{name}  skipped: {error:#}"));
                Like::Unknown
            }
        };
        let change = &states.history.changes[state - 1];
        progress.note(&decided_in_words(&name, like, &ends.names, change));
    }
    Ok(())
}

/// Which end a state is like. The inner error is that of the state, which can't be built or measured.
async fn measure_state(
    search: &mut ChangeSearch,
    states: &mut States<'_>,
    state: usize,
    ends: &Ends,
    both: &Programs,
    random: &mut SplitMix64,
) -> anyhow::Result<anyhow::Result<Like>> {
    let program = match states.program(state).await {
        Ok(program) => program,
        Err(error) => return Ok(Err(error)),
    };
    let [first, last] = ends.programs.clone();
    let mut three = programs(states.options, vec![first, program, last], ends.effort)?;
    let progress = Progress::new(&states.history.name(state));
    loop {
        let [measured, usual] = search.rounds();
        let [done, left] = search.states();
        let of_state = measured.min(usual) as f64 / usual.max(1) as f64;
        let share = (done as f64 + of_state) / (done + left).max(1) as f64;
        let takes = both.run_takes() * 3 * usual as u32 + states.build_takes;
        let which = format!("round {}", measured + 1);
        progress.about(share, &which, takes.mul_f64(left as f64 - of_state));
        let achieved = match round(&mut three, measured, random, &progress).await {
            Ok(achieved) => achieved,
            Err((1, error)) => return Ok(Err(error)),
            Err((_, error)) => return Err(error),
        };
        if let Some(like) = search.add_state(achieved) {
            return Ok(Ok(like));
        }
    }
}

/// A run of each program, in random order. An error has the program that it is of.
async fn round<const N: usize>(
    programs: &mut Programs,
    nth: usize,
    random: &mut SplitMix64,
    progress: &Progress,
) -> Result<[f64; N], (usize, anyhow::Error)> {
    let mut order: [usize; N] = std::array::from_fn(|program| program);
    random.shuffle(&mut order);
    let mut achieved = [0.0; N];
    for program in order {
        let run = programs.run(program, nth, progress).await;
        achieved[program] = run.map_err(|error| (program, error))?;
    }
    Ok(achieved)
}
