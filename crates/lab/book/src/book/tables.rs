//! The tables of the pages.

use lab_cases::{FIXED, SLOW, unknown};
use lab_observation::top_inclusive;
use lab_report::{
    Table, count_table, factor,
    origin::{day, origin},
    percent, tables,
};
use lab_system::Machine;
use minijinja::{Error, Value};
use serde::Deserialize as _;

use super::{
    failed::failed,
    filters::{given, time_ns},
    sources::Sources,
};

const KINDS: [&str; 8] =
    ["benches", "counts", "counts-pair", "pair", "replication", "steps", "summary", "top"];
/// How many functions the table of the most expensive ones lists.
const TOP: usize = 8;

/// A table, with its caption below it. `of` is the value that it is about. `pair` and `counts-pair` are
/// for a reader who has yet to find the fault.
pub fn table(sources: &Sources, kind: &str, of: &Value) -> Result<String, Error> {
    let text = |name: &str| Ok::<_, Error>(of.get_attr(name)?.to_string());
    let table = match kind {
        "summary" | "steps" | "pair" => {
            let case = if kind == "summary" { String::new() } else { text("case")? };
            return comparison(sources, kind, &case).map_err(failed);
        }
        "counts" | "counts-pair" => counts(sources, &text("case")?, kind == "counts-pair"),
        "benches" => benches(sources, &text("name")?),
        "top" => top(sources, &text("case")?, &text("variant")?),
        "replication" => Ok(given(of)?),
        kind => Err(unknown("table", kind, KINDS)),
    };
    table.map(|table| with_caption(&table, "")).map_err(failed)
}

fn with_caption(table: &Table, origin: &str) -> String {
    format!("{}\n*{}{origin}*", table.markdown(), table.caption)
}

/// A table of one case of the record, or of all.
fn comparison(sources: &Sources, kind: &str, case: &str) -> anyhow::Result<String> {
    let cases =
        sources.record()?.cases.iter().filter(|measured| case.is_empty() || measured.case == case);
    let cases: Vec<_> = cases.collect();
    let table = match (kind, &cases[..]) {
        (_, []) => anyhow::bail!("the record has nothing of `{case}`: `just record` makes one"),
        ("steps", [case, ..]) => tables::claims(case),
        ("pair", [case, ..]) => tables::pair(&sources.pair(case)),
        _ => tables::summary(cases.iter().copied()),
    };
    Ok(with_caption(&table, &format!(" Made by {}.", sources.origin(case)?)))
}

/// The exact counts of each variant.
fn counts(sources: &Sources, case: &str, is_pair: bool) -> anyhow::Result<Table> {
    let reference = sources.counts(case)?;
    let is_shown = |name: &&String| !is_pair || [SLOW, FIXED].contains(&name.as_str());
    let about = sources.cases.iter().find(|described| described.name == case);
    let variants = about.iter().flat_map(|case| case.variants.iter().filter(is_shown));
    let counted = variants.map(|name| {
        let counts = reference.of(name).into_iter().map(|(name, count)| (name, count as f64));
        (name.as_str(), counts.collect())
    });
    let counted: Vec<_> = counted.collect();
    let counted: Vec<_> = counted.iter().map(|(name, counts)| (*name, counts)).collect();
    let table = count_table("a counted visit", &counted);
    anyhow::ensure!(
        !table.rows.is_empty(),
        "{case} has no counts: `just count --update` writes them"
    );
    let inexact = about.iter().flat_map(|case| case.count.tolerance_percent.keys().cloned());
    let inexact: Vec<_> = inexact.collect();
    let how = if inexact.is_empty() {
        "so a busy machine does not change them".to_owned()
    } else {
        format!("but {} differ by a few per cent between runs", inexact.join(" and "))
    };
    let kept = "Made by `just count --update`, which keeps them in `counts.toml`.";
    Ok(Table { caption: format!("Counted, not timed, {how}. {kept}"), ..table })
}

fn benches(sources: &Sources, group: &str) -> anyhow::Result<Table> {
    let (benches, record) = (sources.benches()?, sources.record()?);
    let all: Vec<_> = benches.benches.iter().filter(|bench| bench.group == group).collect();
    let first = all.first().map_or((String::new(), 1.0), |first| (first.id(), first.ns));
    let rows = all.iter().map(|bench| {
        let interval = [bench.low_ns, bench.high_ns].map(time_ns).join(" – ");
        vec![bench.id(), time_ns(bench.ns), interval, factor(bench.ns / first.1)]
    });
    let caption = format!(
        "A factor above 1 takes longer. Made by `{}` on {}, {}.",
        benches.made,
        record.machine,
        day(record.created)
    );
    Ok(Table::new(caption, [group, "time", "interval", &format!("against {}", first.0)], rows))
}

/// The functions that cost most CPU time.
fn top(sources: &Sources, case: &str, variant: &str) -> anyhow::Result<Table> {
    let stacks = sources.stacks(case, variant, "cpu")?;
    let total = stacks.total().max(1) as f64;
    let rows = top_inclusive(&stacks, TOP).into_iter().map(|row| {
        let [all, own] = [row.inclusive, row.own].map(|ns| ns as f64);
        vec![format!("`{}`", row.name), time_ns(all), percent(all / total), time_ns(own)]
    });
    let meta = sources.meta(case)?;
    let command = Vec::<String>::deserialize(&meta["command"])?;
    let made = jiff::Timestamp::deserialize(&meta["created"])?;
    let caption =
        format!("Made by {}.", origin(&command, &Machine::deserialize(&meta["machine"])?, made));
    let head =
        [&*format!("{variant}: CPU time of a request"), "with all it calls", "share", "itself"];
    Ok(Table::new(caption, head, rows))
}
