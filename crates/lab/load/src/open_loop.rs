//! Arrivals at a constant rate, whatever the server does.

use std::{cell::RefCell, ops::Range, rc::Rc, time::Duration};

use anyhow::{Context as _, ensure};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Alarm, Connection, Dial, OpenLoop, Outcome, Plan, Prepared,
    line::Line,
    meter::Meter,
    page::{open_all, visit},
};

/// Puts an open loop on the server.
pub async fn run<D: Dial + Clone + 'static>(
    plan: &Plan,
    load: OpenLoop,
    page: Vec<Prepared>,
    dial: D,
    alarm: Alarm,
) -> anyhow::Result<Outcome> {
    let rate = load.rate_per_s;
    ensure!(
        rate > 0.0 && rate <= OpenLoop::MOST_PER_S,
        "a rate of {rate} arrivals per second is not between 0 and {}",
        OpenLoop::MOST_PER_S
    );
    ensure!(load.users() > 0, "an arrival needs more connections than there are");
    let users = open_all(&dial, load.users(), load.connections_per_user.max(1)).await?;

    let start = Instant::now();
    let window = start + plan.warm_up..start + plan.warm_up + plan.measurement;
    let line = Rc::new(RefCell::new(Line::new(users.len(), window.clone())));
    let (page, arrived) = (Rc::new(page), Rc::new(Notify::new()));
    for (index, connections) in users.into_iter().enumerate() {
        let (page, line, arrived) = (page.clone(), line.clone(), arrived.clone());
        tokio::task::spawn_local(User { index, connections, page, line, arrived }.live());
    }
    let arrivals = dispatch(rate, start..window.end, alarm, line.clone(), arrived);
    let arrivals = tokio::task::spawn_local(arrivals);

    sleep_until(window.start).await;
    let meter = Meter::start(plan.server_pid);
    line.borrow_mut().count_answers(true);

    sleep_until(window.end).await;
    line.borrow_mut().count_answers(false);
    let reading = meter.stop();

    // The last arrival is due before the window ends, so this takes no longer than the lag.
    arrivals.await.context("the schedule broke off")?.context("the timer failed")?;
    let end_of_grace = Instant::now() + plan.grace;
    while line.borrow().is_open() && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }

    let mut line = line.borrow_mut();
    let (unfinished, youngest) = line.close();
    let counts = std::mem::take(&mut line.counts);
    let mut outcome = Outcome::new(plan, counts, unfinished, youngest, reading);
    let punctuality = line.lags.sum_up();
    outcome.invalid = punctuality.fault(&outcome.latency);
    outcome.punctuality = Some(punctuality);
    Ok(outcome)
}

/// Sends every arrival when it is due. One that is late is sent at once, with all others that have
/// become due in the meantime; none is left out.
async fn dispatch(
    rate: f64,
    span: Range<Instant>,
    mut alarm: Alarm,
    line: Rc<RefCell<Line>>,
    arrived: Rc<Notify>,
) -> std::io::Result<()> {
    for index in 0_u64.. {
        // From the start and not from the last arrival: errors do not add up.
        let due = span.start + Duration::from_secs_f64(index as f64 / rate);
        if due >= span.end {
            break;
        }
        alarm.wait_until(due).await?;
        line.borrow_mut().arrives(due);
        arrived.notify_one();
    }
    Ok(())
}

/// One who serves arrivals, with connections of its own.
struct User<D: Dial> {
    index: usize,
    connections: Vec<Connection<D>>,
    page: Rc<Vec<Prepared>>,
    line: Rc<RefCell<Line>>,
    arrived: Rc<Notify>,
}

impl<D: Dial> User<D> {
    async fn live(mut self) {
        loop {
            while self.line.borrow_mut().serves(self.index) {
                let verdict = visit(&mut self.connections, &self.page).await;
                self.line.borrow_mut().ends(self.index, verdict);
            }
            self.arrived.notified().await;
        }
    }
}
