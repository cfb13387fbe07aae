//! `lab practice contest`: one number for a whole service, and whether the last change is worth keeping.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use console::style;
use jiff::Timestamp;
use lab_cases::{Case, MINE, SLOW, Workspace};
use lab_pictures::chart::{self, LadderRow};
use lab_practice::{
    Entry,
    contest::{Advice, Contest, Ladder, MissedObjective, Rung, RungFigures, Score},
};
use lab_report::{Table, factor, paragraph, planned, translate};
use lab_servers::build_servers;
use lab_stats::{Look, Speedup, median_of, schedule};
use lab_system::{Progress, err, out, write_whole};
use serde_json::json;

use crate::cmd::{Places, interrupted, interruptible};

#[derive(Debug, clap::Args)]
pub struct Options {
    /// The service
    #[arg(default_value = "shop")]
    pub case: String,
    /// Keep the state that is measured, under this message or the first changed line
    #[arg(long, value_name = "MESSAGE", num_args = 0..=1, default_missing_value = "")]
    pub keep: Option<String>,
    /// Draw the same data and visits as a run that printed this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The most pairs of runs of this state and the one that was kept last; 6 to 8 are enough for a clear gain
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub pairs: u32,
    /// Show the states that you kept, and draw them, without measuring
    #[arg(long, conflicts_with_all = ["keep", "seed", "json"])]
    pub chart: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The number of runs without a kept state.
const ALONE: u32 = 2;

/// The runs of a contest.
struct Rounds {
    mine: Vec<Score>,
    /// The scores of the kept state, one for each in `mine`; empty without a kept state.
    kept: Vec<Score>,
}

impl Rounds {
    /// The factor over the kept state, at the latest look.
    fn speedup(&self) -> Option<Speedup> {
        let pairs = self.mine.iter().zip(&self.kept);
        let ratios = pairs.map(|(mine, kept)| mine.per_s / kept.per_s);
        Speedup::of_look(ratios, Look::latest(self.kept.len(), 1))
    }

