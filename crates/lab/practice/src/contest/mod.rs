//! A contest: a whole service under a load that rises until it fails, and one number.
//!
//! A referee, which is a program of the service's package, draws the visits and knows their right answers. It also
//! judges what answers don't show. So this module knows no service.

mod climb;
mod course;
mod ladder;
mod score;

use std::{fs::File, path::Path, process::Command, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use lab_cases::{Case, ContestRules, Workspace};
use lab_load::Visitor;
use lab_protocol::{
    Answer, LoadPlan, OpenLoop, Outcome, Request, StopWhen, Target, VisitEnd, Visits,
};
use lab_report::translate;
use lab_servers::{Launch, Running, Scratch};
use lab_stats::SplitMix64;
use lab_system::{Program, ProgramFailure, write_whole};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use crate::source::copy_directory;
use course::{ContestCourse, DrawnVisit, PATIENCE};
pub use ladder::{Advice, Ladder, Rung, RungFigures};
pub use score::{MissedObjective, Score, ShareAt};
use score::{VisitedLevel, point};

/// How long a change has to be old before a crash must not lose it. A service may lose the changes of the last second.
const SETTLED: Duration = Duration::from_millis(1_200);
/// How long the last visits of a level may take. The longest objective is shorter.
const GRACE: Duration = Duration::from_millis(1_200);
/// The number of visits of a kind that are asked again after a restart.
const ASKED_AGAIN: usize = 60;

/// A contest, prepared: its visits, and the data that the service begins with.
#[derive(Debug)]
pub struct Contest<'a> {
    players: Players<'a>,
    course: ContestCourse,
    /// Decides when visits come, and in which order.
    seed: u64,
    data: Scratch,
}

/// The programs of a contest besides the service.
#[derive(Clone, Copy, Debug)]
struct Players<'a> {
    workspace: &'a Workspace,
    case: &'a Case,
    rules: &'a ContestRules,
    data_seed: u32,
}

impl Players<'_> {
    fn referee(&self, verb: &str) -> anyhow::Result<Command> {
        let mut command = Command::new(self.workspace.binary(&self.rules.referee)?);
        command.arg(verb);
        Ok(command)
    }

    fn companion(&self) -> anyhow::Result<Launch> {
        let mut launch = Launch::of_companion(self.workspace, self.case, &self.rules.companion)?;
        launch.args.extend(["--seed".to_owned(), self.data_seed.to_string()]);
        Ok(launch)
    }
}

impl<'a> Contest<'a> {
    /// # Errors
    ///
    /// If the case has no contest, or the referee fails.
    pub async fn prepare(
        workspace: &'a Workspace,
        case: &'a Case,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let no_contest = || translate!("{case} has no contest", case = case.shown);
        let rules = case.contest.as_ref().with_context(no_contest)?;
        let players = Players { workspace, case, rules, data_seed: (seed % 1_000_000) as u32 };
        let data = Scratch::new()?;
        let mut command = players.referee("data")?;
        command.args(["--seed", &players.data_seed.to_string(), "--data"]).arg(data.path());
        Program::new(command, PATIENCE).named("the referee").output().await?;
        let course = ContestCourse::draw(players).await?;
        Ok(Self { players, course, seed, data })
    }

    /// How long a run takes if the service is overloaded at half of the levels.
    pub fn longest(&self) -> Duration {
        let level = Duration::from_secs_f64(self.course.level_s) + GRACE / 2;
        level * climb::LEVELS as u32 + SETTLED + Duration::from_secs(2)
    }

    /// Runs a fresh service once. Runs with the same `nth` get the same visits.
    ///
    /// # Errors
    ///
    /// If the service gives a wrong answer or breaks a rule; the message says which. Or if it can't be run.
    pub async fn run(&self, server: &Path, nth: usize) -> anyhow::Result<Score> {
        let Self { players, course, .. } = self;
        Running::with(&players.companion()?, async |companion| {
            let data = in_memory()?;
            copy_directory(self.data.path(), data.path())?;
            let companion = companion.server.target();
            let args = vec![
                "--data".to_owned(),
                data.path().display().to_string(),
                format!("--{}", players.rules.companion),
                format!("http://{}", companion.host),
            ];
            let launch = Launch::of_program(&players.case.name, server, args);
            let levels = Running::with(&launch, async |service| {
                let levels = self.levels(service, &companion, nth).await?;
                sleep(SETTLED).await;
                anyhow::Ok(levels)
            })
            .await?;
            Running::with(&launch, async |service| {
                ask_again(course, &levels, service.server.target()).await
            })
            .await?;
            self.audit(&levels, &companion, data.path()).await?;
            Ok(Score::of(course, &levels))
        })
        .await
    }

