//! The second gate, where no count shows what a request waits for: the order in which requests are answered.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use anyhow::ensure;
use futures_util::future::try_join_all;
use lab_cases::{Case, MINE, Overtaking, Workspace};
use lab_load::Visitor;
use lab_protocol::Request;
use lab_report::{time_ms, translate};
use lab_servers::{Launch, Running, Server};
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use crate::{
    counts::ONE_WORKER,
    difference::{Found, failure},
    draw::{Draw, DrawnWait, Phase},
};

/// How many users send the slow request, again and again.
const USERS: usize = 8;
/// The quick request doesn't wait for the slow ones if fewer of them than this are answered meanwhile. If it
/// queues with them, all users come first.
const MOST: usize = USERS / 2;
/// How many quick requests decide. A busy machine may delay one of them.
const MAJORITY: usize = 5;
/// The share of a wait that a busy machine's clock may lose.
const ROUNDED: f64 = 0.01;

/// Users send slow requests again and again, and another one sends quick ones. A quick request that queues with the
/// slow ones is answered after all users. So the order decides, and no time. If the slow requests don't wait but work,
/// one worker serves them all, and the quick one need wait for none.
pub(super) async fn overtaking(
    workspace: &Workspace,
    case: &Case,
    wanted: &Overtaking,
    seed: u64,
) -> anyhow::Result<Found> {
    let mut draw = Draw::of(seed, Phase::Overtaking)?;
    let (case, wait) = draw.wait(case);
    let race = Race::new([draw.ask(&wanted.slow)?, draw.ask(&wanted.quick)?], wait);
    let mut launch = Launch::of_case(workspace, &case, MINE)?;
    if race.wait.is_none() {
        launch.env.extend([ONE_WORKER.map(str::to_owned).into()]);
    }
    if let Err(error) = Running::ask(&launch, async |running| race.run(&running.server).await).await
    {
        return failure(error).map(Err);
    }
    Ok(race.judge())
}

/// A race: several users send slow requests while one user sends quick ones.
struct Race {
    slow: [Request; 1],
    quick: [Request; 1],
    /// How long a slow request waits for another service; none if it works.
    wait: Option<DrawnWait>,
    /// How many slow requests were answered so far, and how long the quickest of them took.
    answered: Cell<usize>,
    earliest: Cell<Duration>,
    /// Whenever a slow request was answered.
    news: Notify,
    /// How many slow requests were answered before each quick one.
    overtakers: RefCell<Vec<usize>>,
}

impl Race {
    fn new([slow, quick]: [Request; 2], wait: Option<DrawnWait>) -> Self {
        Self {
            slow: [slow],
            quick: [quick],
            wait,
            answered: Cell::new(0),
            earliest: Cell::new(Duration::MAX),
            news: Notify::new(),
            overtakers: RefCell::default(),
        }
    }

    /// Ends when enough quick requests were answered.
    async fn run(&self, server: &Server) -> anyhow::Result<()> {
        tokio::select! {
            failed = try_join_all((0..USERS).map(|_| self.slow_user(server))) => failed.map(drop),
            decided = self.quick_user(server) => decided,
        }
    }

    /// Sends slow requests without an end.
    async fn slow_user(&self, server: &Server) -> anyhow::Result<()> {
        let mut visitor = Visitor::open(server.target(), &self.slow).await?;
        loop {
            let start = Instant::now();
            successful(&mut visitor).await?;
            self.earliest.set(self.earliest.get().min(start.elapsed()));
            self.answered.set(self.answered.get() + 1);
            self.news.notify_waiters();
        }
    }

    /// Sends quick requests until most of them agree.
    async fn quick_user(&self, server: &Server) -> anyhow::Result<()> {
        let mut visitor = Visitor::open(server.target(), &self.quick).await?;
        while !self.is_decided() {
            // Users who were answered together ask together. Halfway to their next answers, none is due.
            self.news.notified().await;
            sleep(self.wait.as_ref().map_or(self.earliest.get(), |wait| wait.time) / 2).await;
            let before = self.answered.get();
            successful(&mut visitor).await?;
            self.overtakers.borrow_mut().push(self.answered.get() - before);
        }
        Ok(())
    }

