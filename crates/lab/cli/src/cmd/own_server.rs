//! The options of verbs that run your own server: its port, its requests and its load.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, ensure};
use lab_load::{Load, allow_connections};

use crate::{
    bench::Comparison,
    servers::{Address, Launch, Requests, Scratch, learn_answers},
};

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
    /// Users; each waits for an answer before the next request
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: u32,
    /// Milliseconds that a user pauses between an answer and the next request
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000))]
    pub think_ms: u64,
}

const NO_ADDRESS: &str = "a server that does not print `listening on http://IP:PORT` needs `{port}` in its command, --port-env or --port-arg";

impl OwnServer {
    /// A comparison of servers, each given as a name, a command, and its working directory if it is not
    /// the caller's. The first server's answers are the right answers for the others.
    pub async fn comparison(
        &self,
        name: &str,
        requests: &Requests,
        commands: &[(&str, &str, Option<&Path>)],
    ) -> anyhow::Result<Comparison> {
        let files = Scratch::new()?;
        let mut asks = requests.asks(files.path())?;
        let mut subjects = Vec::new();
        for (name, command, dir) in commands {
            subjects.push(((*name).to_owned(), self.launch(name, command, *dir)?));
        }
        let learned = learn_answers(&mut asks, &subjects).await;
        let announced = subjects.iter().any(|(_, launch)| launch.address == Address::Announced);
        let learned = if announced { learned.context(NO_ADDRESS) } else { learned };
        if let Some(note) = learned? {
            eprintln!("note: {note}");
        }
        let load = Load { users: self.users as usize, think_ms: self.think_ms, connections: 1 };
        allow_connections(load.users)?;
        let name = name.to_owned();
        let allow_unfinished = Vec::new();
        let layouts = Vec::new();
        Ok(Comparison {
            name,
            load,
            locust: None,
            asks,
            subjects,
            layouts,
            allow_unfinished,
            _files: files,
        })
    }

    pub fn launch(&self, name: &str, command: &str, dir: Option<&Path>) -> anyhow::Result<Launch> {
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
            "--ready needs `{{port}}` in the command, --port-env or --port-arg"
        );
        let address = match chosen {
            true => Address::Chosen { ready: self.ready.clone() },
            false => Address::Announced,
        };
        Launch::of_command(name, &command, env, dir.map(Path::to_owned), address)
    }
}
