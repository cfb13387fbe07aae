//! Filters: how values look in the text.

use lab_display::{NONE, significant, time_ms};
use lab_model::Percentile;
use lab_observation::Unit;
use lab_stats::Speedup;
use minijinja::{Environment, Error, ErrorKind, Value};

use super::names::failed;

/// For the error of an unknown filter.
pub fn names() -> impl Iterator<Item = &'static str> {
    let others =
        "bytes factor figure interval mib ms noise ns percent rps s thousands us".split(' ');
    others.chain(Percentile::all().map(Percentile::key))
}

/// Adds the filters to an environment. All of them show a missing value as [`NONE`].
pub fn add_to(env: &mut Environment<'_>) {
    number(env, "figure", significant);
    number(env, "thousands", lab_display::thousands);
    number(env, "rps", |value| format!("{} req/s", significant(value)));
    number(env, "percent", percent);
    number(env, "bytes", |bytes| Unit::Bytes.short(bytes.max(0.0) as u64));
    number(env, "mib", |mib| format!("{} MiB", significant(mib)));
    // The filter names the unit of its input and chooses that of its output.
    number(env, "ns", time_ns);
    number(env, "us", |us| time_ns(us * 1e3));
    number(env, "ms", |ms| time_ns(ms * 1e6));
    number(env, "s", |s| time_ns(s * 1e9));
    env.add_filter("factor", |value: Value| match value.is_number() {
        true => shown(&value, lab_display::factor),
        false => in_words(&value, |speedup| lab_display::factor(speedup.estimate)),
    });
    env.add_filter("interval", |value: Value| in_words(&value, lab_display::speedup));
    env.add_filter("noise", |value: Value| in_words(&value, lab_display::noise));
    for name in Percentile::all().map(Percentile::key) {
        env.add_filter(name, move |latencies: Value| percentile(&latencies, name));
    }
}

fn number(env: &mut Environment<'_>, name: &'static str, show: fn(f64) -> String) {
    env.add_filter(name, move |value: Value| shown(&value, show));
}

fn shown(value: &Value, show: fn(f64) -> String) -> Result<String, Error> {
    match f64::try_from(value.clone()) {
        _ if value.is_none() => Ok(NONE.to_owned()),
        Ok(number) if number.is_finite() => Ok(show(number)),
        _ if value.is_undefined() => Err(ErrorKind::UndefinedError.into()),
        _ => Err(failed(format!("`{value}` is not a number: put arithmetic in parentheses"))),
    }
}

/// A speedup of the record.
fn in_words(value: &Value, show: impl Fn(&Speedup) -> String) -> Result<String, Error> {
    if value.is_none() {
        return Ok(NONE.to_owned());
    }
    let part = |name| f64::try_from(value.get_attr(name)?);
    let (estimate, low, high) = (part("estimate")?, part("low")?, part("high")?);
    let confidence = part("confidence")?;
    Ok(show(&Speedup { estimate, low, high, confidence, inner: None }))
}

/// A percentile of latency; `≥` marks a lower bound.
fn percentile(latencies: &Value, name: &str) -> Result<String, Error> {
    if latencies.is_none() {
        return Ok(NONE.to_owned());
    }
    let value = latencies.get_attr(name)?;
    let age = latencies.get_attr("exact_below")?;
    let is_bound = match (f64::try_from(value.clone()), f64::try_from(age)) {
        (Ok(ms), Ok(age)) => ms >= age,
        _ => false,
    };
    Ok(format!("{}{}", if is_bound { "≥ " } else { "" }, shown(&value, time_ms)?))
}

/// `87 %`, `6.3 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// `0.31 ns`, `779 ns`, `1.91 µs`.
fn time_ns(ns: f64) -> String {
    match ns {
        0.0 => "0 ns".to_owned(),
        ns if ns < 999.5 => format!("{} ns", significant(ns)),
        ns => time_ms(ns / 1e6),
    }
}
