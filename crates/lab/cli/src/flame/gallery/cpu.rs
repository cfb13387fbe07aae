//! CPU time of one request, slow and fixed on one scale; and the raw graphs behind it.

use std::{path::Path, process::Stdio};

use anyhow::Context as _;
use tokio::process::Command;

use super::{
    super::{
        Folded, Graph, Kind, Observation, Recording, Scene, Seen, Unit,
        output::Output,
        page::{Section, Table},
        raw, top, top_inclusive,
    },
    file, section,
    words::{busy, is_idle, share, time},
};
use crate::display::{factor, thousands};

/// How many functions a table names.
const NAMED: usize = 8;

/// The flame graphs of CPU time.
pub fn section_of(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<Option<Section>> {
    let Some(stacks) = seen.cpu(&scene.view) else { return Ok(account(seen)) };
    let mut section = section("CPU time per request", lead(seen, &stacks));
    let scale = stacks.iter().map(Folded::total).max();
    for (observation, stacks) in seen.observations.iter().zip(&stacks) {
        let name = &observation.name;
        if stacks.is_empty() {
            continue;
        }
        let mut notes = vec![seen.rung.to_string()];
        notes.extend(busy(observation));
        let graph = Graph {
            title: &format!("{name}: CPU time per request"),
            notes: &notes,
            kind: Kind::Cpu,
            unit: Unit::Nanoseconds,
            scale,
            filler: "time that the fix saves",
        };
        output.write(&format!("{name}.per-request.folded"), &stacks.to_string())?;
        let mut caption = format!("{name}: {} of CPU time for a request.", time(stacks.total()));
        if is_idle(observation) {
            let busy = busy(observation).unwrap_or_default();
            caption += &format!(" Almost idle: {busy}. Look elsewhere for where the time went.");
        }
        section.pictures.push(file(output, name, caption, &graph.draw(stacks)?)?);
        section.tables.push(table(scene, name, stacks));
    }
    Ok(Some(section))
}

/// What stands above the graphs: what a request costs, and what most of that is.
fn lead(seen: &Seen, stacks: &[Folded]) -> String {
    let names = seen.observations.iter().map(|it| it.name.as_str());
    let told = names.zip(stacks).map(|(name, stacks)| (name, stacks.total()));
    match told.collect::<Vec<_>>()[..] {
        [(slow, slow_total), (fixed, fixed_total)] => format!(
            "A request costs {} of CPU time in {slow} and {} in {fixed}: {} less. Both graphs have \
             one scale, so that a width means the same in both.",
            time(slow_total),
            time(fixed_total),
            factor(slow_total as f64 / fixed_total.max(1) as f64),
        ),
        [(_, total)] => {
            format!("A request costs {} of CPU time. The widest frames have it.", time(total))
        }
        _ => String::new(),
    }
}

/// What the system tells where no profiler may look: how much, but not where.
fn account(seen: &Seen) -> Option<Section> {
    let row = |it: &Observation| {
        let cost = it.cpu_per_request()?;
        let answered = thousands(it.answered() as f64);
        Some(vec![it.name.clone(), answered, time(u64::try_from(cost.as_nanos()).ok()?)])
    };
    let lead = "The system tells how much CPU time a request costs. Where it goes only a profiler \
                can tell, and none may be used here.";
    let mut section = section("CPU time per request", lead.to_owned());
    section.tables.push(Table {
        caption: "CPU time by the system's account".to_owned(),
        head: ["server", "requests answered", "CPU time per request"].map(str::to_owned).to_vec(),
        rows: seen.observations.iter().map(row).collect::<Option<_>>()?,
    });
    Some(section)
}

/// The functions that cost most, as text.
///
/// A case's stacks begin at its own functions, and what those call is the lesson. A stranger's begin
/// with the runtime, which calls everything: there a function's own time tells more.
fn table(scene: &Scene, name: &str, stacks: &Folded) -> Table {
    let most = match scene.is_case {
        true => top_inclusive(stacks, NAMED),
        false => top(stacks, NAMED),
    };
    let row = |row: super::super::Row| {
        vec![row.name, time(row.inclusive), share(row.inclusive, stacks.total()), time(row.own)]
    };
    Table {
        caption: format!("{name}: the functions that cost most"),
        head: ["function", "with all it calls", "share", "itself"].map(str::to_owned).to_vec(),
        rows: most.into_iter().map(row).collect(),
    }
}

/// Writes the stacks as they were recorded, and the standard graph of them.
pub async fn raw_graphs(scene: &Scene, seen: &Seen, output: &Output) -> anyhow::Result<()> {
    for observation in &seen.observations {
        let Some(recording) = &observation.recording else { continue };
        if recording.stacks.is_empty() {
            continue;
        }
        let name = &observation.name;
        output.write(&format!("{name}.folded"), &recording.stacks.to_string())?;
        let title = format!("{}, {name}: all samples as recorded", scene.name);
        let picture = output.dir().join(format!("{name}.raw.svg"));
        raw_graph(recording, &picture, &title).await?;
    }
    Ok(())
}

/// Through the `flamegraph` crate where `perf` left a file that it can read, which is not kept.
async fn raw_graph(recording: &Recording, picture: &Path, title: &str) -> anyhow::Result<()> {
    let Some(file) = &recording.file else {
        return Ok(std::fs::write(picture, raw::draw(&recording.stacks, title)?)?);
    };
    let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
    let drawn = Command::new(lab)
        .arg("raw-graph")
        .args([file.as_path(), picture])
        .arg(title)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot draw the raw graph")?;
    if !drawn.status.success() {
        std::fs::write(picture, raw::draw(&recording.stacks, title)?)?;
    }
    std::fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))
}
