//! How long and how often an experiment measures.

use std::time::Duration;

use lab_protocol::{Load, Metric, Spacing};
use lab_stats::{Look, schedule};

use super::Until;

/// The shortest open loop that decides.
pub const SHORTEST_OPEN_LOOP: Duration = Duration::from_millis(1200);

/// How much longer than their pause the users of a closed loop take to begin, one by one: the time of a
/// first answer.
const FIRST_OF_ALL: Duration = Duration::from_millis(100);

/// The number of answers to each user that make a figure. Half of them are enough for a first look.
const ANSWERS: u32 = 10;
/// A shorter measurement is for a first look.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// How many arrivals an open loop has, at half of the capacity, and how many users its capacity counts.
const ARRIVALS: u32 = 36;
const OPEN_LOOP_USERS: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// When the pairs end.
    pub until: Until,
    /// How many candidates are judged together.
    pub family: usize,
    /// The seed of the order of the runs.
    pub seed: u64,
    /// How long a load generator takes to start and to stop.
    pub start: Duration,
    pub warm_up: Duration,
    pub measurement: Duration,
    /// How long the last requests may take after the measurement.
    pub grace: Duration,
    /// Length of the open loop's measurement; zero for no open loop.
    pub open_loop: Duration,
    /// When the requests of the open loop are sent.
    pub spacing: Spacing,
    /// The smallest difference that counts as one: 0.03 is 3 %.
    pub minimum_effect: f64,
    /// The metric that the verdict is about.
    pub metric: Metric,
    /// Whether requests may outlast a run.
    pub allow_unfinished: bool,
}

impl Effort {
    /// Six pairs of runs of a second each, and an open loop; a `quick` effort has shorter ones and no open
    /// loop.
    pub fn usual(quick: bool, seed: u64) -> Self {
        let ms = if quick { [300, 350, 250, 0] } else { [800, 1400, 1000, 2000] };
        let [warm_up, measurement, grace, open_loop] = ms.map(Duration::from_millis);
        Self {
            until: Until::Pairs(Look::first(1).pairs),
            family: 1,
            seed,
            start: Duration::from_millis(300),
            warm_up,
            measurement,
            grace,
            open_loop,
            spacing: Spacing::Random { seed },
            minimum_effect: 0.1,
            metric: Metric::Throughput,
            allow_unfinished: false,
        }
    }

    /// For servers of a user: short runs, since many short ones show more than few long ones.
    pub fn of_own_servers(quick: bool, seed: u64) -> Self {
        if quick {
            return Self::first_look(seed);
        }
        let [warm_up, measurement, open_loop] = [200, 300, 1000].map(Duration::from_millis);
        let grace = Duration::from_millis(250);
        Self { warm_up, measurement, grace, open_loop, ..Self::usual(false, seed) }
    }

    /// The shortest runs, which show that one server is some times faster than another.
    pub fn first_look(seed: u64) -> Self {
        let [warm_up, measurement] = [150, 250].map(Duration::from_millis);
        Self { warm_up, measurement, ..Self::usual(true, seed) }
    }

    /// This effort for what a case promises. A latency is judged in an open loop that is as long as the other
    /// runs, so that it runs in pairs, too.
    pub fn for_case(self, decides: Metric) -> Self {
        let open_loop = match decides {
            Metric::Latency(_) => self.measurement.max(SHORTEST_OPEN_LOOP),
            _ => self.open_loop,
        };
        Self { open_loop, metric: decides, ..self }
    }

    /// This effort for visits that take so long each: whatever is too short for a server becomes longer.
    pub fn for_visits(self, visit: Duration) -> Self {
        let answers = if self.measurement < FIRST_LOOK { ANSWERS / 2 } else { ANSWERS };
        // The rate of the arrivals is half of what the users got in the closed loop.
        let arrivals = if self.open_loop.is_zero() { 0 } else { 2 * ARRIVALS / OPEN_LOOP_USERS };
        Self {
            // One visit comes before the warm-up, and all users begin within the time of another one.
            warm_up: self.warm_up.max(tenths(visit + visit / 5)),
            measurement: self.measurement.max(tenths(answers * visit)),
            grace: self.grace.max(2 * visit),
            open_loop: self.open_loop.max(tenths(arrivals * visit)),
            ..self
        }
    }

    /// The expected length of one run, with start and stop.
    pub fn run(self) -> Duration {
        self.start + self.warm_up + self.measurement + self.grace / 4
    }

