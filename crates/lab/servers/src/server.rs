//! A server as a child process: start, find, watch and stop it.

use std::{
    collections::BTreeSet,
    future::Future,
    net::SocketAddr,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_model::Target;
use lab_system::process;
use tokio::{
    process::{Child, ChildStdin, Command},
    time::{Instant, sleep, timeout},
};

use super::{
    Address, Launch, Scratch,
    output::Output,
    running,
    search::{search, wait_for},
};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(20);
/// What to try with a server that does not listen.
const GIVE_PORT: &str = "\n  give it a port by `{port}` in its command, --port-env or --port-arg; or say --port N if it always \
     has the same one";
/// How long an earlier server may take to release its port.
const RELEASE: Duration = Duration::from_secs(1);
/// How long a server may take to exit after it was asked to.
const STOP: Duration = Duration::from_secs(4);
/// A running server.
///
/// Unless somebody else runs it, it exits when this process does: its standard input is a pipe that only this process holds, and
/// that closes even if this process is killed. Dropping it without [`Server::stop`] kills it.
#[derive(Debug)]
pub struct Server {
    name: String,
    /// Absent if it was not started here.
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    supervised: bool,
    /// What it announced to be doing besides serving, which makes it too slow to be timed.
    busy_with: Option<&'static str>,
    url: Uri,
    /// Where requests go, if that is not the address in `url`.
    target: Option<Target>,
    /// The process to measure, if it can be seen.
    studied: Option<u32>,
    output: Output,
}

impl Server {
    /// Starts a server, waits until it can be reached, and checks that the listener is this child
    /// or a descendant of it.
    async fn start(launch: &Launch, placeholders: &Placeholders) -> anyhow::Result<Self> {
        let mut placeholders = placeholders.clone();
        let name = launch.name.clone();
        let port = match &launch.address {
            Address::Running { url, target } => {
                let (studied, target) = (running::process_behind(target), Some(target.clone()));
                return Ok(Self { name, target, studied, ..Self::at(url.clone()) });
            }
            Address::Announced | Address::Found => None,
            Address::Chosen => Some(free_port()?),
            &Address::Fixed(port) => {
                ensure_is_free(port).with_context(|| name.clone())?;
                Some(port)
            }
        };
        if let Some(port) = port {
            placeholders.set("port", &port.to_string());
        }
        let mut command = Command::new(&launch.program);
        if let Some(dir) = &launch.dir {
            command.current_dir(dir);
        }
        let mut child = command
            .args(launch.args.iter().map(|arg| placeholders.fill(arg)))
            .envs(launch.env.iter().map(|(key, value)| (key, placeholders.fill(value))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(!launch.supervised)
            .spawn()
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let stdin = child.stdin.take();
        let mut output = Output::default();
        output.follow(child.stdout.take().context("stdout is a pipe")?);
        output.follow(child.stderr.take().context("stderr is a pipe")?);
        let pid = child.id().context("the child was not waited for")?;

        let listening = timeout(START, find(launch, port, pid, &output));
        let url = tokio::select! {
            // What it announced before it exited counts.
            biased;
            listening = listening => match listening {
                Ok(url) => url.with_context(|| name.clone())?,
                Err(_) => {
                    let (trouble, advice) = unreachable(&launch.address, port, pid);
                    bail!("{name} {trouble}{}{advice}", output.words().await)
                }
            },
            status = child.wait() => {
                let status = in_words(status?);
                bail!("{name} exited before it listened ({status}){}", output.words().await)
            }
        };
        let busy_with = output.found();
        let port = url.port_u16().context("the announced URL has a port")?;
        let is_relayed = process::listens_on(pid, port) == Some(false);
        // A fixed port was free before the start, so the command made somebody else listen, such as
        // Docker.
        ensure!(
            !is_relayed || matches!(launch.address, Address::Fixed(_)),
            "{name} should listen on port {port} but another process does"
        );
        let supervised = launch.supervised;
        let child_of = |pid| process::first_child(pid).filter(|_| supervised).unwrap_or(pid);
        let studied = (!is_relayed).then(|| child_of(pid));
        let child = Some(child);
        Ok(Self { name, child, stdin, supervised, busy_with, studied, output, ..Self::at(url) })
    }

    /// A server that was not started here.
    fn at(url: Uri) -> Self {
        Self {
            name: String::new(),
            child: None,
            stdin: None,
            supervised: false,
            busy_with: None,
            url,
            target: None,
            studied: None,
            output: Output::default(),
        }
    }

    /// The process to measure: the child, the one that it supervises, or a running server.
    pub fn studied_pid(&self) -> anyhow::Result<u32> {
        let unseen = || format!("the process of the {} cannot be seen from here", self.name);
        self.studied.with_context(unseen)
    }

    /// Fails for a server that counts or records profiles: it is slower than the one users run.
    pub fn ensure_it_can_be_timed(&self) -> anyhow::Result<()> {
        match self.busy_with {
            None => Ok(()),
            Some(busy_with) => bail!(
                "{} announces that it is {busy_with}, so it must not be timed; build the ordinary \
                 one with `cargo build --release`",
                self.name
            ),
        }
    }

    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// Where requests go.
    pub fn target(&self) -> anyhow::Result<Target> {
        match &self.target {
            Some(target) => Ok(target.clone()),
            None => Ok(lab_load::address(&self.url)?.into()),
        }
    }

    /// Whether it was started here, and exits when it is stopped.
    pub fn is_own(&self) -> bool {
        self.child.is_some()
    }

    /// Waits until the server exits, which is always an error; reports its status and last lines.
    async fn died(&mut self) -> anyhow::Error {
        let Some(child) = &mut self.child else { return std::future::pending().await };
        match child.wait().await {
            Ok(status) => {
                let last_words = self.output.words().await;
                anyhow::anyhow!("{} died under load ({}){last_words}", self.name, in_words(status))
            }
            Err(error) => anyhow::Error::new(error).context(format!("cannot watch {}", self.name)),
        }
    }

    /// Asks the server to exit, and kills it if it does not. One that was not started here goes on.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        drop(self.stdin.take());
        let Some(mut child) = self.child.take() else { return Ok(()) };
        if timeout(STOP, child.wait()).await.is_err() {
            child.kill().await.with_context(|| format!("cannot stop {}", self.name))?;
        }
        // A killed descendant may take a moment, and the next server may need the same port.
        let end = Instant::now() + RELEASE;
        let port = self.url.port_u16().unwrap_or_default();
        while self.supervised && is_taken(port) && Instant::now() < end {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

/// Waits until a server that was just started can be reached.
async fn find(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    output: &Output,
) -> anyhow::Result<Uri> {
    let ready = launch.ready.as_deref();
    let found = match port {
        _ if launch.address == Address::Announced => return output.url().await,
        Some(port) => wait_for(port, ready).await,
        None => search(pid, output, ready).await?,
    };
    Ok(format!("http://{found}").parse()?)
}

/// Why a server was not found in time, and what to try.
fn unreachable(address: &Address, port: Option<u16>, pid: u32) -> (String, &'static str) {
    if *address == Address::Announced {
        return (format!("did not print `listening on URL` within {} s", START.as_secs()), "");
    }
    let ports: BTreeSet<_> =
        process::listeners(pid).iter().flatten().map(SocketAddr::port).collect();
    let shown = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let (trouble, advice) = match port {
        _ if ports.is_empty() => ("does not listen on any port".to_owned(), GIVE_PORT),
        Some(port) if !ports.contains(&port) => (
            format!("does not listen on port {port}, but on {shown}"),
            "\n  --port N names the port that it always has",
        ),
        _ => (
            format!("listens on {shown}, but is not ready"),
            "\n  it has to accept a connection and, with --ready, to answer a GET with success",
        ),
    };
    (format!("{trouble} after {} s", START.as_secs()), advice)
}

/// Fails if a process listens on the port that a server needs.
fn ensure_is_free(port: u16) -> anyhow::Result<()> {
    let who = || process::listener_on(port).map_or(String::new(), |pid| format!(" {pid}"));
    ensure!(
        !is_taken(port),
        "another process{} already listens on port {port}: stop it first",
        who()
    );
    Ok(())
}

fn is_taken(port: u16) -> bool {
    let is_reached = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    process::is_taken(port).unwrap_or_else(is_reached)
}

/// A port that was free a moment ago.
fn free_port() -> anyhow::Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

fn in_words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The values of `{NAME}` in arguments and environment.
#[derive(Clone, Debug, Default)]
struct Placeholders(Vec<(String, String)>);

impl Placeholders {
    fn set(&mut self, name: &str, value: &str) {
        self.0.push((format!("{{{name}}}"), value.to_owned()));
    }

    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}

/// A running server with its companions.
#[derive(Debug)]
pub struct Stage {
    pub server: Server,
    companions: Vec<Server>,
    /// `{scratch}`, for as long as the servers run.
    _scratch: Scratch,
}

impl Stage {
    /// Starts a server's companions and then itself, fresh and on free ports.
    pub async fn set(launch: &Launch) -> anyhow::Result<Self> {
        let scratch = Scratch::new()?;
        let mut placeholders = Placeholders::default();
        placeholders.set("scratch", &scratch.path().display().to_string());
        let mut companions = Vec::new();
        for (name, companion) in &launch.companions {
            let server = Server::start(companion, &placeholders).await?;
            placeholders.set(name, server.url().to_string().trim_end_matches('/'));
            companions.push(server);
        }
        let server = Server::start(launch, &placeholders).await?;
        Ok(Self { server, companions, _scratch: scratch })
    }

    /// Does `work`, and fails if one of the servers exits in the meantime.
    pub async fn watch<T, E: From<anyhow::Error>>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let result = tokio::select! {
            // Check whether a server exited first; an error of `work` is only a consequence.
            biased;
            death = self.died() => return Err(death.into()),
            result = work => result,
        };
        if result.is_err() {
            // `work` may notice the lost server before the process is gone.
            if let Ok(death) = timeout(Duration::from_millis(200), self.died()).await {
                return Err(death.into());
            }
        }
        result
    }

    async fn died(&mut self) -> anyhow::Error {
        let servers = std::iter::once(&mut self.server).chain(&mut self.companions);
        let deaths = servers.map(|server| Box::pin(server.died()));
        futures_util::future::select_all(deaths).await.0
    }

    /// In the order of the case file.
    pub fn companions(&self) -> &[Server] {
        &self.companions
    }

    /// Stops the server and then its companions.
    pub async fn clear(self) -> anyhow::Result<()> {
        self.server.stop().await?;
        for companion in self.companions.into_iter().rev() {
            companion.stop().await?;
        }
        Ok(())
    }
}
