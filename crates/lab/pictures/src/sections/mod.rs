//! From what was seen to a page: each exhibit becomes a section, with its pictures as files.

mod graphs;
mod words;

use std::path::Path;

use lab_display::{count_rows, page::Table};
use lab_model::{Exhibit, Output};
use lab_observation::{Observation, Row, Sampling, Scene, Seen, changed};
use maud::Markup;
use words::time;

use super::{
    differential,
    frames::Drawing,
    page::{Content, Page, Picture, Section},
    standard, threads,
    timeline::{self, Side},
};

/// How many functions a table names.
const NAMED: usize = 8;

/// Draws all exhibits of a scene into `output`; returns the page, which is not written yet. With
/// `flamegraph`, the path of `lab-flamegraph`, graphs of CPU time link to the standard flame graph.
pub fn draw_page(
    scene: &Scene,
    seen: &Seen,
    output: &Output,
    flamegraph: Option<&Path>,
) -> anyhow::Result<Page> {
    let mut page = Page {
        case: scene.name.clone(),
        title: scene.title.clone(),
        question: scene.question.clone(),
        notices: seen.notices.clone(),
        facts: words::facts(scene, seen),
        commands: scene.commands.clone(),
        ..Page::default()
    };
    let mut standard = Vec::new();
    for observation in &seen.observations {
        let drawn = standard::draw(scene, seen, observation, flamegraph, output);
        // The page is worth its minute of recording without this picture, too.
        standard.push(drawn.unwrap_or_else(|error| {
            page.notices
                .push(format!("no standard flame graph of {}: {error:#}", observation.name));
            None
        }));
    }
    for exhibit in &scene.exhibits {
        let section = match exhibit {
            Exhibit::Timeline => timeline_of(scene, seen, output)?,
            Exhibit::Waits => graphs::waits(scene, seen, output)?,
            Exhibit::Threads => threads_of(seen, output)?,
            Exhibit::Cpu => graphs::cpu(scene, seen, output, &standard)?,
            Exhibit::Allocations => graphs::allocations(scene, seen, output)?,
            Exhibit::Counts => counts(scene),
            Exhibit::Differential => change(scene, seen, output)?,
        };
        page.sections.extend(section);
    }
    page.files = files_besides(&page, output)?;
    Ok(page)
}

/// Files that no section shows, and `meta.json`, which is written last.
fn files_besides(page: &Page, output: &Output) -> anyhow::Result<Vec<String>> {
    let shown: Vec<_> = page
        .sections
        .iter()
        .flat_map(|section| &section.pictures)
        .map(|it| it.name.as_str())
        .collect();
    let mut files = Vec::new();
    for entry in output.dir().read_dir()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !shown.contains(&name.as_str()) {
            files.push(name);
        }
    }
    files.sort();
    files.push("meta.json".to_owned());
    Ok(files)
}

/// Writes a flame graph, and shows it under its caption.
fn file(
    output: &Output,
    name: String,
    caption: String,
    drawing: &Drawing,
    standard: Option<String>,
) -> anyhow::Result<Picture> {
    output.write(&name, &drawing.svg)?;
    Ok(Picture { name, caption, content: Content::File { height: drawing.height, standard } })
}

/// Writes a picture that is also part of the page.
fn inline(output: &Output, name: String, caption: String, svg: Markup) -> anyhow::Result<Picture> {
    output.write(&name, &svg.0)?;
    Ok(Picture { name, caption, content: Content::Inline(svg) })
}

fn side(observation: &Observation) -> Option<Side<'_>> {
    Some(Side { name: &observation.name, spans: observation.spans.as_ref()? })
}

/// Requests over time; of two servers, the first above the second.
fn timeline_of(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let sides: Option<Vec<_>> = seen.observations.iter().map(side).collect();
    let Some(sides) = sides else { return Ok(None) };
    let by_name = "Each row is one request. Where the answers form a staircase, the requests wait for a span \
                   that is open only once at a time.";
    let by_role = "Each row is one request. Follow the strong bars from the top. Where they form a \
                staircase, only one request gets its turn at a time, and all others wait for it.";
    let lead = if scene.spans.is_empty() { by_name } else { by_role };
    let mut section = Section::new("Requests over time", lead.to_owned());
    let caption = "Twelve consecutive requests under load, on one time axis.".to_owned();
    let svg = timeline::draw(&sides, &scene.spans);
    section.pictures.push(inline(output, "timeline.svg".to_owned(), caption, svg)?);
    Ok(Some(section))
}