    /// The look that so many pairs are enough for.
    pub fn look(self, pairs: usize) -> Look {
        match self.until {
            Until::Pairs(_) => Look::only(pairs, self.family),
            Until::Known { .. } => Look::latest(pairs, self.family),
        }
    }

    /// How many runs of so many servers make the first look, or all pairs that are planned.
    pub(super) fn first_runs(self, servers: usize) -> usize {
        match self.until {
            Until::Pairs(pairs) => schedule(servers, pairs, self.seed).len(),
            Until::Known { .. } => 2 * Look::first(self.family).pairs * (servers - 1),
        }
    }

    /// The expected length of all runs of so many servers up to the first look. `has_rate`: a case says how many
    /// requests arrive.
    pub fn length(self, servers: usize, load: Load, has_rate: bool) -> Duration {
        let pairs = self.first_runs(servers);
        // As long as the other runs, where they are those of the open loop.
        let in_open_loop = Self { measurement: self.open_loop, ..self };
        let (closed, once) =
            if self.closed_in_pairs(has_rate) { (pairs, self) } else { (servers, in_open_loop) };
        let open = if self.decides_in_open_loop() {
            pairs
        } else if self.open_loop.is_zero() {
            0
        } else {
            servers
        };
        once.closed_loop(load).run() * closed as u32 + in_open_loop.run() * open as u32
    }

    /// The warm-up of the closed loop lasts until all users have begun. Otherwise their first requests are
    /// work that the measurement doesn't divide by its own answers.
    pub(super) fn closed_loop(self, load: Load) -> Self {
        let begun = match load.think_ms {
            0 => Duration::ZERO,
            pause => Duration::from_millis(pause) + FIRST_OF_ALL,
        };
        Self { warm_up: self.warm_up.max(begun), ..self }
    }

    /// Whether the closed loop runs in pairs. One run of each server is enough if nothing depends on it.
    pub(super) fn closed_in_pairs(self, has_rate: bool) -> bool {
        !has_rate || !self.decides_in_open_loop()
    }

    /// Whether the verdict is about a latency under random arrivals: in a closed loop, each user waits
    /// for a stalled server and sends it nothing, so most requests never meet a stall.
    pub fn decides_in_open_loop(self) -> bool {
        matches!(self.metric, Metric::Latency(_)) && !self.open_loop.is_zero()
    }
}

/// At least so long, in whole tenths of a second.
fn tenths(length: Duration) -> Duration {
    Duration::from_millis(length.as_millis().div_ceil(100) as u64 * 100)
}

#[cfg(test)]
mod tests {
    use lab_protocol::Percentile;

    use super::*;

    #[test]
    fn each_user_of_a_slow_server_gets_ten_answers_in_each_run() {
        let load = Load { users: 8, think_ms: 0, connections: 1 };
        let [usual, quick] = [false, true].map(|quick| Effort::usual(quick, 7));
        let fast = usual.for_visits(Duration::from_millis(100));
        assert_eq!(fast.length(2, load, false), usual.length(2, load, false));
        for ms in [500, 1000, 1500, 2000, 3000, 5000, 10_000, 20_000] {
            let visit = Duration::from_millis(ms);
            for (effort, answers) in [(usual, 10), (quick, 5)] {
                let slow = effort.for_visits(visit);
                assert!(slow.measurement >= answers * visit, "{ms}: {slow:?}");
                assert!(slow.warm_up > visit && slow.grace >= 2 * visit, "{ms}: {slow:?}");
                assert_eq!(slow.open_loop.is_zero(), effort.open_loop.is_zero());
                // What is said before is what it takes.
                let runs = slow.length(2, load, false);
                assert!(runs >= slow.measurement * 14, "{ms}: {runs:?}");
            }
            let open = usual.for_visits(visit).open_loop;
            assert!(open.as_secs_f64() * 4.0 / visit.as_secs_f64() >= 36.0, "{ms}: {open:?}");
        }
    }

    #[test]
    fn the_length_counts_the_runs_of_an_open_loop_that_decides_with_their_own_time() {
        let load = Load { users: 1, think_ms: 0, connections: 1 };
        let quick = Effort::usual(true, 7);
        let p99 = Percentile::all().find(|percentile| percentile.name() == "p99").unwrap();
        let latency = quick.for_case(Metric::Latency(p99));
        assert_eq!(quick.length(2, load, true), quick.run() * 14);
        // Six pairs and two runs of the control; and, once each, both servers in the closed loop.
        let open = Effort { measurement: SHORTEST_OPEN_LOOP, ..quick };
        assert_eq!(latency.length(2, load, true), open.run() * 16);
    }
}
