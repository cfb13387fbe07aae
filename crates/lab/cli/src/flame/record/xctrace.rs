//! Apple's `xctrace`, which comes with Xcode: the second choice on macOS.

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use inferno::collapse::{Collapse as _, xctrace::Folder};

use super::{
    super::{Folded, Recording, Rung},
    Failure, Obstacle, Subject, program,
    roots::is_rooted,
    window,
};
use crate::doctor::System;

/// The template takes a sample of each thread that runs every millisecond.
const RATE: u32 = 1000;
/// The table of its samples.
const TABLE: &str = r#"/trace-toc/*/data/table[@schema="time-profile"]"#;

/// Whether it is there.
pub(super) fn look(system: &System) -> Result<(), Obstacle> {
    match system.program("xctrace") {
        Some(_) => Ok(()),
        None => Err(Obstacle::new("`xctrace` is missing").mend("xcode-select --install")),
    }
}

/// Samples for the window, exports the samples and reads them.
pub(super) async fn record(
    xctrace: &Path,
    subject: &Subject<'_>,
    length: Duration,
    patience: Duration,
) -> Result<Recording, Failure> {
    let file = subject.dir.join(format!("{}.trace", subject.name));
    // A directory, to which it would append another run.
    if file.exists() {
        let removed = std::fs::remove_dir_all(&file);
        let removed = removed.with_context(|| format!("cannot replace {}", file.display()));
        removed.map_err(Failure::Fatal)?;
    }
    let mut command = program::command(xctrace);
    command
        .args(["record", "--template", "Time Profiler", "--no-prompt"])
        .args(["--time-limit", &format!("{}ms", length.as_millis())])
        .args(["--attach", &subject.pid.to_string(), "--output"])
        .arg(&file);
    if let Err(obstacle) = program::run(&mut command, "xctrace record", length + patience).await {
        window::ensure_alive_for_a_while(subject.pid).await?;
        return Err(obstacle.mend("sudo DevToolsSecurity -enable").into());
    }
    window::ensure_alive(subject.pid)?;
    let mut command = program::command(xctrace);
    command.arg("export").arg("--input").arg(&file).args(["--xpath", TABLE]);
    let export = program::run(&mut command, "xctrace export", 4 * patience).await?.out;
    let stacks = read(&export)
        .map_err(|error| Obstacle::new(format!("what `xctrace` exports is odd: {error:#}")))?;
    let samples = stacks.total();
    let rooted: u64 =
        stacks.iter().filter(|(stack, _)| is_rooted(stack)).map(|(_, weight)| weight).sum();
    Ok(Recording {
        rung: Rung::Xctrace,
        samples,
        rooted_share: (samples > 0).then(|| rooted as f64 / samples as f64),
        lost_share: 0.0,
        sampled_cpu: Duration::from_secs_f64(samples as f64 / f64::from(RATE)),
        // The window is the profiler's own, so that nothing else is measured over the same time.
        system_cpu: None,
        window: length,
        file: Some(file),
        by_timer: true,
        notices: Vec::new(),
        stacks,
    })
}

/// The stacks of an export, in samples.
fn read(export: &str) -> anyhow::Result<Folded> {
    let mut folded = Vec::new();
    Folder::default().collapse(export.as_bytes(), &mut folded)?;
    String::from_utf8(folded)?.parse()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn an_export_becomes_stacks() {
        let export = r#"<?xml version="1.0"?><trace-query-result><node xpath='//table[1]'>
            <row><backtrace id="1"><frame id="2" name="handler" addr="0x2"></frame>
                <frame id="3" name="start" addr="0x1"></frame></backtrace></row>
            <row><backtrace ref="1"/></row>
            </node></trace-query-result>"#;
        assert_eq!(read(export).unwrap().to_string(), "start;handler 2\n");
        assert!(read("<trace-query-result><node></row>").is_err());
    }
}
