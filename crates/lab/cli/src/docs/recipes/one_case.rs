//! `table case`: slow and fixed side by side, a row a metric.

use anyhow::Context as _;

use super::summary::YOUR_MACHINE;
use crate::{
    bench::{CaseRecord, OpenLoopRecord, VariantRecord},
    case::{BASELINE, CANDIDATE},
    display::{NONE, significant, speedup, time_ms},
    docs::{
        recipe::{Call, Made},
        words::{self, command_line, made_by, percentiles},
    },
    stats::Speedup,
};

/// A metric of both variants.
struct Metric {
    name: String,
    /// Arrivals per second, of a latency in the open loop.
    rate: Option<f64>,
    /// Of slow, and of fixed.
    values: [String; 2],
    /// By how much fixed beats slow, if that is a claim.
    factor: Option<Speedup>,
}

impl Metric {
    /// `19.6 → 5,435, 280× (279–280)`, or `51.3 ms → 50.9 ms at 9.80/s`.
    fn in_words(&self) -> String {
        let [slow, fixed] = &self.values;
        let factor = self.factor.map_or(String::new(), |found| format!(", {}", speedup(&found)));
        let rate = self.rate.map_or(String::new(), |rate| format!(" at {}/s", significant(rate)));
        format!("{slow} → {fixed}{factor}{rate}")
    }
}

/// `table case CASE`.
pub fn table(call: &Call) -> anyhow::Result<Made> {
    let [name] = call.arguments()?;
    let case = call.sources.measured(name)?;
    let record = call.sources.record()?;
    let mine = call.sources.mine.as_ref();
    let own = mine.and_then(|mine| mine.case(name)).map(metrics).transpose()?;
    let mut header = vec![name, BASELINE, CANDIDATE, "factor"];
    header.extend(mine.map(|_| YOUR_MACHINE));
    let factor = |found: Option<Speedup>| found.map_or(String::new(), |found| speedup(&found));
    let rows = metrics(case)?.into_iter().enumerate().map(|(index, metric)| {
        let [slow, fixed] = metric.values;
        let mut row = vec![metric.name, slow, fixed, factor(metric.factor)];
        row.extend(mine.map(|_| match own.as_ref().and_then(|own| own.get(index)) {
            Some(own) => own.in_words(),
            None => NONE.to_owned(),
        }));
        row
    });
    let table = words::table(&header, rows);
    let made_by = made_by(&command_line(&record.command), &record.machine, record.created);
    let confidence = words::confidence([case]).unwrap_or_default();
    let pairs = case.pairs;
    let mine = mine.map_or(String::new(), |mine| format!(" {}", mine.footer(Some(name))));
    Ok(format!(
        "{table}\n\n*Load: {}. In brackets: a {confidence} interval, from {pairs} pairs of runs. \
         {made_by}{mine}*",
        case.load
    )
    .into())
}

fn metrics(case: &CaseRecord) -> anyhow::Result<Vec<Metric>> {
    let variant = |name: &str| {
        case.variant(name).with_context(|| format!("the record of {} has no {name}", case.case))
    };
    let both = [variant(BASELINE)?, variant(CANDIDATE)?];
    let plain = |name: &str, value: &dyn Fn(&VariantRecord) -> String| Metric {
        name: name.to_owned(),
        rate: None,
        values: both.map(value),
        factor: None,
    };
    let rate = both[0].open_loop.as_ref().map(|open| open.rate_per_s);
    let open = |name: &str, index: usize| Metric {
        name: match rate {
            Some(rate) => format!("{name}, open loop at {}/s", significant(rate)),
            None => format!("{name}, open loop"),
        },
        rate,
        values: both.map(|it| it.open_loop.as_ref().map_or(NONE.into(), |it| valid(it, index))),
        factor: None,
    };
    Ok(vec![
        Metric {
            factor: case.speedup.throughput,
            ..plain("req/s", &|it| significant(it.throughput_rps))
        },
        Metric { factor: case.speedup.cpu_per_request, ..plain("CPU per request", &cpu) },
        plain("p50, closed loop", &|it| percentiles(it.latency_ms)[0].clone()),
        plain("p99, closed loop", &|it| percentiles(it.latency_ms)[2].clone()),
        open("p50", 0),
        open("p99", 2),
        plain("peak memory", &|it| {
            it.peak_rss_mib.map_or(NONE.into(), |mib| format!("{} MiB", significant(mib)))
        }),
    ])
}

/// CPU time of a request.
pub fn cpu(variant: &VariantRecord) -> String {
    variant.cpu_us_per_request.map_or(NONE.into(), |us| time_ms(us / 1e3))
}

/// A percentile, unless it must not be quoted.
fn valid(open: &OpenLoopRecord, index: usize) -> String {
    match open.invalid {
        Some(_) => NONE.to_owned(),
        None => percentiles(open.latency_ms)[index].clone(),
    }
}
