//! Users who ask, wait for the answer, pause, and ask again.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use lab_protocol::{Load, LoadPlan, Outcome};
use tokio::time::{Instant, sleep, timeout};

use super::{Dial, Visitor, account::Account, meter::Meter, request_times::RequestTimes};

/// How long a user pauses after a failed request, to avoid hammering a server that is down.
const AFTER_FAILURE: Duration = Duration::from_millis(50);

/// Runs the load of `plan` with users who each wait for their answer.
///
/// One visit goes ahead, to learn how long a cycle takes: the users then start spread over a cycle. The
/// figures of the server are read exactly at both ends of the measurement.
pub async fn run<D: Dial + Clone + 'static>(
    plan: &LoadPlan,
    load: Load,
    dial: D,
) -> anyhow::Result<Outcome> {
    let times = RequestTimes::of(&plan.requests);
    let mut visitors =
        Visitor::open_all(plan, dial, load.users, load.connections, times.clone()).await?;
    let account = Rc::new(RefCell::new(Account::new(load.users)));
    let stopping = Rc::new(Cell::new(false));

    let start = Instant::now();
    // Broken off if it takes too long: a server that never answers is detected later, as all its
    // requests stay unfinished.
    if let Ok(Err(fault)) = timeout(plan.warm_up, visitors[0].visit()).await {
        account.borrow_mut().fails_early(&fault);
    }
    let think = Duration::from_millis(load.think_ms);
    let cycle = think + start.elapsed();
    for (index, visitor) in visitors.into_iter().enumerate() {
        let user =
            ClosedLoopUser { index, visitor, account: account.clone(), stopping: stopping.clone() };
        // Spread over a whole cycle: users who start together stay in step, and throughput would
        // then depend on where the measurement begins.
        let delay = cycle.mul_f64(index as f64 / load.users as f64);
        tokio::task::spawn_local(user.live(delay, think));
    }

    sleep(plan.warm_up).await;
    let meter = Meter::start(plan);
    account.borrow_mut().begin_closed_loop(plan.measurement);
    times.iter().for_each(|times| times.measure(true));

    sleep(plan.measurement).await;
    account.borrow_mut().end();
    times.iter().for_each(|times| times.measure(false));
    meter.stop(&mut account.borrow_mut().counts);
    stopping.set(true);

    let end_of_grace = Instant::now() + plan.grace;
    while account.borrow().is_open() && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }
    let requests = times.map_or(Vec::new(), |times| times.found());
    let outcome = account.borrow_mut().close(&[]);
    Ok(Outcome { requests, ..outcome })
}

struct ClosedLoopUser<D: Dial> {
    index: usize,
    visitor: Visitor<D>,
    account: Rc<RefCell<Account>>,
    stopping: Rc<Cell<bool>>,
}

impl<D: Dial> ClosedLoopUser<D> {
    async fn live(mut self, delay: Duration, think: Duration) {
        sleep(delay).await;
        while !self.stopping.get() {
            self.account.borrow_mut().sends(self.index);
            let result = self.visitor.visit().await;
            let failed = result.as_ref().is_err_and(|fault| fault.is_failure());
            self.account.borrow_mut().ends(self.index, result);
            self.visitor.count_closed(&mut self.account.borrow_mut().counts);
            if failed {
                sleep(AFTER_FAILURE).await;
            }
            if !think.is_zero() {
                sleep(think).await;
            }
        }
    }
}
