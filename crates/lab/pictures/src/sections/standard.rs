//! The standard flame graph: every sample as recorded, for readers who know its form from other tools.
//!
//! `lab-flamegraph` draws it, a program of its own. All that it shares with the graphs of a page is the
//! recording: they show time per request of a view of it, and this one its samples.

use std::{fs::File, path::Path, process::Command, time::Duration};

use lab_observation::{Observation, Topic};
use lab_protocol::Note;
use lab_system::{Output, Program};

use super::super::page::PicturePage;

/// How long `lab-flamegraph` may take.
const DRAWING: Duration = Duration::from_secs(60);

/// Writes the folded stacks of a server and, with `program`, the graph that is drawn from this file; returns
/// the name of the graph's file.
pub fn draw(
    topic: &Topic,
    observation: &Observation,
    program: Option<&Path>,
    output: &Output,
    page: &mut PicturePage,
) -> anyhow::Result<Option<String>> {
    let server = &observation.name;
    let Some(recording) = observation.recording.as_ref().filter(|it| it.samples > 0) else {
        return Ok(None);
    };
    let folded = format!("{server}.folded");
    output.write(&folded, &recording.stacks.demangled().to_string())?;
    let path = output.dir().join(&folded);
    page.files.push(folded);
    let Some(program) = program else { return Ok(None) };
    let (subject, picture) = match topic.servers.len() {
        1 => (topic.name.clone(), "raw.svg".to_owned()),
        _ => (format!("{}, {server}", topic.name), format!("{server}.raw.svg")),
    };
    let title = format!("{subject}: all samples as recorded");
    match run(program, &path, &title, recording.profiler.label) {
        Ok(svg) => output.write(&picture, &svg)?,
        // The page is worth its minute of recording without this picture, too.
        Err(error) => {
            let missing = format!("no standard flame graph of {server}: {error:#}");
            page.notes.push(Note::Sentence(missing));
            return Ok(None);
        }
    }
    page.files.push(picture.clone());
    Ok(Some(picture))
}

fn run(program: &Path, folded: &Path, title: &str, subtitle: &str) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    command.args(["--deterministic", "--title", title, "--subtitle", subtitle]);
    let drawn = Program::new(command, DRAWING).reading(File::open(folded)?).wait()?;
    Ok(String::from_utf8(drawn)?)
}
