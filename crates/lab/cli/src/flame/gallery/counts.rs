//! What a page makes the server do, counted: system calls, connections, handshakes.

use super::{
    super::{
        Scene, Seen,
        connections::{self, Series},
        mechanism::{self, Counted},
        page::{Picture, Section, Table},
    },
    section,
    words::{join, page_in_words},
};
use crate::display::{NONE, significant, thousands};

/// Counts of a page, slow beside fixed.
pub fn counters(scene: &Scene, seen: &Seen) -> Option<Section> {
    let [slow, fixed] = seen.counts.as_slice() else { return None };
    let per = format!("per {}", page_in_words(scene));
    let names = scene.names.iter().map(String::as_str);
    let [slow_name, fixed_name] = names.collect::<Vec<_>>()[..] else { return None };
    let number = |count: Option<&f64>| count.map_or(NONE.to_owned(), |count| told(*count));
    let changed: Vec<_> = slow
        .iter()
        .filter(|(name, count)| fixed.get(*name).is_some_and(|fixed| **count >= fixed * 2.0 + 1.0))
        .map(|(name, count)| {
            format!("{} {name} instead of {}", told(*count), number(fixed.get(name)))
        })
        .collect();
    let lead = match changed.is_empty() {
        true => format!("What a {} costs, counted and not timed.", page_in_words(scene)),
        false => format!("A {} costs {slow_name} {}.", page_in_words(scene), join(&changed)),
    };
    let mut section = section("What is done, counted", lead);
    section.pictures.push(Picture::inline(
        "counters.svg",
        "Counted by the kernel and by the upstream, one visitor at a time.",
        |canvas| {
            let side = |variant, counts| Counted { variant, counts };
            mechanism::draw(side(slow_name, slow), side(fixed_name, fixed), &per, canvas)
        },
    ));
    let row = |name: &String| vec![name.clone(), number(slow.get(name)), number(fixed.get(name))];
    section.tables.push(Table {
        caption: format!("Counts {per}"),
        head: vec!["count".to_owned(), slow_name.to_owned(), fixed_name.to_owned()],
        rows: slow.keys().map(row).collect(),
    });
    Some(section)
}

/// Connections to the upstream, over the time of the load.
pub fn connections(seen: &Seen) -> Option<Section> {
    let [slow, fixed] = seen.observations.as_slice() else { return None };
    let ends = [slow, fixed].map(|it| it.connections.last().copied());
    let [Some(slow_end), Some(fixed_end)] = ends else { return None };
    let lead = format!(
        "In {:.0} s under load {} opened {} connections to the upstream, and {} {}.",
        slow_end.at.as_secs_f64(),
        slow.name,
        thousands(slow_end.connections as f64),
        fixed.name,
        thousands(fixed_end.connections as f64),
    );
    let mut section = section("Connections over time", lead);
    section.pictures.push(Picture::inline(
        "connections.svg",
        "Counted by the upstream since the recording began.",
        |canvas| {
            let [slow, fixed] =
                [slow, fixed].map(|it| Series { variant: &it.name, samples: &it.connections });
            connections::draw(slow, fixed, canvas)
        },
    ));
    Some(section)
}

fn told(count: f64) -> String {
    if count.fract() == 0.0 { thousands(count) } else { significant(count) }
}
