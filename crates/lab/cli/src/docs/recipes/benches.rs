//! `table benches`, `bench` and `ratio`: what Criterion measured of alternatives and sweeps.

use anyhow::{Context as _, ensure};

use crate::{
    display::factor,
    docs::{
        benches::time_ns,
        recipe::{Call, Made},
        words,
    },
};

/// `table benches GROUP`.
pub fn table(call: &Call) -> anyhow::Result<Made> {
    let [name] = call.arguments()?;
    let benches = call.sources.benches()?;
    let group = benches.group(name)?;
    let first = group.first().context("a group has benches")?;
    let over = format!("against {}", first.id());
    let header = [name, "time", "interval", &over];
    let rows = group.iter().map(|bench| {
        let interval = format!("{} – {}", time_ns(bench.low_ns), time_ns(bench.high_ns));
        vec![bench.id(), time_ns(bench.ns), interval, factor(bench.ns / first.ns)]
    });
    let table = words::table(&header, rows);
    let record = call.sources.record()?;
    let made_by = words::made_by(&benches.made, &record.machine, record.created);
    Ok(format!("{table}\n\n*A factor above 1 takes longer. {made_by}*").into())
}

/// `bench GROUP NAME`.
pub fn time(call: &Call) -> anyhow::Result<Made> {
    let [group, name] = call.arguments()?;
    Ok(time_ns(call.sources.benches()?.bench(group, name)?.ns).into())
}

/// `ratio GROUP NAME_A NAME_B`.
pub fn ratio(call: &Call) -> anyhow::Result<Made> {
    let [group, a, b] = call.arguments()?;
    let benches = call.sources.benches()?;
    let (a, b) = (benches.bench(group, a)?, benches.bench(group, b)?);
    ensure!(b.ns > 0.0, "`{}` takes no time", b.id());
    Ok(factor(a.ns / b.ns).into())
}
