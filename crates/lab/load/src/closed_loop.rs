//! Users who ask, wait for the answer, pause, and ask again.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};

use super::{
    Connection, Dial, Load, Outcome, Plan, Prepared, Verdict,
    meter::Meter,
    page::{open_all, visit},
    tally::Tally,
};

/// How long a user waits after a failure, so that a server that is down is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Puts a closed loop on the server.
pub async fn run<D: Dial + Clone + 'static>(
    plan: &Plan,
    load: Load,
    page: Vec<Prepared>,
    dial: D,
) -> anyhow::Result<Outcome> {
    let page = Rc::new(page);
    let tally = Rc::new(RefCell::new(Tally::new(load.users)));
    let stopping = Rc::new(Cell::new(false));

    let mut users = open_all(&dial, load.users, load.connections).await?;
    let first_answer = first_answer(&mut users[0][0], &page[0]);
    // A server that does not answer at all is found out later: all its requests are unfinished.
    let first_answer = timeout(plan.warm_up, first_answer).await.unwrap_or_default();
    let cycle = load.think() + first_answer;
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
        let start = cycle.mul_f64(index as f64 / load.users as f64);
        tokio::task::spawn_local(user.live(start, load.think()));
    }

    sleep(plan.warm_up).await;
    let meter = Meter::start(plan.server_pid);
    tally.borrow_mut().begin_measurement();

    sleep(plan.measurement).await;
    tally.borrow_mut().end_measurement();
    let reading = meter.stop();
    stopping.set(true);

    let end_of_grace = Instant::now() + plan.grace;
    while tally.borrow().under_way() > 0 && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }

    let mut tally = tally.take();
    let youngest_unfinished = tally.close();
    let unfinished = tally.under_way() as u64;
    Ok(Outcome::new(plan, tally.counts, unfinished, youngest_unfinished, reading))
}

/// How long the server takes for one request while nobody else asks.
async fn first_answer<D: Dial>(connection: &mut Connection<D>, request: &Prepared) -> Duration {
    let start = Instant::now();
    connection.ask(request).await;
    start.elapsed()
}

/// One user, with the connections that are this user's own.
struct User<D: Dial> {
    index: usize,
    connections: Vec<Connection<D>>,
    page: Rc<Vec<Prepared>>,
    tally: Rc<RefCell<Tally>>,
    stopping: Rc<Cell<bool>>,
}

impl<D: Dial> User<D> {
    async fn live(mut self, start: Duration, think: Duration) {
        sleep(start).await;
        while !self.stopping.get() {
            self.tally.borrow_mut().sends(self.index);
            let verdict = visit(&mut self.connections, &self.page).await;
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
}
