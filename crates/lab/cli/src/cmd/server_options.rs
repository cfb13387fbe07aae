//! The options of verbs that run your own server: its port, its requests and its load.

use std::{path::Path, time::Duration};

use lab_load::PATIENCE;
use lab_protocol::Load;
use lab_servers::{Address, Launch, RequestOptions, Subject};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Finding a server")]
pub struct OwnServer {
    /// The port that the server always listens on; without it, `lab` finds the port
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Give the server a free port in this environment variable
    #[arg(long, value_name = "NAME")]
    pub port_env: Option<String>,
    /// Give the server a free port behind this argument
    #[arg(long, value_name = "ARG", allow_hyphen_values = true, hide_short_help = true)]
    pub port_arg: Option<String>,
    /// The server is ready once a GET of this path succeeds
    ///
    /// Without it, it is ready once it accepts connections.
    #[arg(long, value_name = "PATH")]
    pub ready: Option<String>,
    /// Seconds that a server may take to start, and for each answer before the load begins
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE.as_secs(), hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub patience: u64,
    #[command(flatten)]
    pub requests: RequestOptions,
}

/// The load of the verbs that let you choose it.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Load")]
pub struct OwnLoad {
    /// Users; each waits for an answer before the next request
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: u32,
    /// Milliseconds that a user pauses between an answer and the next request
    #[arg(long, value_name = "MS", default_value_t = 0, hide_short_help = true, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub think_ms: u64,
}

impl OwnServer {
    /// Servers, each given as a name and a command, and what they are asked. `dir` is for the bodies of requests, as long
    /// as the servers are used.
    pub fn subjects(&self, commands: &[(&str, &str)], dir: &Path) -> anyhow::Result<Vec<Subject>> {
        let requests = self.requests.all(&[], dir)?;
        let mut subjects = Vec::new();
        for (name, command) in commands {
            subjects.push(Subject::new(name, self.launch(name, command, None)?, requests.clone()));
        }
        Ok(subjects)
    }

    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }

    pub fn launch(&self, name: &str, command: &str, dir: Option<&Path>) -> anyhow::Result<Launch> {
        let mut command = command.to_owned();
        if let Some(arg) = &self.port_arg {
            command += &format!(" {} {{port}}", shell_words::quote(arg));
        }
        let mut launch = Launch::of_command(name, &command)?;
        if let Some(variable) = &self.port_env {
            launch.env.insert(variable.clone(), "{port}".to_owned());
        }
        let address = match self.port {
            Some(port) => Address::Fixed(port),
            None if command.contains("{port}") || self.port_env.is_some() => Address::Chosen,
            None => Address::Found,
        };
        let (dir, ready) = (dir.map(Path::to_owned), self.ready.clone());
        let patience = Some(self.patience());
        Ok(Launch { dir, address, ready, patience, ..launch })
    }
}

impl OwnLoad {
    pub fn load(self) -> Load {
        Load { users: self.users as usize, think_ms: self.think_ms, connections: 1 }
    }
}
