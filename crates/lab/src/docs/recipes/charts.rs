//! `chart`: a picture beside the pages, and the image that shows it.

use anyhow::bail;

use crate::docs::{
    Sources,
    recipe::{Call, Made, bracketed},
};

/// A picture, and what it shows in words.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The picture.
    pub svg: String,
    /// Its finding, for those who do not see it.
    pub alt: String,
}

/// Draws a chart by its name and, where it is about one, its case or group: `["case", "hot-clone"]`.
pub fn chart(name: &[&str], _: &Sources) -> anyhow::Result<Chart> {
    bail!(
        "the charts are not connected to the pages yet, so `chart {}` cannot be drawn",
        name.join(" ")
    )
}

/// `chart speedups`.
pub fn speedups(call: &Call) -> anyhow::Result<Made> {
    let [] = call.arguments()?;
    beside_the_pages(call, &["speedups"])
}

/// `chart case CASE`.
pub fn case(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    call.sources.case(case)?;
    beside_the_pages(call, &["case", case])
}

/// `chart latency CASE`.
pub fn latency(call: &Call) -> anyhow::Result<Made> {
    let [case] = call.arguments()?;
    call.sources.case(case)?;
    beside_the_pages(call, &["latency", case])
}

/// `chart sweep GROUP`.
pub fn sweep(call: &Call) -> anyhow::Result<Made> {
    let [group] = call.arguments()?;
    beside_the_pages(call, &["sweep", group])
}

fn beside_the_pages(call: &Call, name: &[&str]) -> anyhow::Result<Made> {
    let Chart { svg, alt } = chart(name, call.sources)?;
    let file = format!("charts/{}.svg", name.join("-"));
    let link = call.link_beside(&file);
    let alt = bracketed(&alt);
    Ok(Made { markdown: format!("![{alt}]({link})"), file: Some((file, svg)) })
}
