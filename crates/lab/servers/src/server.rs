//! A running server: its port, the wait until it is ready, and the release of its port.

use std::{collections::BTreeSet, net::Ipv4Addr, time::Duration};

use anyhow::{Context as _, anyhow, bail, ensure};
use http::Uri;
use lab_protocol::{Listener, Target};
use lab_system::{Port, free_port, process};
use tokio::time::{Instant, sleep, timeout};

use super::{
    Address, Launch,
    launch::Placeholders,
    listening_process::ListeningProcess,
    loaded_program::LoadedProgram,
    output::ServerOutput,
    preload,
    reach::{find, unreachable},
    search::{Attempts, ports},
    supervisor::{BEFORE, Supervisor},
};

/// How long an earlier server may take to release its port.
const RELEASE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Server {
    name: String,
    /// The process of its supervisor; absent if it was not started here.
    supervisor: Option<u32>,
    output: Option<ServerOutput>,
    /// The extra work that the server announced, such as counting. It makes the server too slow to be timed.
    busy_with: Option<&'static str>,
    url: Uri,
    target: Target,
    behind: ListeningProcess,
    /// The ports that it had when one of them was chosen; absent if nothing had to be chosen.
    ports: Option<BTreeSet<u16>>,
    is_announced: bool,
}

impl Server {
    /// Starts a server, waits until it can be reached, and checks that the listener is this child
    /// or a descendant of it. A server that runs already has no supervisor.
    pub(super) async fn start(
        launch: &Launch,
        placeholders: &Placeholders,
    ) -> anyhow::Result<(Self, Option<Supervisor>)> {
        if let Address::Running { url, target } = &launch.address {
            let target = Target { http2: launch.http2, ..target.clone() };
            return Ok((Self::running(&launch.name, url, target), None));
        }
        // The reservation lasts until the server listens on its port.
        let port = AssignedPort::of(launch)?;
        let mut placeholders = placeholders.clone();
        if let Some(port) = &port {
            placeholders.set("port", &port.number().to_string());
        }
        let mut supervisor = Supervisor::start(launch, &placeholders)?;
        let pid = supervisor.process.id().context("the child was not waited for")?;
        let port = port.as_ref().map(AssignedPort::number);
        let (url, ports) = reached(launch, port, pid, &mut supervisor).await?;
        let target = Target { http2: launch.http2, ..lab_load::address(&url)?.into() };
        let behind = listening_process(launch, &target, pid, &mut supervisor).await?;
        ensure_preloaded(launch, &behind, &supervisor.output)?;
        let server = Self {
            name: launch.name.clone(),
            supervisor: Some(pid),
            output: Some(supervisor.output.shared()),
            busy_with: supervisor.output.found(),
            url,
            target,
            behind,
            ports,
            is_announced: launch.address == Address::Announced,
        };
        Ok((server, Some(supervisor)))
    }

    /// A server that `lab` did not start, and whose output it cannot read.
    fn running(name: &str, url: &Uri, target: Target) -> Self {
        Self {
            name: name.to_owned(),
            supervisor: None,
            output: None,
            busy_with: None,
            url: url.clone(),
            behind: ListeningProcess::running(target.address),
            target,
            ports: None,
            is_announced: false,
        }
    }

    /// The process to measure: the one that was started, or that of a running server.
    ///
    /// # Errors
    ///
    /// If no process, or more than one, listens as this server.
    pub fn studied_pid(&self) -> anyhow::Result<u32> {
        let why = |why| anyhow!("no process of the {} can be measured: {why}", self.name);
        self.behind.studied.clone().map_err(why)
    }

    /// The program of the process that listens; `None` if it can't be seen.
    pub(super) fn program(&self) -> Option<LoadedProgram> {
        LoadedProgram::of(*self.behind.pids().first()?)
    }

    /// The process and address where the server was found; `None` if the server announced its address.
    pub fn listener(&self) -> Option<Listener> {
        (!self.is_announced).then(|| self.behind.listener())
    }

    /// Fails if one of several ports was chosen too early: a server may open that of its metrics first. Also
    /// fails if the server does not listen on its port any more.
    pub(super) fn ensure_its_port_is_certain(&self) -> anyhow::Result<()> {
        let Some(now) = self.supervisor.and_then(process::listeners) else { return Ok(()) };
        let (now, port) = (ports(&now), self.target.address.port());
        if self.behind.studied.is_ok() && !now.contains(&port) {
            let now: Vec<_> = now.iter().map(u16::to_string).collect();
            let now = if now.is_empty() { "no port".to_owned() } else { now.join(", ") };
            bail!(
                "the {} stopped listening on port {port} while it was measured, and now listens on {now}: \
                 make it keep its port",
                self.name
            );
        }
        let Some(then) = &self.ports else { return Ok(()) };
        if let Some(later) = now.difference(then).next() {
            bail!(
                "the {} was reached on port {port}, and since then it also listens on port {later}: name the \
                 one to measure with --port N",
                self.name
            );
        }
        Ok(())
    }

