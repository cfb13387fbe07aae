//! How long a server has to be under load before it is measured.
//!
//! A server may become faster for seconds: a JVM compiles, a cache fills, a pool grows. Measured too
//! early, it loses to one that starts fast. So each server is watched for a while before the first pair.

use std::time::Duration;

use lab_protocol::{Arrivals, Note, NoteKind, Outcome};
use lab_servers::Subject;
use lab_system::Progress;

use super::{Effort, Experiment, run::Runner};

/// How long a server is watched after the usual warm-up, at least, and how many visits of a user that is.
const WATCHED: Duration = Duration::from_secs(1);
const VISITS: u32 = 10;
/// The same for a program that may compile what it runs. It begins with what runs most, after seconds.
const WATCHED_INTERPRETER: Duration = Duration::from_secs(5);
/// The longest that it is watched, and so the longest warm-up that is chosen; longer for a slow server.
const LONGEST: Duration = Duration::from_secs(20);
/// A server is warm when it is no more than this factor away from its final speed.
const WARM: f64 = 1.1;
/// A server that gained less than this factor was warm from the start; machines vary as much.
const GAIN: f64 = 1.25;

/// A longer warm-up, and why.
#[derive(Clone, Debug, PartialEq)]
struct Slow {
    warm_up: Duration,
    /// The factor that the server gained.
    gain: f64,
    /// Whether it had stopped gaining.
    is_settled: bool,
}

/// The warm-up that an experiment's servers need.
#[derive(Clone, Debug)]
pub struct LongWarmUp {
    pub length: Duration,
    pub note: Note,
}

/// How long all servers are watched, if they are warm.
pub fn watching(experiment: &Experiment) -> Duration {
    let length =
        |subject| Effort { measurement: watched(experiment, subject), ..experiment.effort }.run();
    experiment.subjects.iter().map(length).sum()
}

/// A fifth of it has two answers for each user.
fn watched(experiment: &Experiment, subject: &Subject) -> Duration {
    let least = if subject.may_compile { WATCHED_INTERPRETER } else { WATCHED };
    least.max(VISITS * experiment.visit_takes)
}

/// How long the slowest server needs to become warm, and why; `None` if the experiment's warm-up is long enough.
///
/// # Errors
///
/// If a server or the generator can't be started.
pub async fn find_warm_up(experiment: &Experiment) -> anyhow::Result<Option<LongWarmUp>> {
    let progress = &Progress::planned(watching(experiment));
    let runner = Runner { experiment, progress };
    let mut found: Option<LongWarmUp> = None;
    for (subject, Subject { name, .. }) in experiment.subjects.iter().enumerate() {
        let planned = found.as_ref().map_or(experiment.effort.warm_up, |found| found.length);
        let Some(slow) = runner.watch_it_warm_up(subject, planned).await? else { continue };
        if slow.warm_up <= planned {
            continue;
        }
        let (warm_up_s, gain) = (slow.warm_up.as_secs_f64(), slow.gain);
        let kind = if slow.is_settled {
            NoteKind::LongWarmUp { warm_up_s, gain }
        } else {
            NoteKind::StillWarming { warm_up_s, gain }
        };
        found = Some(LongWarmUp { length: slow.warm_up, note: Note::of(name, kind) });
    }
    Ok(found)
}

impl Runner<'_> {
    /// Watches the server of a subject for some seconds after the planned warm-up; `None` if that
    /// was long enough. A longer one is found twice, so that a neighbour's pause is not taken for it.
    async fn watch_it_warm_up(
        &self,
        subject: usize,
        warm_up: Duration,
    ) -> anyhow::Result<Option<Slow>> {
        let Experiment { name, subjects, workload, effort, .. } = self.experiment;
        let mut found: Option<Slow> = None;
        let mut watched = watched(self.experiment, &subjects[subject]);
        let longest = LONGEST.max(2 * watched);
        loop {
            let effort = Effort { warm_up, measurement: watched, ..*effort };
            let which = format!("is it warm?  {}", subjects[subject].name);
            self.progress.run(name.as_str(), &which, effort.run());
            let arrivals = Arrivals::ClosedLoop(workload.load);
            let run = self.run(subject, 0, effort, arrivals).await?;
            let Some(slow) = slow(&run.outcome, warm_up, watched) else { return Ok(None) };
            if slow.is_settled || watched >= longest {
                match found {
                    Some(first) if first.warm_up >= slow.warm_up => return Ok(Some(first)),
                    Some(_) => return Ok(Some(slow)),
                    None => found = Some(slow),
                }
            } else {
                watched = longest;
            }
        }
    }
}

/// The warm-up that the fifths of a long run show; `None` if the server was warm.
fn slow(outcome: &Outcome, warm_up: Duration, watched: Duration) -> Option<Slow> {
    let fifths: &[u64; 5] = outcome.fifths[..].try_into().ok()?;
    let rates = fifths.map(|count| count as f64);
    let (first, last) = (rates[0], rates[4]);
    if first <= 0.0 || last < GAIN * first {
        return None;
    }
    let cold = (0..4).rfind(|&at| last > WARM * rates[at]).map_or(0, |at| at + 1);
    Some(Slow {
        warm_up: warm_up + watched / 5 * cold as u32,
        gain: last / first,
        is_settled: cold < 4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fifths: [u64; 5]) -> Option<Slow> {
        let outcome = Outcome { fifths: fifths.to_vec(), ..Outcome::default() };
        slow(&outcome, Duration::from_secs(1), Duration::from_secs(5))
    }

    #[test]
    fn a_server_is_warm_where_all_later_parts_are_about_as_fast_as_the_last() {
        assert_eq!(found([100, 99, 104, 103, 108]), None);
        assert_eq!(found([100, 60, 104, 103, 90]), None, "slower in between, or at the end");
        let warm_up =
            |fifths| found(fifths).map(|warm_up| (warm_up.warm_up.as_secs(), warm_up.is_settled));
        assert_eq!(warm_up([100, 290, 300, 310, 300]), Some((2, true)));
        assert_eq!(warm_up([100, 100, 100, 290, 300]), Some((4, true)));
        assert_eq!(warm_up([100, 150, 200, 250, 300]), Some((5, false)));
        assert_eq!(found([0; 5]), None, "no answers say nothing");
    }
}
