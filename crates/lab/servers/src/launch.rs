//! How to start and find a server: a case's variant, or the reader's own command.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use http::Uri;
use lab_cases::{Case, Workspace};
use lab_protocol::{Http2, Target, fill};

use super::shell::ensure_plain;

/// A recipe for starting a server, again and again.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub name: String,
    pub program: PathBuf,
    /// Arguments. Placeholders stand for what is known only at the start: `{scratch}` is a directory
    /// of the run, `{port}` the port to listen on, `{NAME}` the URL that the companion announced.
    pub args: Vec<String>,
    /// Additions to the environment, with the same placeholders.
    pub env: BTreeMap<String, String>,
    /// The variables of `lab` that it does not get.
    pub unset: BTreeSet<String>,
    /// The working directory, if it is not the caller's.
    pub dir: Option<PathBuf>,
    pub address: Address,
    /// The path that succeeds once the server is ready. Without it, an accepted connection is enough.
    pub ready: Option<String>,
    /// How long it may take to start, and to answer outside a measurement; as usual if this is absent.
    pub patience: Option<Duration>,
    /// HTTP/2 instead of HTTP/1.1, if this is present.
    pub http2: Option<Http2>,
    /// Servers to start first, in this order.
    pub companions: Vec<(String, Launch)>,
}

impl Launch {
    /// A checksum of what it starts: of the command, its program, and the files that the command names. `None` for a
    /// server that runs already.
    pub fn fingerprint(&self) -> Option<u32> {
        if matches!(self.address, Address::Running { .. }) {
            return None;
        }
        let mut sum = crc32fast::Hasher::new();
        let dir = self.dir.clone().unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|dir| dir.join(&self.program));
        let programs = [dir.join(&self.program)].into_iter().chain(on_path);
        let program = programs.into_iter().find(|path| path.is_file());
        let named = self.args.iter().map(|arg| dir.join(arg)).filter(|path| path.is_file());
        for file in program.into_iter().chain(named) {
            sum.update(&fs::read(file).unwrap_or_default());
        }
        for text in self.args.iter().chain(self.env.iter().flat_map(|(name, value)| [name, value]))
        {
            sum.update(text.as_bytes());
        }
        Some(sum.finalize())
    }
}

/// The values of placeholders.
#[derive(Clone, Debug, Default)]
pub struct Placeholders(BTreeMap<String, String>);

impl Placeholders {
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    pub fn fill(&self, text: &str) -> String {
        fill(text, |name| self.0.get(name).cloned())
    }
}

/// How to find out where a server listens.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Address {
    /// The server chooses a port and prints `listening on URL`.
    #[default]
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
    ///
    /// # Errors
    ///
    /// If the binary of the server or of a companion is missing.
    pub fn of_case(workspace: &Workspace, case: &Case, variant: &str) -> anyhow::Result<Self> {
        let mut companions = Vec::new();
        for companion in &case.companions {
            let program = workspace.binary(&companion.bin)?;
            let launch = Self::announced(&companion.bin, program, companion.args.clone());
            companions.push((companion.name.clone(), launch));
        }
        let bin = case.server(variant);
        let launch = Self::announced(&bin, workspace.binary(&bin)?, case.args.clone());
        Ok(Self { env: case.env.clone(), companions, ..launch })
    }

    /// The launch of one of a case's companions, alone.
    ///
    /// # Errors
    ///
    /// If the case has none of this name, or if it isn't built.
    pub fn of_companion(workspace: &Workspace, case: &Case, name: &str) -> anyhow::Result<Self> {
        let companion = case.companions.iter().find(|companion| companion.name == name);
        let companion =
            companion.with_context(|| format!("{} has no companion `{name}`", case.name))?;
        Ok(Self::announced(
            &companion.bin,
            workspace.binary(&companion.bin)?,
            companion.args.clone(),
        ))
    }

    /// A server that announces where it listens.
    pub fn of_program(name: &str, program: &Path, args: Vec<String>) -> Self {
        Self::announced(name, program.to_owned(), args)
    }

    fn announced(name: &str, program: PathBuf, args: Vec<String>) -> Self {
        Self { name: name.to_owned(), program, args, ..Self::default() }
    }

    /// The reader's own command line, split into words like in a shell. Words such as `PORT=8080` in front of the
    /// program are for its environment.
    ///
    /// # Errors
    ///
    /// If the command is empty, has unbalanced quotes, or needs a shell.
    pub fn of_command(name: &str, command: &str) -> anyhow::Result<Self> {
        let words = shell_words::split(command)
            .with_context(|| format!("the {name} command has unbalanced quotes: {command}"))?;
        ensure_plain(name, command)?;
        let mut words = words.into_iter().peekable();
        let mut env = BTreeMap::new();
        while let Some((name, value)) = words.peek().and_then(|word| assignment(word)) {
            env.insert(name.to_owned(), value.to_owned());
            words.next();
        }
        let program = words.next().with_context(|| format!("the {name} command is empty"))?;
        let launch = Self::announced(name, program.into(), words.collect());
        Ok(Self { env, address: Address::Found, ..launch })
    }

    /// How long it may take to start, and to answer outside a measurement.
    pub fn patience(&self) -> Duration {
        self.patience.unwrap_or(lab_load::PATIENCE)
    }

    pub fn running(name: &str, url: Uri, target: Target) -> Self {
        let address = Address::Running { url, target };
        Self { address, ..Self::announced(name, PathBuf::new(), Vec::new()) }
    }
}

/// The name and the value of a variable, if a word assigns one.
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let is_right = name.chars().all(is_name) && !name.is_empty();
    (is_right && !name.starts_with(|character: char| character.is_ascii_digit()))
        .then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_in_front_of_a_program_are_for_its_environment() {
        let launch = |command| Launch::of_command("baseline", command).unwrap();
        let node = launch("NODE_ENV=production OPTIONS='--a b' node app.js MODE=fast");
        let env = [("NODE_ENV", "production"), ("OPTIONS", "--a b")];
        assert_eq!(node.env, env.map(|(name, value)| (name.into(), value.into())).into());
        assert_eq!(node.program, PathBuf::from("node"));
        assert_eq!(node.args, ["app.js", "MODE=fast"]);
        for program in ["./a=b", "1=2", "=x"] {
            assert_eq!(launch(program).program, PathBuf::from(program));
        }
        let error = Launch::of_command("baseline", "A=1").unwrap_err().to_string();
        assert_eq!(error, "the baseline command is empty");
    }
}
