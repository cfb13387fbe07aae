//! Comparing benchmarks: builds of a bench run in turn, a short time each, and every benchmark in it gets a verdict.
//!
//! A run is one process, and its time of a benchmark is one value of a pair. Two processes of the same build differ by
//! more than the samples of one process do: in the layout of their memory, and in what the machine did meanwhile. A
//! test of the samples of one process against those of another takes that for a change.

mod times;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use lab_protocol::{BesidesCode, Metric, Note, NoteKind, Outcome, Reason};
use lab_report::{CaseRecord, Control, Run, VariantRecord, plural};
use lab_servers::{Launch, Scratch};
use lab_stats::{Verdict, median_of, rounds, schedule};
use lab_system::{Program, Progress, load_average};
use tokio::time::timeout;

use crate::bench::{
    Effort, Looks, NeighbourMeter, Next, Until,
    ratios::{control, control_pairs_of, of_sides, over},
    verdict,
};
pub(crate) use times::Times;

/// The longest that a run may take.
const LONGEST: Duration = Duration::from_secs(1800);

/// How Criterion before 0.4 refuses a time such as 0.05.
const NO_FRACTION: &str = "isn't a valid value";

/// A build of a bench.
#[derive(Clone, Debug)]
pub struct BenchSide {
    pub name: String,
    /// The command or revision that the user gave.
    pub given: String,
    /// What its build differs in from the baseline's, besides its code.
    pub besides: BesidesCode,
    /// How to start the bench. Several launches differ in the layout of their code, and the runs use them in turn.
    pub launches: Vec<Launch>,
}

/// Runs all of them, the baseline first, and judges each benchmark. `until`: when the pairs end, for so many benchmarks that
/// are judged together and a run of this length.
///
/// # Errors
///
/// If one fails, or prints no time.
pub async fn compare(
    what: &str,
    sides: &[BenchSide],
    until: impl Fn(usize, Duration) -> Until,
    effort: Effort,
) -> anyhow::Result<Vec<CaseRecord>> {
    let baseline = sides.first().context("there is a baseline")?;
    // The first run says which benchmarks there are and how long a run takes.
    Progress::new(what).step("the first run");
    let first = run(baseline, 0).await?;
    let family = first.1.usable() * (sides.len() - 1);
    let until = until(family, first.0.outcome.measured);
    let comparison = Comparison { what, sides, effort: Effort { until, family, ..effort } };
    let runs = comparison.run(first).await?;
    comparison.records(&runs)
}

/// Builds of a bench, and how much is measured of them.
struct Comparison<'a> {
    what: &'a str,
    sides: &'a [BenchSide],
    effort: Effort,
}

impl Comparison<'_> {
    /// Runs the sides in random order within each pair. `first` is the baseline's first run, which counts.
    async fn run(&self, first: (Run, Times)) -> anyhow::Result<Vec<(Run, Times)>> {
        let Self { what, sides, effort } = *self;
        let length = first.0.outcome.measured;
        let (planned, mut looks) = match effort.until {
            Until::Pairs(pairs) => (Some(pairs), None),
            Until::Known { interval, limit } => {
                (None, Some(Looks::new(effort.family, 0, interval, limit)))
            }
        };
        let last = planned.unwrap_or(usize::MAX);
        let count = schedule(sides.len(), planned.unwrap_or(1), effort.seed).len();
        let progress = Progress::planned(length * count as u32);
        let (mut runs, mut shown) = (vec![first], String::new());
        let mut slots = rounds(sides.len(), effort.seed).peekable();
        while let Some(slot) = slots.next_if(|slot| slot.round <= last) {
            let (side, pair) = (&sides[slot.subject], slot.round);
            match &looks {
                None => {
                    progress.run(what, &format!("pair {pair} of {last}  {}", side.name), length);
                }
                Some(looks) => {
                    let step = format!("pair {pair:<3} {:9} {shown}", side.name);
                    progress.until(looks.share(), looks.left(), what, &step);
                }
            }
            // The number of earlier runs of this side chooses its layout.
            let is_earlier = |(run, _): &&(Run, Times)| run.variant == side.name;
            let (run, times) = run(side, runs.iter().filter(is_earlier).count()).await?;
            runs.push((Run { pair: slot.pair, ..run }, times));
            let is_round = slots.peek().is_none_or(|next| next.round != pair);
            let Some(looks) = looks.as_mut().filter(|_| is_round) else { continue };
            match looks.after(pair) {
                Next::GoOn => {}
                Next::End => break,
                Next::Look(_) => {
                    let records = self.records(&runs)?;
                    shown = shown_of(&records);
                    progress.looked(&format!("{}: {shown}", plural(pair, "pair")));
                    if records.iter().all(|record| looks.is_known(record)) || looks.is_last(pair) {
                        break;
                    }
                }
            }
        }
        Ok(runs)
    }

    /// The records of all benchmarks.
    fn records(&self, runs: &[(Run, Times)]) -> anyhow::Result<Vec<CaseRecord>> {
        let Self { what, sides, effort } = *self;
        let baseline = sides.first().context("there is a baseline")?;
        let ids: BTreeSet<_> = runs.iter().flat_map(|(_, times)| times.names().cloned()).collect();
        // A benchmark that no run has a time of cannot be judged: only a note has its name.
        let is_measured = |id: &String| runs.iter().any(|(_, times)| times.of(id).is_some());
        let (measured, never): (Vec<_>, Vec<_>) = ids.iter().partition(|id| is_measured(id));
        let missing = |id: &str, side: &BenchSide| missing(id, side, runs);
        ensure!(
            measured.iter().any(|id| sides.iter().all(|side| missing(id, side).is_none())),
            "no benchmark is in every build; the baseline has {}",
            lab_report::join(&runs[0].1.names().cloned().collect::<Vec<_>>())
        );
        let mut records = Vec::new();
        for id in measured {
            let of_id: Vec<_> =
                runs.iter().map(|(run, times)| with_time(run, times.of(id))).collect();
            for candidate in &sides[1..] {
                let why = missing(id, baseline).or_else(|| missing(id, candidate));
                let mut record = record(&of_id, [baseline, candidate], effort);
                record.case = match sides.len() {
                    2 => id.as_str().into(),
                    _ => format!("{id}, {}", candidate.name).into(),
                };
                record.load = what.to_owned();
                record.control.noise = record.noises();
                (record.verdict, record.reason) = match why {
                    Some(why) => (Verdict::Undecided, Reason::NotMeasured { why }),
                    None => verdict(&record, &candidate.name),
                };
                records.push(record);
            }
        }
        if let (Some(first), false) = (records.first_mut(), never.is_empty()) {
            first.notes.push(not_compared(&never, runs));
        }
        Ok(records)
    }
}

