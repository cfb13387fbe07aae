//! What a load plan may ask for. Other programs write plans, too, and a number that no generator can use
//! would end in a panic.

use std::{fmt::Display, ops::RangeInclusive};

use anyhow::ensure;

use super::{Arrivals, Load, LoadPlan, OpenLoop};

/// More than one machine has ports for.
const MOST_CONNECTIONS: usize = 100_000;
const DAY_S: f64 = 24.0 * 60.0 * 60.0;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const SHORTEST_S: f64 = 0.001;

impl LoadPlan {
    /// Fails, naming the field, if no generator could do what the plan says.
    pub fn check(&self) -> anyhow::Result<()> {
        within("warm_up_s", self.warm_up.as_secs_f64(), 0.0..=DAY_S)?;
        within("measurement_s", self.measurement.as_secs_f64(), SHORTEST_S..=DAY_S)?;
        within("grace_s", self.grace.as_secs_f64(), 0.0..=DAY_S)?;
        ensure!(!self.asks.is_empty(), "`requests` is empty: a visit has at least one");
        match self.arrivals {
            Arrivals::ClosedLoop(load) => load.check()?,
            Arrivals::OpenLoop(load) => load.check()?,
        }
        self.background.iter().try_for_each(|other| other.arrivals.check())
    }
}

impl Load {
    pub fn check(self) -> anyhow::Result<()> {
        within("users", self.users, 1..=MOST_CONNECTIONS)?;
        // All users together may have as many as one.
        within("connections", self.connections, 1..=MOST_CONNECTIONS / self.users)?;
        within("think_ms", self.think_ms, 0..=DAY_MS)
    }
}

impl OpenLoop {
    fn check(self) -> anyhow::Result<()> {
        within("rate_per_s", self.rate_per_s, Self::RATES_PER_S)?;
        within("connections", self.connections, 1..=MOST_CONNECTIONS)?;
        within("connections_per_user", self.connections_per_user, 1..=self.connections)
    }
}

/// Fails unless the field of a plan or of an outcome is in this range.
pub fn within<T: Display + PartialOrd>(
    field: &str,
    value: T,
    allowed: RangeInclusive<T>,
) -> anyhow::Result<()> {
    let (least, most) = (allowed.start(), allowed.end());
    ensure!(allowed.contains(&value), "`{field}` is {value}, not between {least} and {most}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn checked(arrivals: Value, change: impl Fn(&mut Value)) -> anyhow::Result<()> {
        let expected = json!({ "status": 200, "answer": "any" });
        let request = json!({
            "method": "GET", "path": "/", "headers": [], "body_file": null, "expected": expected
        });
        let mut plan = json!({
            "target": { "address": "127.0.0.1:1", "host": "h", "tls": null }, "server_pid": null,
            "arrivals": arrivals, "warm_up_s": 0, "measurement_s": 1, "grace_s": 0,
            "requests": [request],
            "background": [{ "arrivals": { "rate_per_s": 1, "connections": 1 }, "request": request }],
        });
        change(&mut plan);
        serde_json::from_value::<LoadPlan>(plan)?.check()
    }

    #[test]
    fn a_plan_that_no_generator_can_follow_is_refused_by_its_field() {
        let [closed, open] = [
            json!({ "closed_loop": { "users": 100_000, "think_ms": 500, "connections": 1 } }),
            json!({ "open_loop": { "rate_per_s": 1e6, "connections": 6, "connections_per_user": 6 } }),
        ];
        for (arrivals, field, wrong, message) in [
            (&closed, "/arrivals/closed_loop/users", json!(0), "`users` is 0, not between 1 and"),
            (&closed, "/arrivals/closed_loop/users", json!(u64::MAX), "`users` is 184"),
            (&closed, "/arrivals/closed_loop/connections", json!(0), "`connections` is 0"),
            (&closed, "/arrivals/closed_loop/connections", json!(2), "between 1 and 1"),
            (&closed, "/arrivals/closed_loop/think_ms", json!(u64::MAX), "`think_ms` is"),
            (&open, "/arrivals/open_loop/rate_per_s", json!(1e-300), "`rate_per_s` is"),
            (&open, "/arrivals/open_loop/connections", json!(4_294_967_296_u64), "`connections`"),
            (&open, "/arrivals/open_loop/connections_per_user", json!(7), "between 1 and 6"),
            (&open, "/warm_up_s", json!(9_223_372_036_854_775_807_u64), "`warm_up_s` is 9"),
            (&open, "/measurement_s", json!(1e19), "`measurement_s` is 1"),
            (&open, "/measurement_s", json!(0), "`measurement_s` is 0"),
            (&open, "/grace_s", json!(1e19), "`grace_s` is 1"),
            (&open, "/requests", json!([]), "`requests` is empty"),
            (&open, "/background/0/arrivals/rate_per_s", json!(-1), "`rate_per_s` is -1"),
        ] {
            checked(arrivals.clone(), |_| {}).unwrap();
            let change = |plan: &mut Value| *plan.pointer_mut(field).unwrap() = wrong.clone();
            let error = checked(arrivals.clone(), change).unwrap_err().to_string();
            assert!(error.contains(message), "{field}: {error}");
        }
    }
}