    /// The most slow requests that a quick one may wait for, and how many quick ones have to agree.
    fn limits(&self) -> (usize, usize) {
        match self.wait {
            Some(_) => (MOST, MAJORITY),
            // Work takes cores from a quick request, too, if others use them. That it waits has to be the rule.
            None => (0, 3 * MAJORITY),
        }
    }

    fn is_decided(&self) -> bool {
        let (most, majority) = self.limits();
        let overtakers = self.overtakers.borrow();
        let held = overtakers.iter().filter(|count| **count > most).count();
        held.max(overtakers.len() - held) >= majority
    }

    /// The finding from the order of the answers, once the race is decided.
    fn judge(self) -> Found {
        let (most, _) = self.limits();
        if let Some(wait) = &self.wait {
            wait.refuse_early(self.earliest.get())?;
        }
        let mut counts = self.overtakers.into_inner();
        counts.sort_unstable();
        let median = counts[counts.len() / 2];
        let [of_slow, of_quick] = [&self.slow[0], &self.quick[0]]
            .map(|request| format!("`{} {}`", request.method, request.path));
        let measured = translate!(
            "{median} of {users} {of_slow} were answered before {of_quick}",
            median,
            users = USERS,
            of_slow,
            of_quick
        );
        let needed = translate!("at most {most}", most);
        if median > most {
            return Err([measured, needed]);
        }
        Ok(translate!("{measured} ({needed})", measured, needed))
    }
}

impl DrawnWait {
    /// Refuses a server whose earliest answer came before the other service had answered: the question was sent, and
    /// nobody waited for the answer.
    fn refuse_early(&self, earliest: Duration) -> Result<(), [String; 2]> {
        if earliest >= self.time.mul_f64(1.0 - ROUNDED) {
            return Ok(());
        }
        let [found, wait] = [earliest, self.time].map(|time| time_ms(time.as_secs_f64() * 1e3));
        Err([
            translate!(
                "a request was answered in {found}, although {service} takes {wait}",
                found,
                service = self.of,
                wait
            ),
            translate!("at least {wait} for each answer", wait),
        ])
    }
}

/// Fails if the only answer of a visit is no success.
async fn successful(visitor: &mut Visitor) -> anyhow::Result<()> {
    let answer = visitor.answers().await?.remove(0);
    ensure!((200..300).contains(&answer.status), "status {}", answer.status);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_protocol::Answer;

    fn race(wait: Option<u64>) -> Race {
        let of = "the directory".to_owned();
        let wait = wait.map(|ms| DrawnWait { time: Duration::from_millis(ms), of });
        Race::new(["/slow", "/quick"].map(|path| Request::get(path, Answer::Any)), wait)
    }

    #[test]
    fn an_answer_that_comes_before_the_wait_is_over_is_refused() {
        let wait = race(Some(50)).wait.unwrap();
        assert_eq!(wait.refuse_early(Duration::from_millis(50)), Ok(()));
        assert_eq!(wait.refuse_early(Duration::from_micros(49_600)), Ok(()), "rounded");
        let [found, needed] = wait.refuse_early(Duration::from_micros(200)).unwrap_err();
        assert_eq!(found, "a request was answered in 200 µs, although the directory takes 50.0 ms");
        assert_eq!(needed, "at least 50.0 ms for each answer");
    }

    #[test]
    fn most_quick_requests_decide_and_work_may_delay_none() {
        for (wait, overtakers, is_passed) in [
            (Some(50), [0, 0, 8, 0, 0, 0], true),
            (Some(50), [8, 8, 0, 8, 8, 8], false),
            (Some(50), [4, 4, 4, 4, 4, 4], true),
            (None, [1, 1, 1, 1, 0, 0], false),
        ] {
            let race = race(wait);
            race.earliest.set(Duration::from_millis(50));
            race.overtakers.borrow_mut().extend(overtakers);
            assert_eq!(race.judge().is_ok(), is_passed, "{overtakers:?}");
        }
        let undecided = race(Some(50));
        undecided.overtakers.borrow_mut().extend([0, 0, 0, 0, 8, 8, 8, 8]);
        assert!(!undecided.is_decided());
        undecided.overtakers.borrow_mut().push(0);
        assert!(undecided.is_decided());
    }
}
