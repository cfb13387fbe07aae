//! Facts in running text that nobody measured: of the load, of the record, of others.

use anyhow::{Context as _, ensure};

use crate::{
    display::{self, thousands, time_ms},
    docs::{
        problem::unknown,
        recipe::{Call, Made},
        words::{self, day, machine_in_words},
    },
};

/// `load CASE`.
pub fn load(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    Ok(call.sources.measured(case)?.load.clone().into())
}

/// `users CASE`.
pub fn users(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    Ok(thousands(call.sources.case(case)?.load.users as f64).into())
}

/// `think CASE`.
pub fn think(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    Ok(match call.sources.case(case)?.load.think_ms {
        0 => "no pause".to_owned(),
        // As it stands in the case file: `500 ms` and not `500.0 ms`.
        ms if ms < 1000 => format!("{ms} ms"),
        ms => time_ms(ms as f64),
    }
    .into())
}

/// `arg CASE ARGUMENT UNIT`: with or without the dashes before the argument's name.
pub fn arg(call: &Call) -> anyhow::Result<Made> {
    let [case, name, unit] = call.arguments()?;
    let args = &call.sources.case(case)?.args;
    let bare = name.trim_start_matches('-');
    let at = args.iter().position(|arg| arg.strip_prefix("--") == Some(bare));
    let flags = args.iter().map(String::as_str).filter(|arg| arg.starts_with("--"));
    let at = at.ok_or_else(|| unknown("argument", name, flags))?;
    let value = args.get(at + 1).with_context(|| format!("--{bare} has no value"))?;
    let number: f64 = value.parse().with_context(|| format!("`{value}` is no number"))?;
    let value = if number.fract() == 0.0 { thousands(number) } else { value.clone() };
    Ok(format!("{value} {unit}").into())
}

/// `record date|machine|pairs|commit|rustc|confidence`.
pub fn record(call: &Call) -> anyhow::Result<Made> {
    let [what] = call.arguments()?;
    let record = call.sources.record()?;
    let known = ["date", "machine", "pairs", "commit", "rustc", "confidence"];
    Ok(match what {
        "date" => day(record.created),
        "machine" => machine_in_words(&record.machine),
        "pairs" => {
            let pairs = record.cases.iter().map(|case| case.pairs).min();
            display::thousands(pairs.context("the record has no case")? as f64)
        }
        "commit" => {
            let commit = record.build.commit.as_ref().context("the record names no commit")?;
            format!("`{}`", commit.chars().take(9).collect::<String>())
        }
        "rustc" => record.build.rustc.clone().context("the record names no compiler")?,
        "confidence" => words::confidence(&record.cases).context("the record has no interval")?,
        other => return Err(unknown("fact", other, known)),
    }
    .into())
}

/// `quote TEXT`.
pub fn quote(call: &Call) -> anyhow::Result<Made> {
    ensure!(!call.rest.is_empty(), "there is nothing to quote: `{}`", call.usage);
    Ok(call.rest.to_owned().into())
}