/// The factor of a benchmark, or how many are decided.
fn shown_of(records: &[CaseRecord]) -> String {
    match records {
        [record] => record.speedup.time.as_ref().map_or(String::new(), lab_report::speedup),
        _ => {
            let decided = records.iter().filter(|record| record.verdict != Verdict::Undecided);
            format!("{} of {} decided", decided.count(), records.len())
        }
    }
}

/// The note about benchmarks that no run has a time of, each with the reason.
fn not_compared(never: &[&String], runs: &[(Run, Times)]) -> Note {
    let mut benches = Vec::new();
    for id in never {
        let why = runs.iter().find_map(|(_, times)| times.why_not(id));
        benches.push(format!("{id} ({})", why.unwrap_or_default()));
    }
    NoteKind::NotCompared { benches }.into()
}

/// Why a side's time of a benchmark isn't known; `None` if every run of it has one.
fn missing(id: &str, side: &BenchSide, runs: &[(Run, Times)]) -> Option<String> {
    let of_side: Vec<_> = runs.iter().filter(|(run, _)| run.variant == side.name).collect();
    let without: Vec<_> = of_side.iter().filter(|(_, times)| times.of(id).is_none()).collect();
    let (_, first) = without.first()?;
    let name = &side.name;
    let runs = if without.len() == of_side.len() {
        format!("the {name} has no time of it")
    } else {
        format!("{} of {} runs of the {name} have no time of it", without.len(), of_side.len())
    };
    Some(first.why_not(id).map_or(runs.clone(), |why| format!("{runs}: {why}")))
}

/// The `nth` run of a side: how long it took, and the times of its benchmarks.
pub(crate) async fn times(side: &BenchSide, nth: usize) -> anyhow::Result<(Duration, Times)> {
    let (run, times) = run(side, nth).await?;
    Ok((run.outcome.measured, times))
}

/// The `nth` run of a side, which is no pair's yet.
async fn run(side: &BenchSide, nth: usize) -> anyhow::Result<(Run, Times)> {
    let launch = side.launches.iter().cycle().nth(nth).context("a side has a command")?;
    match run_of(side, launch).await {
        Err(error) if format!("{error:#}").contains(NO_FRACTION) => {
            run_of(side, &in_whole_seconds(launch)).await
        }
        ran => ran,
    }
}

/// The command with the times of Criterion's flags in whole seconds, as its versions before 0.4 need them.
fn in_whole_seconds(launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    for arg in &mut launch.args {
        let time = arg.split_once('=').filter(|(flag, _)| flag.ends_with("-time"));
        let Some((flag, seconds)) = time else { continue };
        if let Ok(seconds) = seconds.parse::<f64>() {
            *arg = format!("{flag}={}", seconds.ceil());
        }
    }
    launch
}

