//! Which state is like which end, until one change is left.

use std::{ops::RangeInclusive, time::Duration};

use lab_measure::bench::Effort;
use lab_report::change_subject;
use lab_stats::{Bet, Bisection, Like, SplitMix64, StateTest};
use lab_system::Progress;

use super::{
    journal::SearchJournal,
    programs::{BuiltProgram, programs},
    states::States,
};

/// What all states of a search are measured against, and how.
pub struct Yardstick {
    pub ends: [BuiltProgram; 2],
    /// The names that the user gave them.
    pub names: [String; 2],
    pub bet: Bet,
    pub effort: Effort,
    /// How long a run takes.
    pub run: Duration,
}

/// The changes that are left, and how many states were built.
pub async fn decide(
    states: &mut States<'_>,
    yardstick: &Yardstick,
    journal: &mut SearchJournal,
    random: &mut SplitMix64,
) -> anyhow::Result<(RangeInclusive<usize>, usize)> {
    let mut search = Bisection::new(states.last());
    let progress = Progress::new("search");
    let mut built = 0;
    while let Some(state) = search.next() {
        let name = states.history.name(state);
        let like = if let Some(like) = journal.of(&name) {
            like
        } else {
            let steps = [built, search.steps_left()];
            built += 1;
            match measure(states, state, yardstick, steps, random).await {
                Ok(like) => {
                    journal.decide(&name, like)?;
                    like
                }
                // One that can't be built or has other answers is as good as none. The next call tries it again.
                Err(error) => {
                    progress.note(&format!("{name}  skipped: {error:#}"));
                    Like::Unknown
                }
            }
        };
        let [first, last] = &yardstick.names;
        let like_which = match like {
            Like::First => format!("like {first}"),
            Like::Last => format!("like {last}"),
            Like::Unknown => "not decided".to_owned(),
        };
        let subject = change_subject(&states.history.changes[state - 1]);
        progress.note(&format!("{name}  {like_which}  {subject}"));
        search.learn(state, like);
    }
    Ok((search.suspects(), built))
}

/// Which end a state is like. `steps`: how many states were looked at, and how many are from here on.
async fn measure(
    states: &mut States<'_>,
    state: usize,
    yardstick: &Yardstick,
    [done, left]: [usize; 2],
    random: &mut SplitMix64,
) -> anyhow::Result<Like> {
    let (program, _) = states.program(state).await?;
    let [first, last] = yardstick.ends.clone();
    let progress = Progress::new(&states.history.name(state));
    let mut three = programs(states.options, vec![first, program, last], yardstick.effort)?;
    let mut test = StateTest::new(yardstick.bet, states.last());
    let usual = test.usual_rounds() as u32;
    let step_takes = 3 * usual * yardstick.run + states.build_takes;
    let mut round = 0;
    while test.needs_more() {
        let of_step = f64::from(round.min(usual)) / f64::from(usual);
        let steps_left = left as f64 - of_step;
        let share = (done as f64 + of_step) / (done + left) as f64;
        let which = format!("round {}", round + 1);
        progress.about(share, &which, step_takes.mul_f64(steps_left));
        let mut order = [0, 1, 2];
        random.shuffle(&mut order);
        let mut achieved = [0.0; 3];
        for program in order {
            achieved[program] = three.run(program, round as usize, &progress).await?;
        }
        test.add(achieved);
        round += 1;
    }
    Ok(test.decided().unwrap_or(Like::Unknown))
}
