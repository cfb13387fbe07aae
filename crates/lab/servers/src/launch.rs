//! How to start and find a server: a case's variant, or the reader's own command.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context as _, ensure};
use http::Uri;
use lab_model::{Case, Target, Workspace};

/// A recipe for starting a server, again and again.
#[derive(Clone, Debug)]
pub struct Launch {
    pub name: String,
    pub program: PathBuf,
    /// Arguments. Placeholders stand for what is known only at the start: `{scratch}` is a directory
    /// of the run, `{port}` the port to listen on, `{NAME}` the URL that the companion announced.
    pub args: Vec<String>,
    /// Additions to the environment, with the same placeholders.
    pub env: BTreeMap<String, String>,
    /// The working directory, if it is not the caller's. `program` has to be an absolute path then.
    pub dir: Option<PathBuf>,
    pub address: Address,
    /// The path that succeeds once the server is ready. Without it, an accepted connection is enough.
    pub ready: Option<String>,
    /// Whether the program is `lab supervise` with the server as its child. Do not kill it: it stops
    /// that child when its standard input closes.
    pub supervised: bool,
    /// Servers to start first, in this order.
    pub companions: Vec<(String, Launch)>,
}

/// How to find out where a server listens.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// The server chooses a port and prints `listening on URL`.
    Announced,
    /// The laboratory looks at the sockets and the output of the server.
    Found,
    /// The laboratory chooses a free port and passes it as `{port}`.
    Chosen,
    /// The server always listens on this port.
    Fixed(u16),
    /// The server runs already. Nobody starts or stops it.
    Running { url: Uri, target: Target },
}

impl Launch {
    /// A case's variant, with its companions.
    pub fn of_case(workspace: &Workspace, case: &Case, variant: &str) -> anyhow::Result<Self> {
        let mut companions = Vec::new();
        for companion in &case.companions {
            let launch = Self::own(workspace, &companion.bin, &companion.args)?;
            companions.push((companion.name.clone(), launch));
        }
        let launch = Self::own(workspace, &case.server(variant), &case.args)?;
        Ok(Self { env: case.env.clone(), companions, ..launch })
    }

    /// One of the workspace's own servers.
    fn own(workspace: &Workspace, bin: &str, args: &[String]) -> anyhow::Result<Self> {
        let args = args.iter().cloned().chain(["--exit-with-parent".to_owned()]).collect();
        Ok(Self::announced(bin, workspace.binary(bin)?, args))
    }

    /// A server that announces itself and exits with its parent.
    fn announced(name: &str, program: PathBuf, args: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            program,
            args,
            env: BTreeMap::new(),
            dir: None,
            address: Address::Announced,
            ready: None,
            supervised: false,
            companions: Vec::new(),
        }
    }

    /// The reader's own command line, split into words like in a shell.
    ///
    /// `lab supervise` runs it, so that the server exits when `lab` does.
    pub fn of_command(
        name: &str,
        command: &str,
        env: BTreeMap<String, String>,
        dir: Option<PathBuf>,
        address: Address,
        ready: Option<String>,
    ) -> anyhow::Result<Self> {
        let words = shell_words::split(command)
            .with_context(|| format!("the {name} command has unbalanced quotes: {command}"))?;
        ensure!(!words.is_empty(), "the {name} command is empty");
        let args = ["supervise", "--"].map(str::to_owned).into_iter().chain(words).collect();
        let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
        let launch = Self::announced(name, lab, args);
        Ok(Self { env, dir, address, ready, supervised: true, ..launch })
    }

    /// A server that runs already.
    pub fn running(name: &str, url: Uri, target: Target) -> Self {
        let address = Address::Running { url, target };
        Self { address, ..Self::announced(name, PathBuf::new(), Vec::new()) }
    }
}
