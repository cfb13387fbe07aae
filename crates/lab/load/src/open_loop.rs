//! Arrivals at a constant mean rate, whatever the server does.

use std::{cell::RefCell, iter::successors, ops::Range, rc::Rc, time::Duration};

use anyhow::Context as _;
use lab_model::{LoadPlan, OpenLoop, Outcome, Spacing};
use lab_stats::SplitMix64;
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use super::{Alarm, Dial, Visitor, arrival_queue::ArrivalQueue, meter::Meter};

pub async fn run<D: Dial + Clone + 'static>(
    plan: &LoadPlan,
    load: OpenLoop,
    dial: D,
    alarm: Alarm,
) -> anyhow::Result<Outcome> {
    let per_user = load.connections_per_user;
    let in_turn = plan.options.in_turn;
    let visitors =
        Visitor::open_all(&plan.target, dial, &plan.asks, load.users(), per_user, in_turn).await?;

    let start = Instant::now();
    let window = start + plan.warm_up..start + plan.warm_up + plan.measurement;
    let queue = Rc::new(RefCell::new(ArrivalQueue::new(visitors.len(), window.clone())));
    let arrived = Rc::new(Notify::new());
    for (index, visitor) in visitors.into_iter().enumerate() {
        let user = OpenLoopUser { index, visitor, queue: queue.clone(), arrived: arrived.clone() };
        tokio::task::spawn_local(user.live());
    }
    let arrivals = dispatch(load, start..window.end, alarm, queue.clone(), arrived);
    let arrivals = tokio::task::spawn_local(arrivals);

    sleep_until(window.start).await;
    let meter = Meter::start(plan);
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

/// The due times of all arrivals, counted from the start; without an end.
///
/// Evenly spaced arrivals never meet at a server that keeps up, so they hide its queue. Independent
/// users come in bunches: the gaps between them are distributed exponentially.
fn timetable(load: OpenLoop) -> impl Iterator<Item = Duration> {
    let mut random = match load.spacing {
        Spacing::Random { seed } => Some(SplitMix64(seed)),
        Spacing::Even => None,
    };
    let mut gap = move || random.as_mut().map_or(1.0, SplitMix64::exponential);
    // In units of the mean gap, so that rounding does not add up.
    let sums = successors(Some(0.0), move |sum| Some(sum + gap()));
    sums.map(move |gaps| Duration::from_secs_f64(gaps / load.rate_per_s))
}

/// Serves arrivals over connections of its own.
struct OpenLoopUser<D: Dial> {
    index: usize,
    visitor: Visitor<D>,
    queue: Rc<RefCell<ArrivalQueue>>,
    arrived: Rc<Notify>,
}

impl<D: Dial> OpenLoopUser<D> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn due(spacing: Spacing, count: usize) -> Vec<f64> {
        let load = OpenLoop { rate_per_s: 100.0, connections: 1, connections_per_user: 1, spacing };
        timetable(load).take(count).map(|due| due.as_secs_f64()).collect()
    }

    #[test]
    fn evenly_spaced_arrivals_keep_their_distance() {
        assert_eq!(due(Spacing::Even, 3), [0.0, 0.01, 0.02]);
        assert_eq!(due(Spacing::Even, 100_001).last(), Some(&1000.0), "rounding does not add up");
    }

    /// The gaps of a Poisson process: their mean is 1 / rate, and one in e is longer than that.
    #[test]
    fn random_arrivals_are_a_poisson_process() {
        let count = 100_000;
        let [first, again, other] = [1, 1, 2].map(|seed| due(Spacing::Random { seed }, count));
        assert!(first == again && first != other, "a seed determines the arrivals");
        let due = first;
        let mean = due[count - 1] / count as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.02, "{mean}");
        let longer = |times: f64| {
            let gaps = due.windows(2).filter(|pair| pair[1] - pair[0] > times * 0.01);
            gaps.count() as f64 / count as f64
        };
        for times in [0.1, 1.0, 3.0] {
            assert!((longer(times) - (-times).exp()).abs() < 0.01, "{times}: {}", longer(times));
        }
    }
}
