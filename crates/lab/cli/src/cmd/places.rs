//! The options for where the cases and their binaries are.

use std::path::PathBuf;

use anyhow::Context as _;
use lab_cases::{Workspace, lab_itself};
use lab_system::{System, err};

const FLAMEGRAPH: &str = "lab-flamegraph";

#[derive(Debug, clap::Args)]
pub struct Places {
    /// The workspace, if the current directory is outside it
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub root: Option<PathBuf>,
    /// Where the server binaries are, if cargo is not to build them
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub bin_dir: Option<PathBuf>,
}

impl Places {
    pub fn workspace(&self) -> anyhow::Result<Workspace> {
        Workspace::find(self.root.as_deref(), self.bin_dir.as_deref())
    }

    /// What `build` builds, or `given` if `--bin-dir` names servers, which are taken as they are.
    pub async fn build_unless_given<T>(
        &self,
        given: T,
        build: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        if self.bin_dir.is_some() { Ok(given) } else { build.await }
    }

    /// The program that draws the standard flame graph: next to `lab`, as it was built or installed, or on the `PATH`.
    /// If it is missing, a line says how to get it.
    pub fn flamegraph(&self) -> anyhow::Result<Option<PathBuf>> {
        let ours = match &self.bin_dir {
            Some(dir) => dir.join(FLAMEGRAPH),
            None => lab_itself()?.with_file_name(FLAMEGRAPH),
        };
        let found = if ours.is_file() { Some(ours) } else { System::this().program(FLAMEGRAPH) };
        if found.is_none() {
            err!(
                "note: no standard flame graph, because {FLAMEGRAPH} is missing: \
                 cargo install --path crates/lab/flamegraph --locked"
            );
        }
        Ok(found)
    }

    /// The results of the workspace, or `target/lab` outside a workspace.
    pub fn results(&self) -> anyhow::Result<PathBuf> {
        match self.workspace() {
            Ok(workspace) => Ok(workspace.results()),
            Err(_) => Ok(std::env::current_dir()
                .context("cannot read the current directory")?
                .join("target/lab")),
        }
    }
}