    /// Runs one level of load after the other.
    async fn levels(
        &self,
        service: &Running,
        companion: &Target,
        nth: usize,
    ) -> anyhow::Result<Vec<VisitedLevel>> {
        let seed = SplitMix64(self.seed).seed_of(nth);
        let (mut levels, mut points) = (Vec::new(), Vec::new());
        let mut taken = vec![0; self.course.visits.len()];
        while let Some(rate_per_s) = climb::next_rate(&self.course, &points) {
            let load = ContestCourse::load(levels.len(), rate_per_s, seed);
            let visits = self.level(service, companion, load, &taken).await?;
            visits.kind.iter().for_each(|kind| taken[usize::from(*kind)] += 1);
            let level = VisitedLevel { rate_per_s, visits };
            points.push(point(&self.course, &level));
            levels.push(level);
        }
        Ok(levels)
    }

    async fn level(
        &self,
        service: &Running,
        companion: &Target,
        load: OpenLoop,
        taken: &[usize],
    ) -> anyhow::Result<Visits> {
        let target = service.server.target();
        let plan = LoadPlan {
            measurement: Duration::from_secs_f64(self.course.level_s),
            grace: GRACE,
            stop_when: Some(StopWhen { wrong: true }),
            ..LoadPlan::of_visits(target, self.course.kinds(taken), load)
        };
        let begin = Instant::now();
        let disturb = async {
            for disturbance in &self.course.disturbances {
                sleep_until(begin + Duration::from_secs_f64(disturbance.at_s)).await;
                let get = Request::get(&disturbance.path, Answer::Any);
                let request = Request { method: "POST".to_owned(), ..get };
                Visitor::open(companion.clone(), &[request]).await?.answers().await?;
            }
            anyhow::Ok(())
        };
        let (outcome, ()) = tokio::try_join!(lab_load::run(&plan), disturb)?;
        self.right(outcome, service, taken).await
    }

    /// The visits, all of which have to be right.
    async fn right(
        &self,
        mut outcome: Outcome,
        service: &Running,
        taken: &[usize],
    ) -> anyhow::Result<Visits> {
        let visits = outcome.visits.take().context("the outcome has no visits")?;
        if outcome.wrong + outcome.failed > 0 {
            let fault = outcome.first_fault.unwrap_or_else(|| translate!("a wrong answer"));
            let difference = self.difference(&visits, service, taken).await.unwrap_or_default();
            bail!("{fault}{difference}");
        }
        Ok(visits)
    }

    /// Asks the requests of the wrong visit again, and compares the answer with the right one.
    async fn difference(
        &self,
        visits: &Visits,
        service: &Running,
        taken: &[usize],
    ) -> Option<String> {
        let row = visits.answer.iter().position(|end| *end == VisitEnd::Wrong)?;
        let kind = usize::from(visits.kind[row]);
        let drawn = self.course.visits.get(kind)?;
        let before = visits.kind[..row].iter().filter(|other| usize::from(**other) == kind).count();
        let nth = (taken[kind] + before) % drawn.alternatives.len();
        for (place, request) in drawn.alternatives[nth].iter().enumerate() {
            if request.method != "GET" {
                continue;
            }
            let visitor =
                Visitor::open(service.server.target(), std::slice::from_ref(request)).await;
            let answer = visitor.ok()?.answers().await.ok()?.remove(0);
            let mut command = self.players.referee("answer").ok()?;
            let seed = self.players.data_seed.to_string();
            command.args(["--seed", &seed, &drawn.name, &nth.to_string(), &place.to_string()]);
            let right = Program::new(command, PATIENCE).named("the referee").output().await.ok()?;
            let [right, got] = [&right, &answer.body].map(|body| String::from_utf8_lossy(body));
            let pair = right.lines().zip(got.lines()).find(|(right, got)| right != got);
            if let Some((right, got)) = pair {
                let [right, got] = [right, got].map(lab_system::plain);
                let request = format!("{} {}", request.method, request.path);
                let asked = translate!("{request}, asked again", request);
                return Some(format!("\n  {asked}:\n  - {right}\n  + {got}"));
            }
        }
        None
    }

