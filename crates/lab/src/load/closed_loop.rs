//! Users who ask, wait for the answer, pause, and ask again.

use std::{cell::RefCell, rc::Rc, time::Duration};

use anyhow::Context as _;
use futures_util::future::join_all;
use tokio::{
    task::LocalSet,
    time::{Instant, sleep, timeout},
};

use super::{Connection, Outcome, Plan, Prepared, Verdict, tally::Tally};
use crate::process;

/// How many connections are opened before the server gets time to accept them. A backlog that
/// overflows (128 in many servers) drops connections silently, and each is only tried again after
/// a second.
const OPENED_AT_ONCE: usize = 64;
/// How long the server gets.
const TIME_TO_ACCEPT: Duration = Duration::from_millis(2);
/// How long a user waits after a failure, so that a server that is down is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Puts the load of `plan` on its server.
///
/// All of it runs on the calling thread: one clock, no locks, and a CPU share that can be read.
///
/// # Errors
///
/// If a request cannot be built, or a connection cannot be opened to begin with. What goes wrong
/// later is counted.
pub async fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    LocalSet::new().run_until(run_users(plan)).await
}

async fn run_users(plan: &Plan) -> anyhow::Result<Outcome> {
    let prepared: Vec<_> =
        plan.asks.iter().map(|ask| Prepared::new(ask, plan.target)).collect::<Result<_, _>>()?;
    let page = Rc::new(prepared);
    let tally = Rc::new(RefCell::new(Tally::default()));
    let stopping = Rc::new(RefCell::new(false));

    let mut users = open_all(plan).await?;
    let first_answer = first_answer(&mut users[0][0], &page[0]);
    // A server that does not answer at all is found out later: all its requests are unfinished.
    let first_answer = timeout(plan.warm_up, first_answer).await.unwrap_or_default();
    let cycle = plan.load.think() + first_answer;
    for (index, connections) in users.into_iter().enumerate() {
        let user = User {
            index,
            connections,
            page: page.clone(),
            tally: tally.clone(),
            stopping: stopping.clone(),
        };
        // Spread over a whole cycle: users who start at once march in step for ever, and a gap
        // between the last and the first would make throughput depend on where the window falls.
        let start = cycle.mul_f64(index as f64 / plan.load.users as f64);
        tokio::task::spawn_local(user.live(start, plan.load.think()));
    }

    sleep(plan.warm_up).await;
    let cpu = || (process::cpu_time(plan.server_pid), process::cpu_time(std::process::id()));
    let (server_before, generator_before) = cpu();
    let start = Instant::now();
    tally.borrow_mut().begin_measurement();

    sleep(plan.measurement).await;
    tally.borrow_mut().end_measurement();
    let measured = start.elapsed();
    let (server_after, generator_after) = cpu();
    *stopping.borrow_mut() = true;

    let end_of_grace = Instant::now() + plan.grace;
    while tally.borrow().under_way() > 0 && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }

    let mut tally = tally.borrow_mut();
    let youngest_unfinished = tally.close();
    Ok(Outcome {
        measured,
        ok_in_time: tally.ok_in_time,
        sent: tally.sent,
        ok: tally.ok,
        wrong: tally.wrong,
        failed: tally.failed,
        unfinished: tally.under_way() as u64,
        first_fault: tally.first_fault.clone(),
        latency: tally.latency.clone(),
        youngest_unfinished,
        server_cpu: difference(server_before, server_after),
        server_peak_rss_mib: process::peak_rss_mib(plan.server_pid),
        generator_cpu: difference(generator_before, generator_after),
    })
}

/// Opens all connections of all users before the first request is sent.
async fn open_all(plan: &Plan) -> anyhow::Result<Vec<Vec<Connection>>> {
    let wanted = plan.load.users * plan.load.connections;
    let mut opened = Vec::with_capacity(wanted);
    while opened.len() < wanted {
        let number = opened.len() + 1;
        let connection = Connection::open(plan.target).await;
        opened.push(connection.with_context(|| format!("connection {number} of {wanted}"))?);
        if number.is_multiple_of(OPENED_AT_ONCE) {
            sleep(TIME_TO_ACCEPT).await;
        }
    }
    let mut opened = opened.into_iter();
    Ok((0..plan.load.users)
        .map(|_| opened.by_ref().take(plan.load.connections).collect())
        .collect())
}

/// How long the server takes for one request while nobody else asks.
async fn first_answer(connection: &mut Connection, request: &Prepared) -> Duration {
    let start = Instant::now();
    connection.ask(request).await;
    start.elapsed()
}

fn difference(before: Option<Duration>, after: Option<Duration>) -> Option<Duration> {
    Some(after?.saturating_sub(before?))
}

/// One user, with the connections that are this user's own.
struct User {
    index: usize,
    connections: Vec<Connection>,
    page: Rc<Vec<Prepared>>,
    tally: Rc<RefCell<Tally>>,
    stopping: Rc<RefCell<bool>>,
}

impl User {
    async fn live(mut self, start: Duration, think: Duration) {
        sleep(start).await;
        while !*self.stopping.borrow() {
            self.tally.borrow_mut().sends(self.index);
            let verdict = self.visit().await;
            let failed = matches!(verdict, Verdict::Failed(_));
            self.tally.borrow_mut().ends(self.index, verdict);
            if failed {
                sleep(AFTER_FAILURE).await;
            }
            if !think.is_zero() {
                sleep(think).await;
            }
        }
    }

    /// Loads a page as a browser does: the first request alone, the others over all connections.
    /// The page is as good as the worst of its answers.
    async fn visit(&mut self) -> Verdict {
        let Some((first, others)) = self.page.split_first() else { return Verdict::Ok };
        let mut verdict = self.connections[0].ask(first).await;
        if verdict == Verdict::Ok && !others.is_empty() {
            let queue = RefCell::new(others.iter());
            let next = || queue.borrow_mut().next();
            let workers = self.connections.iter_mut().map(async |connection| {
                while let Some(request) = next() {
                    match connection.ask(request).await {
                        Verdict::Ok => {}
                        fault => return fault,
                    }
                }
                Verdict::Ok
            });
            let verdicts = join_all(workers).await;
            verdict = verdicts.into_iter().find(|one| *one != Verdict::Ok).unwrap_or(Verdict::Ok);
        }
        verdict
    }
}
