//! What the record's flame pages tell: pictures, the functions that cost most, and their shares.

use anyhow::{Context as _, bail, ensure};
use lab_flame::stacks::{Folded, Unit, top_inclusive};
use serde_json::Value;

use super::commands;
use crate::{
    display::{thousands, time_ms},
    docs::{
        figure::figures,
        problem::unknown,
        recipe::{Call, Made, bracketed},
        sources::Stacks,
        words,
    },
    machine::Machine,
};

/// How many functions a table names.
const NAMED: usize = 8;
/// The kinds of stacks by name.
const KINDS: [(&str, Stacks); 3] =
    [("cpu", Stacks::Cpu), ("waits", Stacks::Waits), ("allocations", Stacks::Allocations)];

/// `flame CASE FILE.svg CAPTION...`.
pub fn picture(call: &Call) -> anyhow::Result<Made> {
    let words = call.between(3, usize::MAX)?;
    let (case, file) = (words[0], words[1]);
    ensure!(file.ends_with(".svg"), "`{file}` is no picture: `{}`", call.usage);
    let link = call.link(&call.sources.flame(case, file)?);
    let caption = words[2..].join(" ");
    ensure!(
        figures(&caption).is_empty(),
        "a caption that has a figure is stale with the next record: say it in words"
    );
    let alt = bracketed(&caption);
    Ok(format!("[![{alt}]({link})]({link})\n\n*{caption}*").into())
}

/// `table top CASE VARIANT [cpu|waits|allocations]`.
pub fn top(call: &Call) -> anyhow::Result<Made> {
    let words = call.between(2, 3)?;
    let kind = call.one_of(words.get(2).copied().unwrap_or("cpu"), &KINDS)?;
    let stacks = call.sources.stacks(words[0], words[1], kind)?;
    let (what, unit) = match kind {
        Stacks::Cpu => ("CPU time of a request", Unit::Nanoseconds),
        Stacks::Waits => ("time of a request", Unit::Nanoseconds),
        Stacks::Allocations => ("bytes allocated for a request", Unit::Bytes),
    };
    let first = format!("{}: {what}", words[1]);
    let header = [first.as_str(), "with all it calls", "share", "itself"];
    let rows = top_inclusive(&stacks, NAMED).into_iter().map(|row| {
        let share = percent(row.inclusive, &stacks);
        vec![format!("`{}`", row.name), unit.short(row.inclusive), share, unit.short(row.own)]
    });
    let table = words::table(&header, rows);
    Ok(format!("{table}\n\n*{}*", made_by(&call.sources.flame_meta(words[0])?)?).into())
}

/// `share CASE VARIANT FUNCTION [cpu|waits|allocations]`.
pub fn share(call: &Call) -> anyhow::Result<Made> {
    let (stacks, _, inclusive) = function(call)?;
    Ok(percent(inclusive, &stacks).into())
}

/// `cost CASE VARIANT FUNCTION [cpu|waits|allocations]`.
pub fn cost(call: &Call) -> anyhow::Result<Made> {
    let (_, unit, inclusive) = function(call)?;
    Ok(unit.short(inclusive).into())
}

/// The stacks that are asked for, their unit, and what a function cost with all that it called.
fn function(call: &Call) -> anyhow::Result<(Folded, Unit, u64)> {
    let words = call.between(3, usize::MAX)?;
    // A name may have spaces, as `lock held`.
    let last = words.last().and_then(|last| KINDS.iter().find(|(name, _)| name == last));
    let (kind, name) = match last {
        Some((_, kind)) if words.len() > 3 => (*kind, &words[2..words.len() - 1]),
        _ => (Stacks::Cpu, &words[2..]),
    };
    let name = name.join(" ");
    let name = name.trim_matches(['"', '\'', '`']);
    let stacks = call.sources.stacks(words[0], words[1], kind)?;
    let rows = top_inclusive(&stacks, usize::MAX);
    let unit = if kind == Stacks::Allocations { Unit::Bytes } else { Unit::Nanoseconds };
    // `kernel` is all that the kernel did; the table has a row for each who asked for it.
    let has = |stack: &[String]| stack.iter().any(|frame| frame == name);
    let all = stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, spent)| spent).sum::<u64>();
    let row = rows.iter().find(|row| row.name == name).map(|row| row.inclusive);
    match row.or((all > 0).then_some(all)) {
        Some(inclusive) => Ok((stacks, unit, inclusive)),
        None => Err(unknown("function", name, rows.iter().map(|row| row.name.as_str()))),
    }
}

/// A part of all stacks: `87 %`, `6.3 %`.
fn percent(part: u64, stacks: &Folded) -> String {
    share_in_words(part as f64 / stacks.total().max(1) as f64)
}

fn share_in_words(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

/// `meta CASE VARIANT FIELD`.
pub fn meta(call: &Call) -> anyhow::Result<Made> {
    let [case, variant, field] = call.arguments()?;
    let meta = call.sources.flame_meta(case)?;
    let variants = meta.get("variants").and_then(Value::as_object);
    let variants = variants.context("meta.json has no variants: `just record` makes a new one")?;
    let found = variants.get(variant);
    let names = variants.keys().map(String::as_str);
    let fields = found.ok_or_else(|| unknown("variant of the page", variant, names))?.as_object();
    let fields = fields.context("meta.json is damaged: `just record` makes a new one")?;
    let names = fields.keys().map(String::as_str);
    let value = fields.get(field).ok_or_else(|| unknown("field", field, names))?;
    Ok(match (value, value.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(share)) if field.ends_with("_share") || field == "cpu_agreement" => {
            share_in_words(share)
        }
        (_, Some(us)) if field.contains("_us") => time_ms(us / 1e3),
        (_, Some(seconds)) if field.ends_with("_s") => time_ms(seconds * 1e3),
        (_, Some(count)) => thousands(count),
        _ => bail!("{case}'s {variant} has no {field}"),
    }
    .into())
}

/// Who made a flame page, where and when.
fn made_by(meta: &Value) -> anyhow::Result<String> {
    let machine = meta.get("machine").cloned().context("meta.json names no machine")?;
    let machine: Machine = serde_json::from_value(machine).context("meta.json is damaged")?;
    let created = meta.get("created").cloned().context("meta.json names no time")?;
    let created = serde_json::from_value(created).context("meta.json is damaged")?;
    Ok(words::made_by(&commands::flame(meta)?, &machine, created))
}
