//! Where the cases and their binaries are, if not where they are expected.

use std::path::PathBuf;

use anyhow::Context as _;
use lab_case::Workspace;

/// Where the cases and their binaries are.
#[derive(Debug, clap::Args)]
pub struct Places {
    /// The workspace, instead of the one around the current directory
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Where the server binaries are, instead of beside `lab` itself
    #[arg(long, global = true, value_name = "DIR")]
    pub bin_dir: Option<PathBuf>,
}

impl Places {
    /// The workspace that these options name, or the one around the current directory.
    pub fn workspace(&self) -> anyhow::Result<Workspace> {
        Workspace::find(self.root.as_deref(), self.bin_dir.as_deref())
    }

    /// The results of the workspace, or `target/lab` where there is none.
    pub fn results(&self) -> anyhow::Result<PathBuf> {
        match self.workspace() {
            Ok(workspace) => Ok(workspace.results()),
            Err(_) => Ok(std::env::current_dir()
                .context("cannot read the current directory")?
                .join("target/lab")),
        }
    }
}
