//! `table counts` and `count`: what a page costs, counted.

use std::collections::BTreeSet;

use anyhow::ensure;

use crate::{
    display::{NONE, thousands},
    docs::{
        problem::unknown,
        recipe::{Call, Made},
        words,
    },
};

/// `table counts CASE`.
pub fn table(call: &Call) -> anyhow::Result<Made> {
    let [name] = call.arguments()?;
    let variants = &call.sources.case(name)?.variants;
    let mut counts = Vec::new();
    for variant in variants {
        counts.push(call.sources.counts(name, variant)?);
    }
    let names: BTreeSet<_> = counts.iter().flat_map(|counts| counts.keys()).collect();
    let rows = names.into_iter().map(|count| {
        // Of `upstream.tcp_connections` the reader needs `tcp connections`.
        let label = count.rsplit('.').next().unwrap_or(count).replace('_', " ");
        let cells = counts.iter().map(|it| it.get(count).map_or(NONE.into(), |n| thousands(*n)));
        std::iter::once(label).chain(cells).collect()
    });
    let header = std::iter::once("one page").chain(variants.iter().map(String::as_str));
    let table = words::table(&header.collect::<Vec<_>>(), rows);
    let file = call.sources.root.join("crates").join(name).join("counts.toml");
    Ok(format!(
        "{table}\n\n*Counted, and so the same on any machine. Made by `just update-counts`, which \
         keeps them in [`counts.toml`]({}).*",
        call.link(&file)
    )
    .into())
}

/// `count CASE VARIANT NAME`.
pub fn count(call: &Call) -> anyhow::Result<Made> {
    let [case, variant, name] = call.arguments()?;
    let counts = call.sources.counts(case, variant)?;
    let Some(count) = counts.get(name) else {
        return Err(unknown("count", name, counts.keys().map(String::as_str)));
    };
    ensure!(count.fract() == 0.0, "a count is a whole number");
    Ok(thousands(*count).into())
}