async fn run_of(side: &BenchSide, launch: &Launch) -> anyhow::Result<(Run, Times)> {
    let home = Scratch::new()?;
    let load_average = load_average();
    let (meter, start) = (NeighbourMeter::begin_with_children(), Instant::now());
    let (mut of_lines, left_out) = (Times::default(), RefCell::new(Times::default()));
    // Criterion prints what it refuses, instead of writing it to standard error.
    let mut refused = None;
    let line = |line: &str| {
        if line.starts_with("error") {
            refused = Some(line.to_owned());
        }
        of_lines.read_line(line);
        left_out.borrow_mut().read_error(line);
        Ok(())
    };
    let message = |line: &str| left_out.borrow_mut().read_error(line);
    let program = Program::of_user(command(launch, home.path()), LONGEST).named(&launch.name);
    let ran = timeout(LONGEST, program.lines_and_messages(line, &message)).await;
    let ran =
        ran.with_context(|| format!("{} takes longer than {} s", launch.name, LONGEST.as_secs()))?;
    if let (Err(error), Some(refused)) = (&ran, refused) {
        bail!("{error}: {refused}");
    }
    ran?;
    let (neighbours, measured) = (meter.end(), start.elapsed());
    let mut times = Times::of_criterion(home.path());
    if times.is_empty() {
        times = of_lines;
    }
    times.add_left_out(left_out.into_inner());
    ensure!(
        !times.is_empty(),
        "{} measured nothing: it left no file of Criterion's, and printed no line `NAME NANOSECONDS`",
        launch.name
    );
    if times.usable() == 0 {
        bail!("{} measured nothing that can be compared: {times}", launch.name);
    }
    let outcome = Outcome { measured, ..Outcome::default() };
    let run = Run {
        variant: side.name.clone(),
        pair: None,
        seed: None,
        load_average,
        server: None,
        neighbours,
        outcome,
    };
    Ok((run, times))
}

/// The command of a bench, which leaves Criterion's files below `home`.
fn command(launch: &Launch, home: &Path) -> Command {
    let mut command = Command::new(&launch.program);
    command.args(&launch.args).envs(&launch.env);
    for name in &launch.unset {
        command.env_remove(name);
    }
    // Criterion before 0.3.4 only knows the second variable.
    command.env("CRITERION_HOME", home.join("criterion"));
    command.env("CARGO_TARGET_DIR", home);
    if let Some(dir) = &launch.dir {
        command.current_dir(dir);
    }
    command
}

/// How many runs of a side are in pairs.
fn runs_of(side: &BenchSide, runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.variant == side.name && run.pair.is_some()).count()
}

fn with_time(run: &Run, time_ns: Option<f64>) -> Run {
    let outcome = Outcome { time_ns, ..run.outcome.clone() };
    Run { outcome, ..run.clone() }
}

/// A benchmark of two sides, without its name and its verdict.
fn record(all: &[Run], [baseline, candidate]: [&BenchSide; 2], effort: Effort) -> CaseRecord {
    // Of the whole session: its runs are as far apart as those of a pair.
    let control = Control {
        pairs: control_pairs_of(&baseline.name, all).len(),
        speedup: control(&baseline.name, all),
        ..Control::default()
    };
    let runs = of_sides([&baseline.name, &candidate.name], all);
    let speedup = over(&baseline.name, &candidate.name, &runs, |pairs| effort.look(pairs));
    let variant = |side: &BenchSide, speedup| {
        let times = runs.iter().filter(|run| run.variant == side.name);
        VariantRecord {
            variant: side.name.clone(),
            given: side.given.clone(),
            besides: side.besides.clone(),
            time_ns: median_of(times.filter_map(|run| run.outcome.time_ns)),
            speedup,
            ..VariantRecord::default()
        }
    };
    let variants = vec![variant(baseline, None), variant(candidate, Some(speedup))];
    let lengths = runs.iter().map(|run| run.outcome.measured.as_secs_f64());
    CaseRecord {
        visit: "iteration".to_owned(),
        pairs: effort.look(runs_of(candidate, &runs)).pairs,
        sequential: matches!(effort.until, Until::Known { .. }),
        family: effort.family,
        seed: effort.seed,
        layouts: Some(baseline.launches.len()).filter(|layouts| *layouts > 1),
        measurement_s: median_of(lengths)
            .map_or(0.0, |length_s| (length_s * 100.0).round() / 100.0),
        minimum_effect: effort.minimum_effect,
        metric: Metric::Time,
        variants,
        candidate: candidate.name.clone(),
        speedup,
        control,
        runs,
        ..CaseRecord::default()
    }
}