/// What the threads of each server did. Absent where the system does not show it.
fn threads_of(seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let lead = "The state of each thread, 100 times a second. While a worker of an async runtime is blocked, \
                for example in fsync or clock_nanosleep, its other tasks wait.";
    let mut section = Section::new("What the threads did", lead.to_owned());
    for Observation { name: server, threads, .. } in &seen.observations {
        let Some(threads) = threads else { continue };
        let caption = format!(
            "{server}: about a second from the middle of {:.1} s; the shares are of the whole time. A single \
             look does not distinguish running from ready; their shares come from the scheduler's clock.",
            threads.window.as_secs_f64()
        );
        let (name, svg) = (format!("{server}.threads.svg"), threads::draw(server, threads));
        section.pictures.push(inline(output, name, caption, svg)?);
        section.tables.push(threads::table(server, threads));
    }
    Ok(Some(section).filter(|section| !section.pictures.is_empty()))
}

/// What a visit makes the server do, in the exact counts of the case.
fn counts(scene: &Scene) -> Option<Section> {
    let [slow, fixed] = scene.counts.as_slice() else { return None };
    let [slow_name, fixed_name] = scene.servers.as_slice() else { return None };
    let visit = words::visit(scene);
    let lead = format!("What one {visit} makes the servers do, counted exactly.");
    let mut section = Section::new("What is done, counted", lead);
    section.tables.push(Table {
        caption: format!("Exact counts for one {visit}, from counts.toml"),
        head: vec!["count".to_owned(), slow_name.clone(), fixed_name.clone()],
        rows: count_rows(&[slow, fixed]),
    });
    Some(section)
}

/// The slow graph, coloured by what the fix changed.
fn change(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let stacks = seen.cpu(&scene.view);
    let Some([slow, fixed]) = stacks.as_deref() else { return Ok(None) };
    if slow.is_empty() || fixed.is_empty() {
        return Ok(None);
    }
    let [slow_name, fixed_name] = scene.servers.as_slice() else { return Ok(None) };
    let samples =
        [0, 1].map(|at| seen.observations[at].recording.as_ref().map_or(0, |it| it.samples));
    let sampling = Sampling::of(slow, fixed, samples);
    let mut pairs = changed(slow, fixed, NAMED);
    pairs.retain(|[slow, fixed]| sampling.differs(slow.own, fixed.own));
    let lead = "Blue is what the fix removed, with everything it called. A function that the compiler \
                inlined in only one variant appears there under its caller's name.";
    let mut section = Section::new("What the fix changed", lead.to_owned());
    let title = format!("{slow_name} to {fixed_name}: the change");
    let drawing =
        differential::draw(title, vec![seen.profiler.to_string()], slow, fixed, &sampling);
    let caption = format!("As wide as {slow_name}, coloured by the change to {fixed_name}.");
    section.pictures.push(file(output, "diff.svg".to_owned(), caption, &drawing, None)?);
    let row = |[slow, fixed]: [Row; 2]| {
        let times = [slow.own, fixed.own, slow.inclusive, fixed.inclusive];
        std::iter::once(slow.name).chain(times.map(time)).collect()
    };
    let head = ["itself", "in all"]
        .into_iter()
        .flat_map(|what| scene.servers.iter().map(move |name| format!("{name}, {what}")));
    if !pairs.is_empty() {
        section.tables.push(Table {
            caption: "CPU time per request, by what changed most".to_owned(),
            head: std::iter::once("function".to_owned()).chain(head).collect(),
            rows: pairs.into_iter().map(row).collect(),
        });
    }
    Ok(Some(section))
}

#[cfg(test)]
mod tests;
