//! The limits of a load plan. Other programs write plans, too, and a number that no generator can use
//! would end in a panic.

use std::{fmt::Display, ops::RangeInclusive};

use anyhow::{bail, ensure};

use super::{Arrivals, Http2, Load, LoadPlan, OpenLoop, VisitKind};

/// More than one machine has ports for.
const MOST_CONNECTIONS: usize = 100_000;
const DAY_S: f64 = 24.0 * 60.0 * 60.0;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const SHORTEST_S: f64 = 0.001;
const MOST_KINDS: usize = 1000;
/// An outcome has a row for each visit, and `lab` reads 64 MiB of it at most.
const MOST_VISITS: f64 = 1e6;

impl LoadPlan {
    /// Checks that a generator can do what the plan says.
    ///
    /// # Errors
    ///
    /// If a field is out of range, or contradicts another one; the error names the field.
    pub fn check(&self) -> anyhow::Result<()> {
        within("warm_up_s", self.warm_up.as_secs_f64(), 0.0..=DAY_S)?;
        within("measurement_s", self.measurement.as_secs_f64(), SHORTEST_S..=DAY_S)?;
        within("grace_s", self.grace.as_secs_f64(), 0.0..=DAY_S)?;
        let is_drawn = !self.visits.is_empty();
        ensure!(
            is_drawn || !self.requests.is_empty(),
            "`requests` is empty: a visit has at least one"
        );
        ensure!(
            !is_drawn || self.requests.is_empty(),
            "there are `visits` and `requests`: leave one out"
        );
        let until_s = (self.warm_up + self.measurement).as_secs_f64();
        match self.arrivals {
            Arrivals::ClosedLoop(load) => load.check()?,
            Arrivals::OpenLoop(load) => load.check(until_s)?,
        }
        self.background.iter().try_for_each(|other| other.arrivals.check(until_s))?;
        if let Some(Http2 { streams }) = self.target.http2 {
            within("streams", streams, 1..=MOST_CONNECTIONS)?;
            ensure!(!self.options.quick_ack, "`quick_ack` cannot be combined with `http2`");
        }
        if is_drawn {
            self.check_visits()?;
        }
        if self.stop_when.is_some() {
            self.check_stop()?;
        }
        Ok(())
    }

    fn check_visits(&self) -> anyhow::Result<()> {
        let Arrivals::OpenLoop(load) = self.arrivals else {
            bail!("`visits` needs an open loop: a closed loop has `requests`")
        };
        ensure!(load.connections_per_user == 1, "with `visits`, `connections_per_user` must be 1");
        ensure!(!self.options.in_turn, "`visits` cannot be combined with the option `in_turn`");
        ensure!(self.background.is_empty(), "`visits` cannot be combined with `background`");
        ensure!(self.visits.len() <= MOST_KINDS, "`visits` has more than {MOST_KINDS} kinds");
        self.visits.iter().try_for_each(VisitKind::check)?;
        let due = self.mean_arrivals(load);
        ensure!(
            due <= MOST_VISITS,
            "{due:.0} of the `visits` are due in `measurement_s`, more than {MOST_VISITS}"
        );
        Ok(())
    }

    /// How many arrivals of an open loop are due during the measurement, on average.
    pub fn mean_arrivals(&self, load: OpenLoop) -> f64 {
        let [begin, end] = [self.warm_up, self.warm_up + self.measurement];
        load.arrivals_until(end.as_secs_f64()) - load.arrivals_until(begin.as_secs_f64())
    }

    fn check_stop(&self) -> anyhow::Result<()> {
        let is_open = matches!(self.arrivals, Arrivals::OpenLoop(_));
        ensure!(is_open, "`stop_when` needs an open loop");
        ensure!(self.background.is_empty(), "`stop_when` cannot be combined with `background`");
        Ok(())
    }
}

impl Load {
    /// Checks that a generator can make this load.
    ///
    /// # Errors
    ///
    /// If a field is out of range; the error names the field.
    pub fn check(self) -> anyhow::Result<()> {
        within("users", self.users, 1..=MOST_CONNECTIONS)?;
        // All users together may have as many as one.
        within("connections", self.connections, 1..=MOST_CONNECTIONS / self.users)?;
        within("think_ms", self.think_ms, 0..=DAY_MS)
    }
}