    /// Whether this is the time for a look, and it shows whether to keep the state.
    fn is_decided(&self) -> bool {
        let pairs = self.kept.len();
        self.mine.len() == pairs
            && Look::latest(pairs, 1).pairs == pairs
            && self.speedup().is_some_and(|speedup| Advice::on(&speedup) != Advice::Undecided)
    }
}

pub fn run(places: &Places, workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let case = &super::find(workspace, &options.case)?;
    let rules = case.contest.as_ref().with_context(|| {
        translate!(
            "{case} has no contest; `just check {case}` judges a fix of it",
            case = case.shown
        )
    })?;
    if options.chart {
        return show(&Ladder::read(workspace, case)?, &Entry::of(workspace, case)?);
    }
    let variant = if case.source(MINE).is_dir() { MINE } else { SLOW };
    let source = case.source(variant);
    let mut ladder = Ladder::read(workspace, case)?;
    let mut binaries = vec![case.server(variant), rules.referee.clone()];
    binaries.extend(case.companions.iter().map(|companion| companion.bin.clone()));
    let build = || places.build_unless_given((), build_servers(workspace, &binaries, &[]));
    // A state that was measured and not changed since is kept without another measurement.
    if let Some(message) = &options.keep
        && options.seed.is_none()
        && let Some(measured) = ladder.last_measured(&source)
    {
        if interruptible(build())?.is_none() {
            return Ok(interrupted(&translate!("your files are as you left them")));
        }
        let program = workspace.binary(&case.server(variant))?;
        say_kept(ladder.keep((&source, &program), named(message), measured)?);
        return Ok(ExitCode::SUCCESS);
    }
    let seed = options.seed.unwrap_or(Timestamp::now().as_microsecond() as u64 % 1_000_000);
    // Everything up to the measurement can be interrupted. From then on, the ladder is written.
    let measured = interruptible(async {
        build().await?;
        let program = workspace.binary(&case.server(variant))?;
        if !options.json {
            err!("  {}", translate!("preparing the visits and their right answers"));
        }
        let contest = Contest::prepare(workspace, case, seed).await?;
        let kept = ladder.program().filter(|_| variant == MINE && ladder.is_changed(&source));
        let rounds = measure(&contest, case, &program, kept, options).await?;
        anyhow::Ok((program, rounds))
    })?;
    let Some((program, rounds)) = measured else {
        return Ok(interrupted(&translate!("your files are as you left them")));
    };
    finish(case, &mut ladder, [&source, &program], Judged::of(rounds, seed), options)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes what was measured into the ladder, keeps the state if it was asked for, and prints the result.
fn finish(
    case: &Case,
    ladder: &mut Ladder,
    [source, program]: [&Path; 2],
    judged: Judged,
    options: &Options,
) -> anyhow::Result<()> {
    ladder.measured(source, &judged.figures)?;
    // The first state of all is what later ones are compared with.
    let is_kept = options.keep.is_some() || ladder.rungs.is_empty();
    if is_kept {
        let message = options.keep.as_deref().and_then(named);
        ladder.keep((source, program), message, judged.figures.clone())?;
    }
    if options.json {
        out!("{}", judged.json(is_kept));
    } else {
        print(case, &judged, ladder, is_kept);
    }
    Ok(())
}

/// A measured contest.
struct Judged {
    rounds: Rounds,
    /// The factor over the kept state, if there is one.
    speedup: Option<Speedup>,
    figures: RungFigures,
}

impl Judged {
    fn of(rounds: Rounds, seed: u64) -> Self {
        let speedup = rounds.speedup();
        let factor = speedup.map(|speedup| [speedup.estimate, speedup.low, speedup.high]);
        let figures = RungFigures { score: spread(&rounds.mine), factor, seed };
        Self { rounds, speedup, figures }
    }

    fn advice(&self) -> Option<Advice> {
        self.speedup.as_ref().map(Advice::on)
    }

    fn json(&self, is_kept: bool) -> serde_json::Value {
        let [score, lowest, highest] = self.figures.score;
        let rounds = &self.rounds;
        json!({
            "score_per_s": score, "lowest_per_s": lowest, "highest_per_s": highest,
            "seed": self.figures.seed, "advice": self.advice(), "factor": self.speedup,
            "first_missed": missed(rounds, |score| score.first.as_ref()),
            "overloaded": missed(rounds, |score| score.overloaded.as_ref()),
            "runs": rounds.mine, "kept_runs": rounds.kept, "is_kept": is_kept,
        })
    }
}

fn say_kept(kept: &Rung) {
    let score = format!("{:.0}", kept.measured.score[0]);
    let message = &kept.message;
    out!("{}", translate!("Kept, with {score} visits per second: {message}", score, message));
}

/// The message, unless it is empty.
fn named(message: &str) -> Option<&str> {
    Some(message).filter(|message| !message.is_empty())
}

/// Interleaved, in random order within each pair.
async fn measure(
    contest: &Contest<'_>,
    case: &Case,
    program: &PathBuf,
    kept: Option<PathBuf>,
    options: &Options,
) -> anyhow::Result<Rounds> {
    let (subjects, rounds) =
        if kept.is_some() { (2, options.pairs) } else { (1, ALONE.min(options.pairs)) };
    let length = contest.longest() * subjects as u32 * rounds;
    if !options.json {
        let (case, time) = (&case.shown, planned(length));
        let plan = if kept.is_some() {
            translate!(
                "contest of the {case}: up to {rounds} runs of this state and the one that you kept last, {time} at most",
                case,
                rounds,
                time
            )
        } else {
            translate!("contest of the {case}: {rounds} runs, {time} at most", case, rounds, time)
        };
        err!("{}", paragraph(&plan));
    }
    let progress = Progress::planned(length);
    let mut scores = Rounds { mine: Vec::new(), kept: Vec::new() };
    // There are two subjects in a schedule.
    for slot in schedule(2, rounds as usize, 1) {
        let (name, server) = match (slot.subject, &kept) {
            (0, _) => (translate!("this state"), program),
            (_, Some(kept)) => (translate!("the kept state"), kept),
            (_, None) => continue,
        };
        let Some(pair) = slot.pair else { continue };
        if scores.is_decided() {
            break;
        }
        progress.run(
            &case.shown,
            &translate!("run {nth} of {rounds}  {name}", nth = pair + 1, rounds, name),
            contest.longest(),
        );
        let score = contest.run(server, pair).await;
        let score = score.with_context(|| translate!("{name} breaks a rule", name))?;
        if slot.subject == 0 { scores.mine.push(score) } else { scores.kept.push(score) }
    }
    Ok(scores)
}

/// The kept states as a table and as a picture.
fn show(ladder: &Ladder, entry: &Entry) -> anyhow::Result<ExitCode> {
    ensure!(
        !ladder.rungs.is_empty(),
        translate!("no state is kept yet; `just contest` keeps the first one")
    );
    // Each factor is from runs in turns; the scores are from different hours.
    let mut of_the_first = 1.0;
    let row = |(nth, rung): (usize, &Rung)| {
        let over = rung.measured.factor.map_or(String::new(), |[estimate, low, high]| {
            of_the_first *= estimate;
            let [low, high] = [low, high].map(|end| factor(end).trim_end_matches('×').to_owned());
            format!("{} ({low}–{high})", factor(estimate))
        });
        vec![
            format!("{nth} {}", cut(&rung.message)),
            format!("{:.0}", rung.measured.score[0]),
            over,
            if nth == 0 { String::new() } else { factor(of_the_first) },
            rung.minutes.to_string(),
        ]
    };
    let rows = ladder.rungs.iter().enumerate().map(row);
    out!(
        "{}",
        Table::new("", ["state", "visits/s", "of the one before", "of the first", "minutes"], rows)
            .text()
    );
    let row = |rung: &Rung| LadderRow { name: rung.message.clone(), score: rung.measured.score };
    let rows: Vec<_> = ladder.rungs.iter().map(row).collect();
    write_whole(&ladder.picture(), &chart::ladder(&rows).svg)?;
    if !entry.suspects.is_empty() {
        let suspects = entry.suspects.join("; ");
        out!(
            "\n{}",
            paragraph(&translate!(
                "Before, you suspected: {suspects}. Which of them were worth what?",
                suspects
            ))
        );
    }
    let picture = lab_report::path(&ladder.picture());
    out!("\n  {}", translate!("picture: {picture}", picture));
    Ok(ExitCode::SUCCESS)
}

/// A message that leaves room for the other columns.
fn cut(message: &str) -> String {
    const LONGEST: usize = 22;
    if message.chars().count() <= LONGEST {
        return message.to_owned();
    }
    message.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Median, lowest and highest.
fn spread(scores: &[Score]) -> [f64; 3] {
    let scores = || scores.iter().map(|score| score.per_s);
    let (low, high) = (scores().fold(f64::INFINITY, f64::min), scores().fold(0.0, f64::max));
    [median_of(scores()).unwrap_or_default(), low, high]
}

/// An objective that failed in most runs: that of the run in the middle.
fn missed(rounds: &Rounds, of: fn(&Score) -> Option<&MissedObjective>) -> Option<&MissedObjective> {
    let mut missed: Vec<_> = rounds.mine.iter().filter_map(of).collect();
    missed.sort_by(|one, other| one.rate_per_s.total_cmp(&other.rate_per_s));
    missed.get(missed.len() / 2).copied().filter(|_| 2 * missed.len() > rounds.mine.len())
}

fn print(case: &Case, judged: &Judged, ladder: &Ladder, is_kept: bool) {
    print_score(judged);
    if let Some(late) = missed(&judged.rounds, |score| score.first.as_ref()) {
        let objective = objective(late);
        out!("{}", paragraph(&translate!("The first objective to fail: {objective}.", objective)));
    }
    if let Some(late) = missed(&judged.rounds, |score| score.overloaded.as_ref()) {
        let objective = objective(late);
        let late =
            translate!("Where it was overloaded, most were late here: {objective}.", objective);
        out!("{}", paragraph(&late));
    }
    if let Some(kept) = ladder.rungs.last().filter(|_| is_kept) {
        let (nth, message) = (ladder.rungs.len() - 1, &kept.message);
        out!("{}", paragraph(&translate!("Kept as state {nth}: {message}", nth, message)));
    }
    let next = next_step(case, judged.advice(), is_kept);
    out!("{}", paragraph(&translate!("next: {next}", next)));
    let again = format!("just contest --seed {}", judged.figures.seed);
    out!("  {}", translate!("the same visits again: {again}", again));
}

/// Prints the score, and whether to keep what was measured.
fn print_score(judged: &Judged) {
    let [score, low, high] = judged.figures.score;
    let label = style(format!("{score:.0}")).bold();
    let [low, high] = [low, high].map(|per_s| format!("{per_s:.0}"));
    let answer = translate!(
        "{score} visits per second, right and within their objectives ({low} to {high})",
        score = label,
        low,
        high
    );
    out!("\n{answer}");
    let Some((speedup, advice)) = judged.speedup.as_ref().zip(judged.advice()) else { return };
    let word = match advice {
        Advice::Keep => style("KEEP").green(),
        Advice::Revert => style("REVERT").red(),
        Advice::Undecided => style("UNDECIDED").yellow(),
    };
    let [estimate, low, high] = [speedup.estimate, speedup.low, speedup.high].map(factor);
    let advice = translate!(
        "{advice}: {factor} of the state that you kept last ({low} to {high})",
        advice = word.bold(),
        factor = estimate,
        low,
        high
    );
    out!("{advice}");
}

/// The command or the change that comes next. A copy to improve comes before everything else.
fn next_step(case: &Case, advice: Option<Advice>, is_kept: bool) -> String {
    match advice {
        _ if !case.source(MINE).is_dir() => {
            translate!("just try {case}, which makes a copy for you to improve", case = case.shown)
        }
        _ if is_kept => translate!("change something, then just contest"),
        Some(Advice::Revert) => {
            translate!("undo it, and note it down: it may gain later what something else hides now")
        }
        Some(Advice::Undecided) => "just contest --pairs 15".to_owned(),
        Some(Advice::Keep) | None => translate!("just contest --keep, which keeps this state"),
    }
}

/// `orders, p99 210 ms of 100 at 300 visits per second`
fn objective(objective: &MissedObjective) -> String {
    let MissedObjective { kind, p99_ms, objective_ms, rate_per_s, .. } = objective;
    let [p99, most, rate] = [p99_ms, objective_ms, rate_per_s].map(|figure| format!("{figure:.0}"));
    translate!("{kind}, p99 {p99} ms of {most} at {rate} visits per second", kind, p99, most, rate)
}
