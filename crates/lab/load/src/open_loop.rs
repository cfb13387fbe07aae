//! Arrivals at a constant mean rate, whatever the server does.

use std::{cell::RefCell, ops::Range, rc::Rc, time::Duration};

use anyhow::{Context as _, ensure};
use lab_model::{LoadPlan, OpenLoop, Outcome};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Alarm, Dial, Visitor, arrival_queue::ArrivalQueue, meter::Meter, timetable::timetable,
};

pub async fn run<D: Dial + Clone + 'static>(
    plan: &LoadPlan,
    load: OpenLoop,
    dial: D,
    alarm: Alarm,
) -> anyhow::Result<Outcome> {
    let rate = load.rate_per_s;
    ensure!(
        rate > 0.0 && rate <= OpenLoop::MOST_PER_S,
        "a rate of {rate} arrivals per second is not between 0 and {}",
        OpenLoop::MOST_PER_S
    );
    ensure!(load.users() > 0, "a visit needs more connections than there are");
    let per_user = load.connections_per_user.max(1);
    let visitors =
        Visitor::open_all(&plan.target, dial, &plan.asks, load.users(), per_user).await?;

    let start = Instant::now();
    let window = start + plan.warm_up..start + plan.warm_up + plan.measurement;
    let queue = Rc::new(RefCell::new(ArrivalQueue::new(visitors.len(), window.clone())));
    let arrived = Rc::new(Notify::new());
    for (index, visitor) in visitors.into_iter().enumerate() {
        let user = User { index, visitor, queue: queue.clone(), arrived: arrived.clone() };
        tokio::task::spawn_local(user.live());
    }
    let arrivals = dispatch(load, start..window.end, alarm, queue.clone(), arrived);
    let arrivals = tokio::task::spawn_local(arrivals);

    sleep_until(window.start).await;
    let meter = Meter::start(plan.server_pid);
    queue.borrow_mut().account.begin();

    sleep_until(window.end).await;
    queue.borrow_mut().account.end();
    meter.stop(&mut queue.borrow_mut().account.counts);

    // The last arrival is due before the window ends, so this takes no longer than the lag.
    arrivals.await.context("the schedule stopped")?.context("the timer failed")?;
    let end_of_grace = Instant::now() + plan.grace;
    while queue.borrow().is_open() && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }

    let mut queue = queue.borrow_mut();
    let mut outcome = queue.close();
    let punctuality = queue.punctuality();
    outcome.invalid = punctuality.fault(&outcome.latency);
    outcome.punctuality = Some(punctuality);
    Ok(outcome)
}

/// Adds every arrival to the queue when it is due. A late one is added at once, together with all
/// others that have become due; none is skipped.
async fn dispatch(
    load: OpenLoop,
    span: Range<Instant>,
    mut alarm: Alarm,
    queue: Rc<RefCell<ArrivalQueue>>,
    arrived: Rc<Notify>,
) -> std::io::Result<()> {
    let due = timetable(load).map(|due| span.start + due);
    for due in due.take_while(|due| *due < span.end) {
        alarm.wait_until(due).await?;
        queue.borrow_mut().arrives(due);
        arrived.notify_one();
    }
    Ok(())
}

/// Serves arrivals over connections of its own.
struct User<D: Dial> {
    index: usize,
    visitor: Visitor<D>,
    queue: Rc<RefCell<ArrivalQueue>>,
    arrived: Rc<Notify>,
}

impl<D: Dial> User<D> {
    async fn live(mut self) {
        loop {
            while self.queue.borrow_mut().serves(self.index) {
                let result = self.visitor.visit().await;
                let mut queue = self.queue.borrow_mut();
                queue.ends(self.index, result);
                self.visitor.count_closed(&mut queue.account.counts);
            }
            self.arrived.notified().await;
        }
    }
}
