//! The standard flame graph of a recording, for readers who know its form from other tools.

use std::{
    fs::File,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};

/// Lets `program` (`lab-flamegraph`) draw a file of folded stacks.
pub fn draw(program: &Path, folded: &Path, title: &str, subtitle: &str) -> anyhow::Result<String> {
    let drawn = Command::new(program)
        .args(["--deterministic", "--title", title, "--subtitle", subtitle])
        .stdin(File::open(folded)?)
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let message = String::from_utf8_lossy(&drawn.stderr);
    ensure!(drawn.status.success(), "{} failed: {}", program.display(), message.trim());
    Ok(String::from_utf8(drawn.stdout)?)
}