impl OpenLoop {
    /// Checks a load that lasts `until_s` seconds.
    fn check(self, until_s: f64) -> anyhow::Result<()> {
        within("rate_per_s", self.rate_per_s, Self::RATES_PER_S)?;
        if let Some(every_s) = self.doubles_every_s {
            within("doubles_every_s", every_s, SHORTEST_S..=DAY_S)?;
            let (rate, most) = (self.rate_after(until_s), Self::RATES_PER_S.end());
            ensure!(
                rate <= *most,
                "`doubles_every_s`: the rate rises to {rate:.0}, more than {most}"
            );
        }
        within("connections", self.connections, 1..=MOST_CONNECTIONS)?;
        within("connections_per_user", self.connections_per_user, 1..=self.connections)
    }
}

/// Checks that the field of a plan or of an outcome is in this range.
///
/// # Errors
///
/// If the value is outside of the range; the error names the field.
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
        let request = request();
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
            (&closed, "/stop_when", json!({ "wrong": true }), "`stop_when` needs an open loop"),
            (&open, "/stop_when", json!({ "wrong": true }), "cannot be combined with `background`"),
            (&closed, "/visits", json!([visit()]), "there are `visits` and `requests`"),
            (
                &closed,
                "/target/http2",
                json!({ "streams": 0 }),
                "`streams` is 0, not between 1 and",
            ),
        ] {
            checked(arrivals.clone(), |_| {}).unwrap();
            let error = checked(arrivals.clone(), |plan| set(plan, field, &wrong)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(message), "{field}: {error}");
        }
    }

    /// Sets a field, which may be absent.
    fn set(plan: &mut Value, field: &str, value: &Value) {
        let (parent, name) = field.rsplit_once('/').unwrap();
        match plan.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[name] = value.clone(),
        }
    }

    fn request() -> Value {
        let expected = json!({ "status": 200, "answer": "any" });
        json!({ "method": "GET", "path": "/", "headers": [], "body_file": null, "expected": expected })
    }

    fn visit() -> Value {
        json!({ "name": "browse", "weight": 35, "alternatives": [[request(), request()]] })
    }

    #[test]
    fn visits_that_cannot_be_made_are_refused() {
        let open = json!({ "open_loop": {
            "rate_per_s": 100, "connections": 6, "doubles_every_s": 0.1
        } });
        let drawn = |plan: &mut Value| {
            plan["requests"] = json!([]);
            plan["background"] = json!([]);
            plan["visits"] = json!([visit()]);
            plan["stop_when"] = json!({ "wrong": true });
        };
        checked(open.clone(), drawn).unwrap();
        for (field, wrong, message) in [
            ("/visits", json!([]), "`requests` is empty"),
            ("/requests", json!([request()]), "there are `visits` and `requests`"),
            ("/arrivals", json!({ "closed_loop": { "users": 1 } }), "`visits` needs an open loop"),
            (
                "/arrivals/open_loop/connections_per_user",
                json!(2),
                "`connections_per_user` must be",
            ),
            (
                "/arrivals/open_loop/doubles_every_s",
                json!(0),
                "`doubles_every_s` is 0, not between",
            ),
            ("/arrivals/open_loop/doubles_every_s", json!(0.01), "the rate rises to 126765"),
            ("/arrivals/open_loop/doubles_every_s", json!(0.001), "more than 1000000"),
            (
                "/options",
                json!({ "in_turn": true }),
                "cannot be combined with the option `in_turn`",
            ),
            (
                "/background",
                json!([{ "arrivals": { "rate_per_s": 1, "connections": 1 },
                "request": request() }]),
                "cannot be combined with `background`",
            ),
            ("/visits", json!(vec![visit(); 1001]), "`visits` has more than 1000 kinds"),
            ("/visits/0/weight", json!(0), "`weight` is 0, not between 0.001 and 1000000"),
            ("/visits/0/weight", json!(-1), "`weight` is -1"),
            ("/visits/0/alternatives", json!([]), "the visit `browse` has no `alternatives`"),
            ("/visits/0/alternatives", json!([[]]), "has an alternative without a request"),
            ("/visits/0/share", json!(1), "unknown field `share`"),
            ("/stop_when/late_s", json!(1), "unknown field `late_s`"),
        ] {
            let error = checked(open.clone(), |plan| {
                drawn(plan);
                set(plan, field, &wrong);
            });
            let error = error.unwrap_err().to_string();
            assert!(error.contains(message), "{field}: {error}");
        }
        let long =
            checked(json!({ "open_loop": { "rate_per_s": 1000, "connections": 6 } }), |plan| {
                drawn(plan);
                plan["measurement_s"] = json!(1001);
            });
        let error = long.unwrap_err().to_string();
        assert_eq!(error, "1001000 of the `visits` are due in `measurement_s`, more than 1000000");
    }
}
