//! What requests waited for: the timeline, and the flame graphs of waits.

use super::{
    super::{
        Graph, Kind, Seen, Unit,
        output::Output,
        page::{Picture, Section},
        timeline::{self, Side},
        waits::Waits,
    },
    file, section,
};
use crate::display::{factor, time_ms};

/// Requests over time, the first server above the second.
pub fn timeline(seen: &Seen) -> Option<Section> {
    let [slow, fixed] = seen.observations.as_slice() else { return None };
    let slow = Side { variant: &slow.name, spans: slow.spans.as_ref()? };
    let fixed = Side { variant: &fixed.name, spans: fixed.spans.as_ref()? };
    let lead = "Each row is one request. Follow the strong bars from the top: where they form a \
                staircase, only one request gets on at a time, and all others wait for it.";
    let mut section = section("Requests over time", lead.to_owned());
    section.pictures.push(Picture::inline(
        "timeline.svg",
        "Twelve requests in a row under the case's load, on one time axis.",
        |canvas| timeline::draw(slow, fixed, canvas),
    ));
    Some(section)
}

/// Where the time of a request goes, waits and all.
pub fn waits(seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let told =
        seen.observations.iter().filter_map(|it| Some((&it.name, Waits::of(it.spans.as_ref()?))));
    let waits: Vec<_> = told.collect();
    let [(_, slow), (_, fixed)] = waits.as_slice() else { return Ok(None) };
    let [all_slow, all_fixed] = [slow, fixed].map(|waits| waits.folded.total() as f64);
    let lead = format!(
        "An answered request took {} in slow and {} in fixed on average, {} less. None of it is \
         CPU time: the requests waited.",
        time_ms(all_slow / 1e6),
        time_ms(all_fixed / 1e6),
        factor(all_slow / all_fixed.max(1.0)),
    );
    let mut section = section("What a request waits for", lead);
    let scale = waits.iter().map(|(_, waits)| waits.folded.total()).max();
    for (name, waits) in &waits {
        let caption = format!("{name}: the time of one answered request, by what it waited for.");
        let graph = Graph {
            title: &format!("{name}: the time of a request"),
            notes: &["spans that the server records of itself".to_owned()],
            kind: Kind::Wait,
            unit: Unit::Nanoseconds,
            scale,
            filler: "time that the fix saves",
        };
        let (stem, stacks) = (format!("{name}.waits"), &waits.folded);
        if stacks.is_empty() {
            continue;
        }
        output.write(&format!("{stem}.folded"), &stacks.to_string())?;
        section.pictures.push(file(output, &stem, caption, &graph.draw(stacks)?)?);
        section.tables.push(waits.table(name));
    }
    Ok(Some(section))
}