    /// Has the referee judge what the answers don't show.
    async fn audit(
        &self,
        levels: &[VisitedLevel],
        companion: &Target,
        data: &Path,
    ) -> anyhow::Result<()> {
        let (mut requests, mut stock_reads, mut references) = (0, 0, Vec::new());
        for Answered { drawn, nth, end } in answered(&self.course, levels) {
            requests += drawn.alternatives[nth].len();
            if end == VisitEnd::Right {
                stock_reads += drawn.stock_reads;
            }
            references.extend(drawn.references.get(nth));
        }
        let input = Scratch::new()?;
        let file = input.path().join("answered.json");
        let answered =
            json!({ "requests": requests, "stock_reads": stock_reads, "references": references });
        write_whole(&file, &answered.to_string())?;
        let mut command = self.players.referee("audit")?;
        command.args(["--stock", &format!("http://{}", companion.host), "--data"]).arg(data);
        let audit = Program::new(command, PATIENCE).named("the referee");
        let audited = audit.reading(File::open(&file)?).output().await;
        audited.map_err(|error| match error.why {
            ProgramFailure::Failed { messages: Some(said), .. } => {
                anyhow!("{}", said.trim().trim_start_matches("Error: ").to_owned())
            }
            _ => anyhow!("{error}"),
        })?;
        Ok(())
    }
}

/// A directory in memory, if the system has one: a service that saves often would otherwise be scored with
/// the disk, whose speed depends on what was written before.
fn in_memory() -> anyhow::Result<Scratch> {
    Scratch::within(Path::new("/dev/shm")).or_else(|_| Scratch::new())
}

/// A visit that got an answer.
#[derive(Clone, Copy)]
struct Answered<'a> {
    drawn: &'a DrawnVisit,
    /// The number of the visit's alternative.
    nth: usize,
    end: VisitEnd,
}

/// The answered visits, in the order in which they were due.
fn answered<'a>(course: &'a ContestCourse, levels: &[VisitedLevel]) -> Vec<Answered<'a>> {
    let mut taken = vec![0; course.visits.len()];
    let rows = levels.iter().flat_map(|level| level.visits.kind.iter().zip(&level.visits.answer));
    let visit = |(kind, end): (&u16, &VisitEnd)| {
        let kind = usize::from(*kind);
        let drawn = &course.visits[kind];
        let nth = taken[kind] % drawn.alternatives.len();
        taken[kind] += 1;
        let is_answered = matches!(end, VisitEnd::Right | VisitEnd::Other);
        is_answered.then_some(Answered { drawn, nth, end: *end })
    };
    rows.filter_map(visit).collect()
}

/// Checks that the service still has the answers that it gave before a restart.
async fn ask_again(
    course: &ContestCourse,
    levels: &[VisitedLevel],
    target: Target,
) -> anyhow::Result<()> {
    let answered = answered(course, levels);
    for drawn in &course.visits {
        let Some(again) = drawn.again else { continue };
        let of_kind = answered.iter().filter(|visit| std::ptr::eq(visit.drawn, drawn));
        // The last ones are those that may not have been stored yet.
        for visit in of_kind.rev().take(ASKED_AGAIN) {
            let request = &drawn.alternatives[visit.nth][again];
            let mut visitor = Visitor::open(target.clone(), std::slice::from_ref(request)).await?;
            let (kind, request) = (&drawn.name, format!("{} {}", request.method, request.path));
            let lost = || {
                translate!("a restart lost what a `{kind}` had changed: {request}", kind, request)
            };
            visitor.visit().await.map_err(anyhow::Error::from).with_context(lost)?;
        }
    }
    Ok(())
}
