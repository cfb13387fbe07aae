//! `command`: what was typed to make a figure, so that it can be made again.

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::docs::{
    recipe::{Call, Made},
    words::command_line,
};

/// `command summary|benches|CASE|counts CASE|flame CASE`.
pub fn command(call: &Call) -> anyhow::Result<Made> {
    let sources = call.sources;
    let command = match call.between(1, 2)?[..] {
        ["summary"] => command_line(&sources.record()?.command),
        ["benches"] => sources.benches()?.made.clone(),
        ["counts", case] => {
            sources.case(case)?;
            "just update-counts".to_owned()
        }
        ["flame", case] => flame(&sources.flame_meta(case)?)?,
        [case] => {
            sources.measured(case)?;
            command_line(&sources.record()?.command)
        }
        _ => bail!("it is called `{}`", call.usage),
    };
    Ok(format!("`{command}`").into())
}

/// The command that a flame page's `meta.json` names.
pub fn flame(meta: &Value) -> anyhow::Result<String> {
    let words = meta.get("command").and_then(Value::as_array);
    let words = words.context("meta.json names no command")?.iter();
    let words: Vec<_> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(command_line(&words))
}
