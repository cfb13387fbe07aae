//! The standard flame graphs: every frame of the stacks as recorded, in the form that readers know from other tools.
//!
//! `lab-flamegraph` draws them, a program of its own. Those of two servers have one scale: CPU time per request.

use std::{
    io::{Seek as _, Write as _},
    path::Path,
    process::Command,
    time::Duration,
};

use anyhow::Context as _;
use lab_observation::{Folded, Observations, Topic};
use lab_protocol::Note;
use lab_system::{Output, Program};

use super::{super::page::PicturePage, words::time};

/// Frames below this share of their own graph are left out, in per cent: they would be narrower than a third of a pixel.
const LEAST: f64 = 0.05;
/// Why servers with samples have no graph.
const NO_TIME: &str = "no standard flame graphs: not every server has samples, CPU time and answers, so there is no CPU \
                       time per request; the stacks are in the files .folded";
/// How long `lab-flamegraph` may take.
const DRAWING: Duration = Duration::from_secs(60);

/// A standard flame graph: its file next to the page, and its height in pixels, which is the same at any width.
#[derive(Clone, Debug)]
pub struct StandardGraph {
    pub file: String,
    pub height: usize,
}

/// Writes the folded stacks of all servers and, with `program`, draws their graphs. A server without samples or with
/// a graph that cannot be drawn has none.
pub fn draw(
    topic: &Topic,
    all: &Observations,
    program: Option<&Path>,
    output: &Output,
    page: &mut PicturePage,
) -> anyhow::Result<Vec<Option<StandardGraph>>> {
    for observation in &all.servers {
        if let Some(recording) = observation.recording.as_ref().filter(|found| found.samples > 0) {
            let folded = format!("{}.folded", observation.name);
            output.write(&folded, &recording.stacks.demangled().to_string())?;
            page.files.push(folded);
        }
    }
    let graphs = vec![None; all.servers.len()];
    let Some(program) = program else { return Ok(graphs) };
    let Some(stacks) = all.whole_cpu() else {
        if !page.files.is_empty() {
            page.notes.push(Note::Sentence(NO_TIME.to_owned()));
        }
        return Ok(graphs);
    };
    let drawn = graphs_of(topic, all, &stacks).map(|graph| graph.draw(program, output, page));
    drawn.collect()
}

/// What one graph shows.
struct GraphOfServer<'a> {
    server: &'a str,
    stacks: &'a Folded,
    file: String,
    title: String,
    profiler: &'static str,
    /// What the whole width counts.
    scale: u64,
    /// The frame for what this server lacks of the scale.
    rest: &'static str,
}

fn graphs_of<'a>(
    topic: &'a Topic,
    all: &'a Observations,
    stacks: &'a [Folded],
) -> impl Iterator<Item = GraphOfServer<'a>> {
    let scale = stacks.iter().map(Folded::total).max().unwrap_or(0);
    let is_alone = topic.servers.len() == 1;
    all.servers.iter().zip(stacks).enumerate().map(move |(at, (observation, stacks))| {
        let server = observation.name.as_str();
        GraphOfServer {
            server,
            stacks,
            file: if is_alone { "raw.svg".to_owned() } else { format!("{server}.raw.svg") },
            title: if is_alone { topic.name.clone() } else { format!("{}, {server}", topic.name) },
            profiler: all.profiler.label,
            scale,
            rest: if at == 0 { "added by the fix" } else { "saved by the fix" },
        }
    })
}

impl GraphOfServer<'_> {
    fn draw(
        &self,
        program: &Path,
        output: &Output,
        page: &mut PicturePage,
    ) -> anyhow::Result<Option<StandardGraph>> {
        if self.stacks.is_empty() {
            return Ok(None);
        }
        let drawn = self.run(program).and_then(|svg| Ok((height(&svg)?, svg)));
        match drawn {
            Ok((height, svg)) => {
                output.write(&self.file, &svg)?;
                page.files.push(self.file.clone());
                Ok(Some(StandardGraph { file: self.file.clone(), height }))
            }
            // The page is worth its minute of recording without this picture, too.
            Err(error) => {
                let missing = format!("no standard flame graph of {}: {error:#}", self.server);
                page.notes.push(Note::Sentence(missing));
                Ok(None)
            }
        }
    }

    fn run(&self, program: &Path) -> anyhow::Result<String> {
        let mut stacks = tempfile::tempfile().context("cannot write a temporary file")?;
        write!(stacks, "{}", self.stacks)?;
        stacks.rewind()?;
        let subtitle = format!("{} of CPU time per request", time(self.stacks.total()));
        let mut command = Command::new(program);
        command.args(["--deterministic", "--title", &self.title, "--subtitle", &subtitle]);
        command.args(["--notes", self.profiler, "--count-name", "ns per request"]);
        // Of the whole width. Zoomed in, a narrow graph is as detailed as a wide one.
        let least = LEAST * self.stacks.total() as f64 / self.scale.max(1) as f64;
        command.args(["--min-width", &format!("{least:.6}")]);
        command.args(["--scale", &self.scale.to_string(), "--rest", self.rest]);
        Ok(String::from_utf8(Program::new(command, DRAWING).reading(stacks).wait()?)?)
    }
}

/// The height that the picture says it has.
fn height(svg: &str) -> anyhow::Result<usize> {
    let (_, from) = svg.split_once("<svg").context("it drew no SVG")?;
    let (root, _) = from.split_once('>').context("it drew no SVG")?;
    let (_, height) = root.split_once(" height=\"").context("its SVG has no height")?;
    let (height, _) = height.split_once('"').context("its SVG has no height")?;
    height.parse().context("its SVG has no height in pixels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_how_high_it_is() {
        let svg = "<?xml version=\"1.0\"?><!DOCTYPE svg><svg version=\"1.1\" height=\"590\"><g height=\"1\"/></svg>";
        assert_eq!(height(svg).unwrap(), 590);
        for (broken, why) in [
            ("", "it drew no SVG"),
            ("<svg><g height=\"1\"/></svg>", "its SVG has no height"),
            ("<svg height=\"100%\"/>", "its SVG has no height in pixels"),
        ] {
            assert_eq!(height(broken).unwrap_err().to_string(), why);
        }
    }
}
