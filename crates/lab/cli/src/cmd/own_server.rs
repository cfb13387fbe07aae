//! The options of verbs that run a server of the reader's own: how it gets its port, and its load.

use std::collections::BTreeMap;

use anyhow::ensure;

use crate::{
    launch::{Address, Launch},
    load::Load,
};

/// How a server that knows nothing of the laboratory is reached and loaded.
#[derive(Debug, clap::Args)]
pub struct OwnServer {
    /// Give the server its port in this environment variable
    #[arg(long, value_name = "NAME")]
    pub port_env: Option<String>,
    /// Give the server its port behind this argument
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub port_arg: Option<String>,
    /// The server is ready once a GET of this path succeeds; without it, once it accepts connections
    #[arg(long, value_name = "PATH")]
    pub ready: Option<String>,
    /// Users, who each wait for their answer before they ask again
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: u32,
    /// Milliseconds that a user pauses between an answer and the next request
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub think_ms: u64,
}

/// What to do about a server that does not say where it listens.
pub const NO_ADDRESS: &str = "a server that does not announce itself needs `{port}` in its command, --port-env or --port-arg";

impl OwnServer {
    /// How `command` is started under the name `name`.
    pub fn launch(&self, name: &str, command: &str) -> anyhow::Result<Launch> {
        let mut command = command.to_owned();
        let mut env = BTreeMap::new();
        if let Some(arg) = &self.port_arg {
            command += &format!(" {} {{port}}", shell_words::quote(arg));
        }
        if let Some(variable) = &self.port_env {
            env.insert(variable.clone(), "{port}".to_owned());
        }
        let chosen = command.contains("{port}") || !env.is_empty();
        ensure!(
            chosen || self.ready.is_none(),
            "--ready is for a server that gets its port from `{{port}}`, --port-env or --port-arg"
        );
        let address = match chosen {
            true => Address::Chosen { ready: self.ready.clone() },
            false => Address::Announced,
        };
        Launch::of_command(name, &command, env, address)
    }

    /// Who asks, and how often.
    pub fn load(&self) -> Load {
        Load { users: self.users as usize, think_ms: self.think_ms, connections: 1 }
    }
}