    /// Checks that this is an ordinary server. A server that counts or records profiles is slower than the server
    /// that users run.
    ///
    /// # Errors
    ///
    /// If the server announced that it counts or records profiles.
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

    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// Whether `lab` started the server, and stops it.
    pub fn is_own(&self) -> bool {
        self.supervisor.is_some()
    }

    /// Lines that the server printed at its start about something that it lacks.
    pub fn complaints(&self) -> Vec<String> {
        self.output.as_ref().map(ServerOutput::complaints).unwrap_or_default()
    }

    /// The last panic that the server printed. A panic ends only a request, and the server goes on.
    pub fn panic(&self) -> Option<String> {
        Some(format!("{} panicked at {}", self.name, self.output.as_ref()?.panic()?))
    }

    /// Waits until its port is free again. What listens outside the process tree may take a moment, such as a
    /// container, and the next server may need the same port.
    pub(super) async fn release(&self) {
        let end = Instant::now() + RELEASE;
        while self.is_own() && is_taken(self.target.address.port()) && Instant::now() < end {
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The port that a server gets before it starts.
enum AssignedPort {
    /// No other `lab` chooses this port while the value is kept.
    Reserved(Port),
    Fixed(u16),
}

impl AssignedPort {
    /// The port of this launch, or `None` if the server chooses its port itself.
    fn of(launch: &Launch) -> anyhow::Result<Option<Self>> {
        Ok(match launch.address {
            Address::Running { .. } | Address::Announced | Address::Found => None,
            Address::Chosen => Some(Self::Reserved(free_port().context("no port is free")?)),
            Address::Fixed(port) => {
                ensure_is_free(port).with_context(|| launch.name.clone())?;
                Some(Self::Fixed(port))
            }
        })
    }

    fn number(&self) -> u16 {
        match self {
            Self::Reserved(port) => port.number,
            Self::Fixed(port) => *port,
        }
    }
}

/// Waits until the server can be reached. Returns its URL, and all its ports if it was searched for. Fails if the
/// server exits first.
async fn reached(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    supervisor: &mut Supervisor,
) -> anyhow::Result<(Uri, Option<BTreeSet<u16>>)> {
    let name = &launch.name;
    let attempts = Attempts::at(launch.ready.as_deref());
    let found = find(launch, port, pid, &supervisor.output, &attempts);
    tokio::select! {
        // The server's announcement counts even if the server exited right after it.
        biased;
        found = timeout(launch.patience(), found) => match found {
            Ok(found) => found.with_context(|| name.clone()),
            Err(_) => {
                let (trouble, advice) = unreachable(launch, port, pid, &attempts).await;
                bail!("{name} {trouble}{}{advice}", supervisor.output.last_lines().await)
            }
        },
        status = supervisor.process.wait() => Err(supervisor.why(BEFORE, status?).await),
    }
}

/// The process behind `target`. Fails if it is neither the child `pid` nor a descendant of it.
async fn listening_process(
    launch: &Launch,
    target: &Target,
    pid: u32,
    supervisor: &mut Supervisor,
) -> anyhow::Result<ListeningProcess> {
    match ListeningProcess::started(target.address, pid) {
        Ok(behind) => Ok(behind),
        // The port was free before the start, so the command made another process listen, such as Docker.
        Err(behind) if matches!(launch.address, Address::Fixed(_)) => Ok(behind),
        // A server that has exited explains the other listener, so its error is reported first.
        Err(_) => match supervisor.process.try_wait()? {
            Some(status) => Err(supervisor.why(BEFORE, status).await),
            None => bail!(
                "{} should listen on port {} but another process does",
                launch.name,
                target.address.port()
            ),
        },
    }
}

/// Fails if the server runs without the library that its `LD_PRELOAD` names.
fn ensure_preloaded(
    launch: &Launch,
    behind: &ListeningProcess,
    output: &ServerOutput,
) -> anyhow::Result<()> {
    let Some(library) = preload::missing(launch, behind.pids()) else { return Ok(()) };
    let complaints: String =
        output.complaints().iter().map(|line| format!("\n  | {line}")).collect();
    bail!(
        "{} runs without the library `{library}`, which {} names{complaints}\n  is it there, and is the server \
         linked dynamically?",
        launch.name,
        preload::VARIABLE
    );
}

/// Fails if a process listens on the port that a server needs.
fn ensure_is_free(port: u16) -> anyhow::Result<()> {
    let who = || {
        let pids = process::reached_at((Ipv4Addr::LOCALHOST, port).into())?;
        Some(format!(" {}", pids.first()?))
    };
    ensure!(
        !is_taken(port),
        "another process{} already listens on port {port}: stop it first",
        who().unwrap_or_default()
    );
    Ok(())
}

fn is_taken(port: u16) -> bool {
    let is_reached = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    process::is_taken(port).unwrap_or_else(is_reached)
}
