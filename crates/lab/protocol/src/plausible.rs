//! Refuses outcomes that cannot be true. An engine may be any program, and an impossible count would become a
//! figure.

use std::time::Duration;

use anyhow::ensure;

use super::{Arrivals, LoadPlan, Outcome, Percentile, Punctuality, limits::within};

/// A billion requests a second for a quarter of an hour. Sums of such counts don't overflow.
const MOST_REQUESTS: u64 = 1_000_000_000_000;
const MOST_CORES: f64 = 4096.0;
/// A thousand terabytes.
const MOST_MIB: f64 = 1e9;

impl Outcome {
    /// Checks that an engine that ran for `ran` can have measured this.
    ///
    /// # Errors
    ///
    /// If a figure cannot be true; the error names the field.
    pub fn check(&self, plan: &LoadPlan, ran: Duration) -> anyhow::Result<()> {
        // Engines have clocks of their own, and their tools round figures.
        let ran_s = 1.0 + 1.1 * ran.as_secs_f64();
        self.check_counts(plan)?;
        self.check_fifths()?;
        self.check_unanswered(ran_s)?;
        if let Some(visits) = &self.visits {
            visits.check(self, plan.visits.len(), ran_s)?;
        }
        self.check_times(ran_s)
    }

    fn check_counts(&self, plan: &LoadPlan) -> anyhow::Result<()> {
        let Self { sent, ok, ok_in_time, wrong, failed, unfinished, lost, .. } = *self;
        let samples = self.latency.count();
        for (field, count) in [
            ("sent", sent),
            ("ok", ok),
            ("ok_in_time", ok_in_time),
            ("wrong", wrong),
            ("failed", failed),
            ("unfinished", unfinished),
            ("lost", lost),
            ("reopened", self.reopened),
            ("surplus", self.surplus),
            ("resent", self.resent),
            ("background_sent", self.background_sent),
            ("latency_us", samples),
        ] {
            within(field, count, 0..=MOST_REQUESTS)?;
        }
        let known = ok + wrong + failed + unfinished;
        ensure!(
            known == sent,
            "`sent` is {sent}, but `ok`, `wrong`, `failed` and `unfinished` add up to {known}"
        );
        // In an open loop, the server also works off what the warm-up has left.
        if matches!(plan.arrivals, Arrivals::ClosedLoop(_)) {
            within("ok_in_time", ok_in_time, 0..=ok)?;
            within("lost", lost, 0..=unfinished)?;
        }
        let timed = ok + unfinished;
        ensure!(
            samples == 0 || samples == timed,
            "`latency_us` has {samples} requests, but `ok` and `unfinished` add up to {timed}"
        );
        Ok(())
    }

    fn check_fifths(&self) -> anyhow::Result<()> {
        let count = self.fifths.len();
        ensure!([0, 5].contains(&count), "`fifths` has {count} values instead of 5");
        let sum = self.fifths.iter().try_fold(0, |sum: u64, fifth| sum.checked_add(*fifth));
        ensure!(
            count == 0 || sum == Some(self.ok_in_time),
            "`fifths` does not add up to `ok_in_time`, which is {}",
            self.ok_in_time
        );
        Ok(())
    }

    fn check_unanswered(&self, ran_s: f64) -> anyhow::Result<()> {
        let Some(unanswered) = &self.unanswered else { return Ok(()) };
        let (ages, unfinished) = (unanswered.ages_s.len() as u64, self.unfinished);
        ensure!(
            ages == unfinished,
            "`unanswered.ages_s` has {ages} values, but `unfinished` is {unfinished}"
        );
        for age in &unanswered.ages_s {
            within("unanswered.ages_s", *age, 0.0..=ran_s)?;
        }
        within("unanswered.late", unanswered.late, 0..=self.sent - unfinished)?;
        within("unanswered.longest_s", unanswered.longest.as_secs_f64(), 0.0..=ran_s)?;
        within("unanswered.grace_s", unanswered.grace.as_secs_f64(), 0.0..=ran_s)
    }

