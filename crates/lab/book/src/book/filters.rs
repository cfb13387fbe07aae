//! Filters: how values look in the text.

use lab_model::{Latencies, Percentile};
use lab_observation::Unit;
use lab_report::{significant, time_ms};
use lab_stats::Speedup;
use minijinja::{Environment, Error, Value, value::Serde};

type Show = fn(f64) -> String;

/// Adds the filters to an environment. The filter of a time names the unit of its input, and chooses
/// that of its output.
pub fn add_to(env: &mut Environment<'_>) {
    let numbers: [(&str, Show); 10] = [
        ("figure", significant),
        ("thousands", lab_report::thousands),
        ("rps", |value| format!("{} req/s", significant(value))),
        ("percent", lab_report::percent),
        ("bytes", |bytes| lab_report::weight(Unit::Bytes, bytes.max(0.0) as u64)),
        ("mib", |mib| format!("{} MiB", significant(mib))),
        ("ns", time_ns),
        ("us", |us| time_ns(us * 1e3)),
        ("ms", |ms| time_ns(ms * 1e6)),
        ("s", |s| time_ns(s * 1e9)),
    ];
    for (name, show) in numbers {
        env.add_filter(name, move |value: f64| show(value));
    }
    env.add_filter("factor", |value: Value| match f64::try_from(value.clone()) {
        Ok(number) => Ok(lab_report::factor(number)),
        Err(_) => Ok::<_, Error>(lab_report::factor(f64::try_from(value.get_attr("estimate")?)?)),
    });
    env.add_filter("interval", |it: Serde<Speedup>| lab_report::speedup(&it));
    // For a sentence that says "by a factor of" or "times".
    env.add_filter("times", |it: Serde<Speedup>| lab_report::speedup(&it).replacen('×', "", 1));
    env.add_filter("noise", |it: Serde<Speedup>| lab_report::noise(&it));
    for at in Percentile::all() {
        env.add_filter(at.key(), move |latencies: Serde<Latencies>| {
            lab_report::tables::percentile(&latencies, at)
        });
    }
}

/// `0.31 ns`, `779 ns`, `1.91 µs`.
pub fn time_ns(ns: f64) -> String {
    match ns {
        0.0 => "0 ns".to_owned(),
        ns if ns < 999.5 => format!("{} ns", significant(ns)),
        ns => time_ms(ns / 1e6),
    }
}
