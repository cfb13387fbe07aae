//! From what was seen to a page: each exhibit becomes a section, with its pictures as files.

mod graphs;
mod requests;
mod slowest;
mod standard;
mod words;

use std::path::Path;

use lab_observation::{Observation, Observations, Row, Sampling, Topic, changed};
use lab_protocol::Exhibit;
use lab_report::Table;
use lab_system::Output;
pub use requests::requests_on_screen;
pub use standard::StandardGraph;
use words::time;

use super::{
    differential,
    frames::Drawing,
    page::{Picture, PicturePage, Section},
    threads, timeline,
};

/// How many functions a table names.
const NAMED: usize = 8;

/// Draws all exhibits of a topic into `output`; returns the page, which is not written yet. With
/// `flamegraph`, the path of `lab-flamegraph`, it shows the standard flame graphs in place of our graphs of CPU time.
pub fn draw_page(
    topic: &Topic,
    all: &Observations,
    output: &Output,
    flamegraph: Option<&Path>,
) -> anyhow::Result<PicturePage> {
    let mut page = PicturePage {
        case: topic.name.clone(),
        title: topic.title.clone(),
        question: topic.question.clone(),
        notes: all.notes.clone(),
        facts: words::facts(topic, all),
        commands: topic.commands.clone(),
        ..PicturePage::default()
    };
    let standard = standard::draw(topic, all, flamegraph, output, &mut page)?;
    let section = |exhibit: &Exhibit| match exhibit {
        Exhibit::Timeline => timeline_of(topic, all),
        Exhibit::Waits => graphs::waits(topic, all),
        Exhibit::Threads => threads_of(all),
        Exhibit::Cpu => graphs::cpu(topic, all, &standard),
        Exhibit::Allocations => graphs::allocations(topic, all),
        Exhibit::Differential => change(topic, all),
    };
    page.sections = topic.exhibits.iter().filter_map(section).collect();
    page.sections.extend(requests::section_of(all));
    page.sections.extend(slowest::slowest(all));
    page.sections.extend(graphs::kept(topic, all));
    // Everybody knows these. What only ours show comes after them, in the order of the topic.
    page.sections.sort_by_key(|section| !section.has_standard_graphs());
    for section in &page.sections {
        let pictures = section.pictures.iter().map(|it| (&it.name, &it.svg));
        for (name, text) in pictures.chain(section.files.iter().map(|(name, text)| (name, text))) {
            output.write(name, text)?;
        }
        page.files.extend(section.files.iter().map(|(name, _)| name.clone()));
    }
    page.files.sort();
    // Written last.
    page.files.push("meta.json".to_owned());
    Ok(page)
}

/// Requests over time; of two servers, the first above the second.
fn timeline_of(topic: &Topic, all: &Observations) -> Option<Section> {
    let spans = all.servers.iter().map(|it| Some((it.name.as_str(), it.spans.as_ref()?)));
    let spans: Vec<_> = spans.collect::<Option<_>>()?;
    let by_name = "Each row is one request. Where the answers form a staircase, the requests wait for a span \
                   that is open only once at a time.";
    let by_role = "Each row is one request. Follow the strong bars from the top. Where they form a \
                staircase, only one request gets its turn at a time, and all others wait for it.";
    let lead = if topic.spans.is_empty() { by_name } else { by_role };
    let mut section = Section::new("Requests over time", lead.to_owned());
    let caption = "Twelve consecutive requests under load, on one time axis.".to_owned();
    let svg = timeline::draw(&spans, &topic.spans).0;
    let name = "timeline.svg".to_owned();
    section.pictures.push(Picture { name, caption, svg, height: None, standard: None });
    Some(section)
}

/// What the threads of each server did. Absent where the system does not show it.
fn threads_of(all: &Observations) -> Option<Section> {
    let lead = "The state of each thread at each look. While a worker of an async runtime is blocked, \
                for example in fsync or clock_nanosleep, its other tasks wait.";
    let mut section = Section::new("What the threads did", lead.to_owned());
    for Observation { name: server, threads, .. } in &all.servers {
        let Some(threads) = threads else { continue };
        let caption = format!(
            "{server}: about a second from the middle of {:.1} s; the shares are of the whole time. A single \
             look does not distinguish running from ready; their shares come from the scheduler's clock.",
            threads.window.as_secs_f64()
        );
        let (name, svg) = (format!("{server}.threads.svg"), threads::draw(server, threads).0);
        section.pictures.push(Picture { name, caption, svg, height: None, standard: None });
        section.tables.push(threads::table(server, threads));
    }
    Some(section).filter(|section| !section.pictures.is_empty())
}

/// The slow graph, coloured by what the fix changed.
fn change(topic: &Topic, all: &Observations) -> Option<Section> {
    let stacks = all.cpu(&topic.view)?;
    let [slow, fixed] = stacks.as_slice() else { return None };
    if slow.is_empty() || fixed.is_empty() {
        return None;
    }
    let [slow_name, fixed_name] = topic.servers.as_slice() else { return None };
    let samples = [0, 1].map(|at| all.servers[at].recording.as_ref().map_or(0, |it| it.samples));
    let sampling = Sampling::of(slow, fixed, samples);
    let mut pairs = changed(slow, fixed, NAMED);
    pairs.retain(|[slow, fixed]| sampling.differs(slow.own, fixed.own));
    let lead = "Blue is what the fix removed, with everything it called. A function that the compiler \
                inlined in only one variant appears there under its caller's name.";
    let mut section = Section::new("What the fix changed", lead.to_owned());
    let title = format!("{slow_name} to {fixed_name}: the change");
    let notes = vec![all.profiler.to_string()];
    let Drawing { svg, height } = differential::draw(title, notes, slow, fixed, &sampling);
    let caption = format!("As wide as {slow_name}, coloured by the change to {fixed_name}.");
    let (name, height) = ("diff.svg".to_owned(), Some(height));
    section.pictures.push(Picture { name, caption, svg, height, standard: None });
    let row = |[slow, fixed]: [Row; 2]| {
        let times = [slow.own, fixed.own, slow.inclusive, fixed.inclusive];
        std::iter::once(slow.name).chain(times.map(time)).collect()
    };
    let whats = ["itself", "in all"].into_iter();
    let head = whats.flat_map(|what| topic.servers.iter().map(move |it| format!("{it}, {what}")));
    let head = std::iter::once("function".to_owned()).chain(head);
    if !pairs.is_empty() {
        let caption = "CPU time per request, by what changed most";
        section.tables.push(Table::new(caption, head, pairs.into_iter().map(row)));
    }
    Some(section)
}

#[cfg(test)]
mod tests;
