//! Filters: how values look in the text.

use lab_observation::Unit;
use lab_protocol::Percentile;
use lab_report::{Latencies, significant, tables::sign_of_bound, time_ms};
use lab_stats::Speedup;
use minijinja::{Environment, Error, ErrorKind, Value};
use serde::{Deserialize, de::DeserializeOwned};

type Show = fn(f64) -> String;

/// A factor with its interval, as the sources have it.
#[derive(Deserialize)]
struct Factor {
    #[serde(flatten)]
    found: Speedup,
    #[serde(default)]
    is_bound: bool,
}

impl Factor {
    fn sign(&self) -> &'static str {
        if self.is_bound { sign_of_bound(&self.found) } else { "" }
    }
}

/// Adds the filters to an environment. The filter of a time names the unit of its input, and chooses
/// that of its output.
pub fn add_to(env: &mut Environment<'_>) {
    let numbers: [(&str, Show); 11] = [
        ("figure", significant),
        ("thousands", lab_report::thousands),
        ("rps", |value| format!("{} req/s", significant(value))),
        ("percent", lab_report::percent),
        ("noise", lab_report::plus_minus),
        ("bytes", |bytes| lab_report::weight(Unit::Bytes, bytes.max(0.0) as u64)),
        ("mib", |mib| format!("{} MiB", significant(mib))),
        ("ns", time_ns),
        ("us", |us| time_ns(us * 1e3)),
        ("ms", |ms| time_ns(ms * 1e6)),
        ("s", |s| time_ns(s * 1e9)),
    ];
    for (name, show) in numbers {
        add(env, name, show);
    }
    env.add_filter("factor", |value: &Value| {
        if value.is_number() {
            return given(value).map(lab_report::factor);
        }
        let of = given::<Factor>(value)?;
        Ok(format!("{}{}", of.sign(), lab_report::factor(of.found.estimate)))
    });
    add(env, "interval", |of: Factor| format!("{}{}", of.sign(), lab_report::speedup(&of.found)));
    // For a sentence that says "by a factor of" or "times".
    add(env, "times", |of: Factor| {
        format!("{}{}", of.sign(), lab_report::speedup(&of.found).replacen('×', "", 1))
    });
    for at in Percentile::all() {
        let show = move |latencies: Latencies| lab_report::tables::percentile(&latencies, at);
        add(env, at.key(), show);
    }
}

fn add<T: DeserializeOwned + 'static>(
    env: &mut Environment<'_>,
    name: &'static str,
    show: impl Fn(T) -> String + Send + Sync + 'static,
) {
    env.add_filter(name, move |value: &Value| given(value).map(&show));
}

/// The value of a filter or a table. An absent value is the same error as a name without a value.
pub fn given<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    if value.is_undefined() || value.is_none() {
        return Err(ErrorKind::UndefinedError.into());
    }
    T::deserialize(value)
}

/// `0.31 ns`, `779 ns`, `1.91 µs`.
pub fn time_ns(ns: f64) -> String {
    match ns {
        0.0 => "0 ns".to_owned(),
        ns if ns < 999.5 => format!("{} ns", significant(ns)),
        ns => time_ms(ns / 1e6),
    }
}