    fn check_times(&self, ran_s: f64) -> anyhow::Result<()> {
        ensure!(!self.measured.is_zero(), "`measured_s` is 0");
        let measured_s = self.measured.as_secs_f64();
        within("measured_s", measured_s, 0.0..=ran_s)?;
        let cores_s = MOST_CORES * measured_s;
        for (field, time, most_s) in [
            ("stopped_s", self.stopped, ran_s),
            ("youngest_unfinished_s", self.youngest_unfinished, ran_s),
            ("server_cpu_s", self.server_cpu, cores_s),
            ("generator_cpu_s", self.generator_cpu, cores_s),
            ("generator_waited_s", self.generator_waited, cores_s),
            ("generator_stood_s", self.generator_stood, measured_s),
        ] {
            within(field, time.unwrap_or_default().as_secs_f64(), 0.0..=most_s)?;
        }
        within(
            "server_peak_rss_mib",
            self.server_peak_rss_mib.unwrap_or_default(),
            0.0..=MOST_MIB,
        )?;
        let sizes = self.server_rss_mib.len();
        ensure!([0, 6].contains(&sizes), "`server_rss_mib` has {sizes} values instead of 6");
        for size in &self.server_rss_mib {
            within("server_rss_mib", *size, 0.0..=MOST_MIB)?;
        }
        let Some(Punctuality { lag_p99_ms, queued, at_least_ms }) = self.punctuality else {
            return Ok(());
        };
        within("punctuality.lag_p99_ms", lag_p99_ms, 0.0..=1e3 * ran_s)?;
        for at_least_ms in
            Percentile::all().filter_map(|percentile| at_least_ms.get(percentile).copied())
        {
            within("punctuality.at_least_ms", at_least_ms, 0.0..=1e3 * ran_s)?;
        }
        within("punctuality.queued", queued, 0..=self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(arrivals: Value) -> LoadPlan {
        let plan = json!({
            "target": { "address": "127.0.0.1:1", "host": "h", "tls": null }, "server_pid": null,
            "arrivals": arrivals, "warm_up_s": 1, "measurement_s": 2, "grace_s": 1, "requests": [],
        });
        serde_json::from_value(plan).unwrap()
    }

    /// The outcome of an engine that ran for 4 s, with one field changed.
    fn outcome(field: &str, value: &Value) -> Outcome {
        let mut outcome = json!({
            "measured_s": 2, "sent": 100, "ok": 90, "ok_in_time": 80, "wrong": 4, "failed": 3,
            "unfinished": 3, "fifths": [16, 16, 16, 16, 16], "latency_us": [[100, 90], [1e6, 3]],
            "server_cpu_s": 8, "server_peak_rss_mib": 10, "generator_cpu_s": 1,
            "punctuality": { "lag_p99_ms": 1, "queued": 0, "at_least_ms": {} },
            "unanswered": { "ages_s": [1, 1, 1], "late": 10, "longest_s": 1, "grace_s": 1 },
        });
        match outcome.pointer_mut(field) {
            Some(field) => *field = value.clone(),
            None => outcome[&field[1..]] = value.clone(),
        }
        serde_json::from_value(outcome).unwrap()
    }

    #[test]
    fn an_outcome_that_cannot_be_true_is_refused_by_its_field() {
        let closed = plan(json!({ "closed_loop": { "users": 8 } }));
        let open = plan(json!({ "open_loop": { "rate_per_s": 50, "connections": 8 } }));
        let check =
            |plan: &_, field, value: &_| outcome(field, value).check(plan, Duration::from_secs(4));
        check(&closed, "/engine", &Value::Null).unwrap();
        for (field, value, message) in [
            ("/sent", json!(99), "`sent` is 99, but `ok`, `wrong`, `failed` and"),
            ("/ok", json!(u64::MAX), "`ok` is 18446744073709551615, not between"),
            // Their sum wraps around to the right one.
            ("/wrong", json!(u64::MAX), "`wrong` is"),
            ("/ok_in_time", json!(u64::MAX), "`ok_in_time` is"),
            ("/ok_in_time", json!(91), "`ok_in_time` is 91, not between 0 and 90"),
            ("/lost", json!(4), "`lost` is 4"),
            ("/resent", json!(u64::MAX), "`resent` is"),
            ("/fifths", json!([40, 40]), "`fifths` has 2 values instead of 5"),
            ("/fifths", json!([u64::MAX, 81, 0, 0, 0]), "`fifths` does not add up to"),
            ("/latency_us", json!([[100, 1]]), "`latency_us` has 1 requests, but"),
            ("/latency_us", json!([[100, u64::MAX], [200, u64::MAX]]), "`latency_us` is"),
            ("/measured_s", json!(0), "`measured_s` is 0"),
            ("/measured_s", json!(60), "`measured_s` is 60, not between 0 and 5.4"),
            ("/server_cpu_s", json!(1e9), "`server_cpu_s` is"),
            ("/server_peak_rss_mib", json!(-1), "`server_peak_rss_mib` is -1"),
            ("/server_rss_mib", json!([1]), "`server_rss_mib` has 1 values instead of 6"),
            ("/server_rss_mib", json!([1, 1, 1, 1, 1, -1]), "`server_rss_mib` is -1"),
            ("/generator_waited_s", json!(1e9), "`generator_waited_s` is"),
            ("/youngest_unfinished_s", json!(60), "`youngest_unfinished_s` is"),
            ("/punctuality/lag_p99_ms", json!(-1), "`punctuality.lag_p99_ms` is -1"),
            ("/punctuality/at_least_ms", json!({ "p99": 1e9 }), "`punctuality.at_least_ms` is"),
            ("/punctuality/queued", json!(101), "`punctuality.queued` is"),
            ("/unanswered/ages_s", json!([1]), "`unanswered.ages_s` has 1 values"),
            ("/unanswered/ages_s", json!([1, 1, -1]), "`unanswered.ages_s` is -1"),
            ("/unanswered/late", json!(98), "`unanswered.late` is"),
            ("/unanswered/longest_s", json!(1e19), "`unanswered.longest_s` is"),
            ("/unanswered/grace_s", json!(1e19), "`unanswered.grace_s` is"),
        ] {
            let error = check(&closed, field, &value).unwrap_err().to_string();
            assert!(error.contains(message), "{field}: {error}");
        }
        let drawn = |change: fn(&mut Value)| {
            let kind = json!({ "name": "a", "weight": 1, "alternatives": [] });
            let plan =
                LoadPlan { visits: vec![serde_json::from_value(kind).unwrap()], ..open.clone() };
            let mut outcome = json!({
                "measured_s": 2, "stopped_s": 2, "sent": 5, "ok": 2, "ok_in_time": 2, "wrong": 1,
                "failed": 1, "unfinished": 1, "visits": {
                    "kind": [0, 0, 0, 0, 0], "due_us": [0, 1, 2, 3, 4], "latency_us": [7, 7, 7, 7, 7],
                    "answer": ["right", "other", "wrong", "failed", "unfinished"],
                },
            });
            change(&mut outcome);
            let outcome: Outcome = serde_json::from_value(outcome).unwrap();
            outcome.check(&plan, Duration::from_secs(4))
        };
        drawn(|_| {}).unwrap();
        // A fault of the warm-up is one, but has no row.
        drawn(|outcome| (outcome["sent"], outcome["wrong"]) = (json!(6), json!(2))).unwrap();
        let changes: [(fn(&mut Value), _); 7] = [
            (
                |outcome| outcome["visits"]["due_us"] = json!([1]),
                "`visits.due_us` has 1 values, but",
            ),
            (
                |outcome| outcome["visits"]["answer"] = json!([]),
                "`visits.answer` has 0 values, but",
            ),
            (|outcome| outcome["visits"]["kind"][1] = json!(1), "`visits.kind` is 1, of 1 kinds"),
            (
                |outcome| outcome["visits"]["due_us"][1] = json!(60_000_000),
                "`visits.due_us` is 60000000",
            ),
            (
                |outcome| outcome["visits"]["latency_us"][1] = json!(60_000_000),
                "`visits.latency_us` is",
            ),
            (
                |outcome| outcome["visits"]["answer"][1] = json!("wrong"),
                "has 1 times `right` and `other`",
            ),
            (|outcome| outcome["stopped_s"] = json!(60), "`stopped_s` is 60"),
        ];
        for (change, message) in changes {
            let error = drawn(change).unwrap_err().to_string();
            assert!(error.contains(message), "{message}: {error}");
        }
        // What the warm-up left is answered in time, too.
        let more = outcome("/ok_in_time", &json!(95));
        let more = Outcome { fifths: Vec::new(), ..more };
        more.check(&open, Duration::from_secs(4)).unwrap();
    }
}
