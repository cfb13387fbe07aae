//! Arrivals at a mean rate, whatever the server does.

use std::{cell::RefCell, iter::successors, rc::Rc, time::Duration};

use anyhow::Context as _;
use lab_protocol::{Accepted, LoadPlan, OpenLoop, Outcome, Spacing};
use lab_stats::SplitMix64;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::{
    Alarm, Dial, Fault, Visitor, WireRequest,
    arrival_queue::{Arrival, ArrivalQueue},
    meter::Meter,
    stop::StopWatch,
    visit_draw::{VisitDraw, alternatives},
    visit_log::VisitLog,
};

/// The shortest measurement: that of a load that stops when it begins.
const SHORTEST: Duration = Duration::from_millis(1);

/// Runs the load of `plan` with arrivals at random or fixed intervals.
///
/// The order matters: all connections are open before the first arrival, the figures of the server are read
/// exactly at both ends of the measurement, and requests that are then unfinished get a time of grace.
pub async fn run<D: Dial + Clone + 'static>(
    plan: &LoadPlan,
    load: OpenLoop,
    dial: D,
    alarm: Alarm,
) -> anyhow::Result<Outcome> {
    let per_user = load.connections_per_user;
    let visitors = Visitor::open_all(plan, dial, load.users(), per_user, None).await?;
    let alternatives = alternatives(plan)?;
    let draw = VisitDraw::of(plan, load.spacing);
    let log = draw.is_some().then(|| VisitLog::new(visitors.len(), plan.mean_arrivals(load)));

    let start = Instant::now();
    let window = start + plan.warm_up..start + plan.warm_up + plan.measurement;
    let queue = Rc::new(RefCell::new(ArrivalQueue::new(visitors.len(), window.clone(), log)));
    let stop = StopWatch::new(plan.stop_when);
    let (arrived, stopping) = (Rc::new(Notify::new()), Rc::new(Notify::new()));
    spawn_users(visitors, alternatives, &queue, &arrived, &stop);
    let schedule = Schedule { load, start, draw, queue: queue.clone() };
    let arrivals = tokio::task::spawn_local(schedule.run(alarm, arrived, stopping.clone()));

    let mut stopped = stop.stops_before(window.start).await;
    if stopped {
        queue.borrow_mut().begin_early();
    }
    let meter = Meter::start(plan);
    queue.borrow_mut().account.begin();

    let begin = Instant::now();
    stopped = stopped || stop.stops_before(window.end).await;
    if stopped {
        sleep(SHORTEST.saturating_sub(begin.elapsed())).await;
        queue.borrow_mut().end_early();
        stopping.notify_one();
    }
    queue.borrow_mut().account.end();
    meter.stop(&mut queue.borrow_mut().account.counts);

    // The last arrival is due before the window ends, so this takes no longer than the lag.
    arrivals.await.context("the schedule stopped")?.context("the timer failed")?;
    let end_of_grace = Instant::now() + plan.grace;
    while queue.borrow().is_open() && Instant::now() < end_of_grace {
        sleep(Duration::from_millis(5)).await;
    }
    Ok(outcome_of(&mut queue.borrow_mut(), stopped))
}

/// Starts the users who take arrivals from the queue.
fn spawn_users<D: Dial + 'static>(
    visitors: Vec<Visitor<D>>,
    alternatives: Vec<Box<[WireRequest]>>,
    queue: &Rc<RefCell<ArrivalQueue>>,
    arrived: &Rc<Notify>,
    stop: &StopWatch,
) {
    let alternatives: Rc<[_]> = alternatives.into();
    for (index, visitor) in visitors.into_iter().enumerate() {
        let user = OpenLoopUser {
            index,
            visitor,
            alternatives: alternatives.clone(),
            queue: queue.clone(),
            arrived: arrived.clone(),
            wrong: stop.wrong.clone(),
        };
        tokio::task::spawn_local(user.live());
    }
}

/// Closes the queue. A generator that was late makes the outcome invalid.
fn outcome_of(queue: &mut ArrivalQueue, stopped: bool) -> Outcome {
    let mut outcome = queue.close();
    outcome.stopped = stopped.then_some(outcome.measured);
    let punctuality = queue.punctuality();
    outcome.invalid = punctuality.fault(&outcome.latency);
    outcome.punctuality = Some(punctuality);
    outcome
}

/// All arrivals of a run.
struct Schedule {
    load: OpenLoop,
    start: Instant,
    /// Draws the visit of each arrival, if there are several kinds.
    draw: Option<VisitDraw>,
    queue: Rc<RefCell<ArrivalQueue>>,
}

