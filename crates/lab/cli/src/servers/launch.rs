//! How a server is started and found: a case's variant, or a command of the reader's own.
//!
//! The engine knows servers only through this. A case is a comparison whose commands come from its
//! case file.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context as _, ensure};

use crate::{case::Case, workspace::Workspace};

/// A recipe for starting a server, again and again.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What messages call the server.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments, in which placeholders stand for what is known only at the start: `{scratch}`
    /// a directory of the run's own, `{port}` the port to listen on, `{NAME}` the URL that the
    /// companion of that name announced.
    pub args: Vec<String>,
    /// What is added to its environment; placeholders as in the arguments.
    pub env: BTreeMap<String, String>,
    /// How its address is learnt.
    pub address: Address,
    /// Whether the program is `lab supervise` with the server as its child. It must not be killed, as
    /// it has to end that child first; it does so when its standard input closes.
    pub supervised: bool,
    /// Servers that have to run first, in their order; each is known by its name afterwards.
    pub companions: Vec<(String, Launch)>,
}

/// How the laboratory learns where a server listens.
#[derive(Clone, Debug, PartialEq)]
pub enum Address {
    /// The server takes any port and prints `listening on URL`.
    Announced,
    /// The laboratory chooses a free port, which stands for `{port}`.
    Chosen {
        /// The path that answers with success once the server is ready. Without one, a connection
        /// that is accepted is enough.
        ready: Option<String>,
    },
}

impl Launch {
    /// A case's variant, with its companions.
    pub fn of_case(workspace: &Workspace, case: &Case, variant: &str) -> anyhow::Result<Self> {
        let mut companions = Vec::new();
        for companion in &case.companions {
            let launch =
                Self::own(workspace, &companion.bin, &companion.args, BTreeMap::new(), Vec::new())?;
            companions.push((companion.name.clone(), launch));
        }
        let bin = format!("{}-{variant}", case.name);
        Self::own(workspace, &bin, &case.args, case.env.clone(), companions)
    }

    /// One of the workspace's own servers: they announce themselves, and end with their parent.
    fn own(
        workspace: &Workspace,
        bin: &str,
        args: &[String],
        env: BTreeMap<String, String>,
        companions: Vec<(String, Self)>,
    ) -> anyhow::Result<Self> {
        let args = args.iter().cloned().chain(["--exit-with-parent".to_owned()]).collect();
        let (name, program) = (bin.to_owned(), workspace.binary(bin)?);
        Ok(Self {
            name,
            program,
            args,
            env,
            address: Address::Announced,
            supervised: false,
            companions,
        })
    }

    /// A command line of the reader's own, split as a shell would split it.
    ///
    /// Such a server does not end with its parent by itself, so `lab supervise` sees to it.
    pub fn of_command(
        name: &str,
        command: &str,
        env: BTreeMap<String, String>,
        address: Address,
    ) -> anyhow::Result<Self> {
        let words = shell_words::split(command)
            .with_context(|| format!("the {name} command has unbalanced quotes: {command}"))?;
        ensure!(!words.is_empty(), "the {name} command is empty");
        let lab = std::env::current_exe().context("cannot find the path of `lab` itself")?;
        let args = ["supervise", "--"].map(str::to_owned).into_iter().chain(words).collect();
        Ok(Self {
            name: name.to_owned(),
            program: lab,
            args,
            env,
            address,
            supervised: true,
            companions: Vec::new(),
        })
    }
}
