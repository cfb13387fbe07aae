//! Messages of others that begin right and go wrong: none panics, and what is accepted can be
//! used.

use std::time::Duration;

use lab_protocol::{LoadPlan, Outcome};

const PLANS: [&str; 3] = [
    r#"{"target": {"address": "127.0.0.1:80", "host": "h", "tls": null}, "server_pid": 1,
        "arrivals": {"closed_loop": {"users": 8, "think_ms": 500, "connections": 6}},
        "warm_up_s": 0.3, "measurement_s": 1.4, "grace_s": 1, "requests": [{"method": "GET",
        "path": "/a?b=1", "headers": [["accept", "*/*"]], "body_file": null,
        "expected": {"status": 200, "answer": {"digest": {"bytes": 9, "crc32": 3421780262}}}}]}"#,
    r#"{"target": {"address": "[::1]:443", "host": "h", "tls": "name"}, "server_pid": null,
        "arrivals": {"open_loop": {"rate_per_s": 50.5, "connections": 64, "connections_per_user": 6,
        "spacing": {"random": {"seed": 1}}}}, "warm_up_s": 1, "measurement_s": 2, "grace_s": 1,
        "requests": [{"method": "POST", "path": "/", "headers": [], "body_file": "body",
        "expected": {"status": 204, "answer": {"text": "6"}}}], "options": {"workers": 2},
        "background": [{"arrivals": {"rate_per_s": 1, "connections": 1}, "request": {"method": "GET",
        "path": "/", "headers": [], "body_file": null, "expected": {"status": 200, "answer": "any"}}}]}"#,
    r#"{"target": {"address": "127.0.0.1:80", "host": "h", "tls": null}, "server_pid": null,
        "arrivals": {"open_loop": {"rate_per_s": 50.5, "connections": 64, "doubles_every_s": 2.5}},
        "warm_up_s": 1, "measurement_s": 2, "grace_s": 1, "stop_when": {"wrong": true},
        "visits": [{"name": "browse", "weight": 3.5, "alternatives": [[{"method": "GET", "path": "/",
        "headers": [], "body_file": null, "expected": {"status": 200, "answer": {"text": "6"},
        "or": {"text": "7"}}}]]}]}"#,
];

const OUTCOMES: [&str; 3] = [
    r#"{"measured_s": 2, "sent": 100, "ok": 90, "ok_in_time": 80, "wrong": 4, "failed": 3, "unfinished": 3,
        "fifths": [16, 16, 16, 16, 16], "latency_us": [[100, 90], [1000000, 3]], "server_cpu_s": 1.5,
        "server_peak_rss_mib": 10.5, "generator_cpu_s": 1, "generator_waited_s": 0.1, "reopened": 2,
        "unanswered": {"ages_s": [1, 1, 1.5], "late": 10, "longest_s": 1, "grace_s": 1}, "resent": 1,
        "youngest_unfinished_s": 1, "first_fault": "x", "engine": {"name": "k6", "workers": null}}"#,
    r#"{"measured_s": 2, "sent": 2, "ok": 2, "ok_in_time": 2, "lost": 0, "invalid": "late",
        "punctuality": {"lag_p99_ms": 0.5, "queued": 1}}"#,
    r#"{"measured_s": 2, "stopped_s": 2, "sent": 2, "ok": 1, "ok_in_time": 1, "wrong": 1, "visits":
        {"kind": [0, 0], "due_us": [0, 5], "latency_us": [7, 8], "answer": ["other", "wrong"]}}"#,
];

#[test]
fn a_malformed_plan_is_refused_or_can_be_sent_again() {
    malformed_input::texts(PLANS, |text| {
        let Ok(plan) = serde_json::from_str::<LoadPlan>(text) else { return };
        if plan.check().is_ok() {
            let end = plan.warm_up + plan.measurement + plan.grace;
            assert!(std::time::Instant::now().checked_add(end).is_some());
            let json = serde_json::to_string(&plan).unwrap();
            serde_json::from_str::<LoadPlan>(&json).unwrap().check().unwrap();
        }
    });
}

#[test]
fn a_malformed_outcome_is_refused_or_has_finite_figures() {
    let plans = PLANS.map(|plan| serde_json::from_str::<LoadPlan>(plan).unwrap());
    malformed_input::texts(OUTCOMES, |text| {
        let Ok(outcome) = serde_json::from_str::<Outcome>(text) else { return };
        for plan in &plans {
            if outcome.check(plan, Duration::from_secs(4)).is_err() {
                continue;
            }
            assert!(outcome.ok + outcome.wrong + outcome.failed <= outcome.sent);
            if let Some(unanswered) = &outcome.unanswered {
                let ended = outcome.sent - outcome.unfinished;
                assert!(unanswered.lost(ended, outcome.measured) <= outcome.unfinished);
            }
            for figure in [
                Some(outcome.throughput()),
                outcome.cpu_us_per_request(),
                outcome.generator_share(),
                outcome.generator_waited_share(),
                outcome.latency.quantile_ms(99.0),
            ] {
                assert!(figure.is_none_or(|it| it.is_finite() && it >= 0.0), "{figure:?}");
            }
            outcome.limited_by_generator();
        }
    });
}