impl Schedule {
    /// Adds every arrival to the queue when it is due. A late one is added at once, together with all
    /// others that have become due; none is skipped. `stopping` says that the end has changed.
    async fn run(
        mut self,
        mut alarm: Alarm,
        arrived: Rc<Notify>,
        stopping: Rc<Notify>,
    ) -> std::io::Result<()> {
        let due = timetable(self.load).map(|due| self.start + due);
        for due in due {
            if due >= self.queue.borrow().end() {
                break;
            }
            tokio::select! {
                biased;
                waited = alarm.wait_until(due) => waited?,
                () = stopping.notified() => {}
            }
            let mut queue = self.queue.borrow_mut();
            if due >= queue.end() {
                break;
            }
            queue.arrives(due, self.draw.as_mut().map(VisitDraw::draw));
            arrived.notify_one();
        }
        Ok(())
    }
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
    // In units of the mean gap, so that rounding does not add up. At a rate that rises, this is a Poisson
    // process whose clock runs faster and faster; its first arrival comes after the first gap.
    let sums = successors(Some(0.0), move |sum| Some(sum + gap()));
    let sums = sums.skip(usize::from(load.doubles_every_s.is_some()));
    sums.map(move |gaps| Duration::from_secs_f64(load.time_of(gaps)))
}

/// Serves arrivals over connections of its own.
struct OpenLoopUser<D: Dial> {
    index: usize,
    visitor: Visitor<D>,
    /// The requests of each visit that an arrival may have drawn.
    alternatives: Rc<[Box<[WireRequest]>]>,
    queue: Rc<RefCell<ArrivalQueue>>,
    arrived: Rc<Notify>,
    wrong: Rc<Notify>,
}

impl<D: Dial> OpenLoopUser<D> {
    async fn live(mut self) {
        loop {
            while let Some(arrival) = self.next() {
                let result = self.visit(arrival).await;
                if matches!(result, Err(Fault::Mismatch(_))) {
                    self.wrong.notify_one();
                }
                let mut queue = self.queue.borrow_mut();
                queue.ends(self.index, result);
                self.visitor.count_closed(&mut queue.account.counts);
            }
            self.arrived.notified().await;
        }
    }

    fn next(&self) -> Option<Arrival> {
        self.queue.borrow_mut().serves(self.index)
    }

    async fn visit(&mut self, arrival: Arrival) -> Result<Accepted, Fault> {
        match arrival.drawn {
            Some(drawn) => self.visitor.visit_in_order(&self.alternatives[drawn.alternative]).await,
            None => self.visitor.visit().await.map(|()| Accepted::Answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(spacing: Spacing, count: usize) -> Vec<f64> {
        let load = OpenLoop { spacing, ..OpenLoop::new(100.0, 1) };
        timetable(load).take(count).map(|due| due.as_secs_f64()).collect()
    }

    #[test]
    fn evenly_spaced_arrivals_keep_their_distance() {
        assert_eq!(due(Spacing::Even, 3), [0.0, 0.01, 0.02]);
        assert_eq!(due(Spacing::Even, 100_001).last(), Some(&1000.0), "rounding does not add up");
    }

    #[test]
    fn a_rate_that_doubles_every_second_doubles_the_arrivals_of_each_second() {
        let per_second = |spacing| {
            let load = OpenLoop { doubles_every_s: Some(1.0), spacing, ..OpenLoop::new(100.0, 1) };
            let due: Vec<_> =
                timetable(load).map(|due| due.as_secs()).take_while(|second| *second < 6).collect();
            [0, 1, 2, 3, 4, 5].map(|second| due.iter().filter(|due| **due == second).count())
        };
        // The integral of the rate over the first second is 100 / ln 2 = 144.3.
        let mean =
            [0, 1, 2, 3, 4, 5].map(|second| 100.0 / std::f64::consts::LN_2 * 2_f64.powi(second));
        let even = per_second(Spacing::Even);
        assert_eq!(even[..3], [144, 288, 577]);
        for (spacing, deviations) in [(Spacing::Even, 0.0), (Spacing::Random { seed: 1 }, 4.0)] {
            for (found, mean) in per_second(spacing).into_iter().zip(mean) {
                // A number of random arrivals has the standard deviation of its square root.
                let tolerance = 1.0 + deviations * mean.sqrt();
                assert!((found as f64 - mean).abs() < tolerance, "{spacing:?}: {found}, {mean}");
            }
        }
        assert_ne!(per_second(Spacing::Random { seed: 1 }), even);
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
