//! A contest: a whole service under a load that rises until it fails, and one number.
//!
//! A referee, which is a program of the service's package, draws the visits and knows their right answers. It also
//! judges what answers don't show. So this module knows no service.

mod course;
mod ladder;
mod score;

use std::{fs::File, path::Path, process::Command, time::Duration};

use anyhow::{Context as _, anyhow, bail};
use lab_cases::{Case, ContestRules, Workspace};
use lab_load::Visitor;
use lab_model::{Answer, Ask, LoadPlan, OpenLoop, Outcome, StopWhen, Target, VisitEnd, Visits};
use lab_servers::{Launch, Running, Scratch};
use lab_stats::SplitMix64;
use lab_system::{Program, ProgramFailure, write_whole};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};

use crate::source::copy_directory;
use course::{ContestCourse, DrawnVisit, LoadPart, PATIENCE};
pub use ladder::{Advice, Ladder, Rung};
use score::good;
pub use score::{MissedObjective, Score};

/// What a service may lose in a crash is what changed within the last second.
const SETTLED: Duration = Duration::from_millis(1_200);
/// How long the last visits of a load may take. The longest objective is shorter.
const GRACE: Duration = Duration::from_millis(1_600);
/// So many visits of a kind are asked again after a restart.
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
        let no_contest = || format!("{} has no contest", case.shown);
        let rules = case.contest.as_ref().with_context(no_contest)?;
        let players = Players { workspace, case, rules, data_seed: (seed % 1_000_000) as u32 };
        let data = Scratch::new()?;
        let mut command = players.referee("data")?;
        command.args(["--seed", &players.data_seed.to_string(), "--data"]).arg(data.path());
        Program::new(command, PATIENCE).named("the referee").output().await?;
        let course = ContestCourse::draw(players).await?;
        Ok(Self { players, course, seed, data })
    }

    /// How long a run takes if the service isn't overloaded while the load rises.
    pub fn longest(&self) -> Duration {
        let load = Duration::from_secs_f64(self.course.rise_s + self.course.steady_s);
        load + 2 * GRACE + SETTLED + Duration::from_secs(1)
    }

    /// One run of a fresh service. Those of the same number meet the same visits.
    ///
    /// # Errors
    ///
    /// If the service gives a wrong answer or breaks a rule; the message says which. Or if it can't be run.
    pub async fn run(&self, server: &Path, nth: usize) -> anyhow::Result<Score> {
        let Self { players, course, .. } = self;
        Running::with(&players.companion()?, async |companion| {
            let data = Scratch::new()?;
            copy_directory(self.data.path(), data.path())?;
            let companion = companion.server.target();
            let args = vec![
                "--data".to_owned(),
                data.path().display().to_string(),
                format!("--{}", players.rules.companion),
                format!("http://{}", companion.host),
            ];
            let launch = Launch::of_program(&players.case.name, server, args);
            let (rise, managed_per_s, steady) = Running::with(&launch, async |service| {
                let seed = SplitMix64(self.seed).seed_of(nth);
                let rise = self.rise(service, seed).await?;
                let managed_per_s = course.managed_per_s(good(course, &rise, LoadPart::Rise));
                let load = course.steady(managed_per_s, !seed);
                let steady = self.steady(service, &companion, load).await?;
                sleep(SETTLED).await;
                anyhow::Ok((rise, managed_per_s, steady))
            })
            .await?;
            let parts = [(LoadPart::Rise, &rise), (LoadPart::Steady, &steady)];
            Running::with(&launch, async |service| {
                ask_again(course, parts, service.server.target()).await
            })
            .await?;
            self.audit(parts, &companion, data.path()).await?;
            Ok(Score::of(course, &rise, managed_per_s, &steady))
        })
        .await
    }

    /// Has the load rise until the service is overloaded.
    async fn rise(&self, service: &Running, seed: u64) -> anyhow::Result<Visits> {
        let behind = Some(Duration::from_secs_f64(self.course.behind_s));
        let plan = LoadPlan {
            measurement: Duration::from_secs_f64(self.course.rise_s),
            stop_when: Some(StopWhen { behind, wrong: true }),
            ..self.plan(service, LoadPart::Rise, self.course.rising(seed))
        };
        self.right(lab_load::run(&plan).await?, service, LoadPart::Rise).await
    }

    /// Keeps the load steady while the companion is disturbed.
    async fn steady(
        &self,
        service: &Running,
        companion: &Target,
        load: OpenLoop,
    ) -> anyhow::Result<Visits> {
        let plan = LoadPlan {
            measurement: Duration::from_secs_f64(self.course.steady_s),
            stop_when: Some(StopWhen { behind: None, wrong: true }),
            ..self.plan(service, LoadPart::Steady, load)
        };
        let begin = Instant::now();
        let disturb = async {
            for it in &self.course.disturbances {
                sleep_until(begin + Duration::from_secs_f64(it.at_s)).await;
                let ask = Ask { method: "POST".to_owned(), ..Ask::get(&it.path, Answer::Any) };
                Visitor::open(companion.clone(), &[ask]).await?.answers().await?;
            }
            anyhow::Ok(())
        };
        let (outcome, ()) = tokio::try_join!(lab_load::run(&plan), disturb)?;
        self.right(outcome, service, LoadPart::Steady).await
    }

    fn plan(&self, service: &Running, part: LoadPart, load: OpenLoop) -> LoadPlan {
        let target = service.server.target();
        LoadPlan { grace: GRACE, ..LoadPlan::of_visits(target, self.course.kinds(part), load) }
    }

    /// The visits, all of which have to be right.
    async fn right(
        &self,
        mut outcome: Outcome,
        service: &Running,
        part: LoadPart,
    ) -> anyhow::Result<Visits> {
        let visits = outcome.visits.take().context("the outcome has no visits")?;
        if outcome.wrong + outcome.failed > 0 {
            let fault = outcome.first_fault.unwrap_or_else(|| "a wrong answer".to_owned());
            let difference = self.difference(&visits, service, part).await.unwrap_or_default();
            bail!("{fault}{difference}");
        }
        Ok(visits)
    }

    /// Asks the requests of the wrong visit again, and compares the answer with the right one.
    async fn difference(
        &self,
        visits: &Visits,
        service: &Running,
        part: LoadPart,
    ) -> Option<String> {
        let row = visits.answer.iter().position(|it| *it == VisitEnd::Wrong)?;
        let kind = visits.kind[row];
        let drawn = self.course.visits.get(usize::from(kind))?;
        let before = visits.kind[..row].iter().filter(|it| **it == kind).count();
        let nth = part.of(drawn).cycle().nth(before)?;
        for (request, ask) in drawn.alternatives[nth].iter().enumerate() {
            if ask.method != "GET" {
                continue;
            }
            let visitor = Visitor::open(service.server.target(), std::slice::from_ref(ask)).await;
            let answer = visitor.ok()?.answers().await.ok()?.remove(0);
            let mut command = self.players.referee("answer").ok()?;
            let seed = self.players.data_seed.to_string();
            command.args(["--seed", &seed, &drawn.name, &nth.to_string(), &request.to_string()]);
            let right = Program::new(command, PATIENCE).named("the referee").output().await.ok()?;
            let [right, got] = [&right, &answer.body].map(|it| String::from_utf8_lossy(it));
            let pair = right.lines().zip(got.lines()).find(|(right, got)| right != got);
            if let Some((right, got)) = pair {
                let [right, got] = [right, got].map(lab_system::plain);
                let asked = format!("{} {}, asked again", ask.method, ask.path);
                return Some(format!("\n  {asked}:\n  - {right}\n  + {got}"));
            }
        }
        None
    }

    /// Has the referee judge what the answers don't show.
    async fn audit(
        &self,
        parts: [(LoadPart, &Visits); 2],
        companion: &Target,
        data: &Path,
    ) -> anyhow::Result<()> {
        let (mut requests, mut stock_reads, mut references) = (0, 0, Vec::new());
        let answered = parts.into_iter().flat_map(|part| answered(&self.course, part));
        for Answered { drawn, nth, end } in answered {
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

/// A visit that got an answer.
#[derive(Clone, Copy)]
struct Answered<'a> {
    drawn: &'a DrawnVisit,
    /// Its alternative.
    nth: usize,
    end: VisitEnd,
}

/// In the order in which they were due.
fn answered<'a>(
    course: &'a ContestCourse,
    (part, visits): (LoadPart, &'a Visits),
) -> impl Iterator<Item = Answered<'a>> {
    let mut turns: Vec<_> = course.visits.iter().map(|it| part.of(it).cycle()).collect();
    visits.kind.iter().zip(&visits.answer).filter_map(move |(kind, end)| {
        let kind = usize::from(*kind);
        let nth = turns[kind].next()?;
        let is_answered = matches!(end, VisitEnd::Right | VisitEnd::Other);
        is_answered.then(|| Answered { drawn: &course.visits[kind], nth, end: *end })
    })
}

/// What was answered once has to be there after a restart.
async fn ask_again(
    course: &ContestCourse,
    parts: [(LoadPart, &Visits); 2],
    target: Target,
) -> anyhow::Result<()> {
    let answered: Vec<_> = parts.into_iter().flat_map(|part| answered(course, part)).collect();
    for drawn in &course.visits {
        let Some(again) = drawn.again else { continue };
        let of_kind = answered.iter().filter(|it| std::ptr::eq(it.drawn, drawn));
        // The last ones are those that may not have been stored yet.
        for it in of_kind.rev().take(ASKED_AGAIN) {
            let ask = &drawn.alternatives[it.nth][again];
            let mut visitor = Visitor::open(target.clone(), std::slice::from_ref(ask)).await?;
            let (kind, method, path) = (&drawn.name, &ask.method, &ask.path);
            let lost = || format!("a restart lost what a `{kind}` had changed: {method} {path}");
            visitor.visit().await.map_err(anyhow::Error::from).with_context(lost)?;
        }
    }
    Ok(())
}
