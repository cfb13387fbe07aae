//! Figures in running text, from the newest record.

use anyhow::{Context as _, bail};

use super::one_case;
use crate::{
    case::{BASELINE, CANDIDATE},
    display,
    docs::{
        recipe::{Call, Made},
        words::percentiles,
    },
    stats::Speedup,
};

/// What a speedup is of.
#[derive(Clone, Copy)]
enum Metric {
    Throughput,
    Cpu,
}

/// The metrics by name.
const METRICS: [(&str, Metric); 2] = [("throughput", Metric::Throughput), ("cpu", Metric::Cpu)];

/// `speedup CASE throughput|cpu [VARIANT]`.
pub fn speedup(call: &Call) -> anyhow::Result<Made> {
    Ok(display::speedup(&found(call)?).into())
}

/// `factor CASE throughput|cpu [VARIANT]`.
pub fn factor(call: &Call) -> anyhow::Result<Made> {
    Ok(display::factor(found(call)?.estimate).into())
}

fn found(call: &Call) -> anyhow::Result<Speedup> {
    let words = call.between(2, 3)?;
    let metric = call.one_of(words[1], &METRICS)?;
    let variant = words.get(2).copied().unwrap_or(CANDIDATE);
    if variant == BASELINE {
        bail!("{BASELINE} is what the others are measured against: it has no factor");
    }
    let speedups = call.sources.variant(words[0], variant)?.speedup;
    let found = speedups.and_then(|it| match metric {
        Metric::Throughput => it.throughput,
        Metric::Cpu => it.cpu_per_request,
    });
    found.context("the record has no such factor: `just record` makes one on Linux")
}

/// `noise CASE [throughput|cpu]`.
pub fn noise(call: &Call) -> anyhow::Result<Made> {
    let words = call.between(1, 2)?;
    let metric = call.one_of(words.get(1).copied().unwrap_or("throughput"), &METRICS)?;
    let control = &call.sources.measured(words[0])?.control.speedup;
    let found = match metric {
        Metric::Throughput => control.throughput,
        Metric::Cpu => control.cpu_per_request,
    };
    let found = found.context("the record has no control: `just record` makes one")?;
    Ok(display::noise(&found).into())
}

/// `throughput CASE VARIANT`.
pub fn throughput(call: &Call) -> anyhow::Result<Made> {
    let [case, variant] = call.arguments()?;
    let variant = call.sources.variant(case, variant)?;
    Ok(format!("{} req/s", display::significant(variant.throughput_rps)).into())
}

/// `cpu CASE VARIANT`.
pub fn cpu(call: &Call) -> anyhow::Result<Made> {
    let [case, variant] = call.arguments()?;
    let variant = call.sources.variant(case, variant)?;
    variant
        .cpu_us_per_request
        .context("the record has no CPU time: `just record` makes one on Linux")?;
    Ok(one_case::cpu(variant).into())
}

/// `latency CASE VARIANT p50|p90|p99 [open]`.
pub fn latency(call: &Call) -> anyhow::Result<Made> {
    let words = call.between(3, 4)?;
    let variant = call.sources.variant(words[0], words[1])?;
    let index = call.one_of(words[2], &[("p50", 0), ("p90", 1), ("p99", 2)])?;
    let latencies = match words.get(3) {
        None => variant.latency_ms,
        Some(word) => {
            call.one_of(word, &[("open", ())])?;
            let open = variant.open_loop.as_ref();
            let open = open.context("the record has no open loop: `just record` makes one")?;
            if let Some(why) = &open.invalid {
                bail!("these latencies must not be quoted: {why}");
            }
            open.latency_ms
        }
    };
    Ok(percentiles(latencies)[index].clone().into())
}
