//! One server's life: its command, its port, the wait until it is ready, and its end.

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use http::Uri;
use lab_cases::lab_itself;
use lab_protocol::{Listener, Target};
use lab_system::{free_port, process};
use tokio::{
    process::{Child, ChildStdin, Command},
    time::{Instant, sleep, timeout},
};

use super::{
    Address, Launch,
    launch::Placeholders,
    listening_process::ListeningProcess,
    output::ServerOutput,
    preload,
    search::{Attempts, ports, search, wait_for},
};

/// What to try with a server that does not listen.
const GIVE_PORT: &str = "\n  give it a port by `{port}` in its command, --port-env or --port-arg; or say --port N if it always \
     has the same one; --patience N waits for N seconds";
const LONGER: &str = "\n  what does it print? --patience N waits for N seconds";
/// When a server ended, for messages.
const BEFORE: &str = "exited before it listened";
const UNDER_LOAD: &str = "died under load";
/// What to try with a server that ends without an error.
const STAY: &str =
    "\n  a server must stay in the foreground: leave out what makes it a daemon, or ends it";
/// How long an earlier server may take to release its port.
const RELEASE: Duration = Duration::from_secs(1);
/// How long a server may take to exit: it is killed three seconds after it was asked to.
const STOP: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Server {
    name: String,
    /// The process of its supervisor; absent if it was not started here.
    supervisor: Option<u32>,
    output: Option<ServerOutput>,
    /// What it announced to be doing besides serving, which makes it too slow to be timed.
    busy_with: Option<&'static str>,
    url: Uri,
    target: Target,
    behind: ListeningProcess,
    /// The ports that it had when one of them was chosen; absent if nothing had to be chosen.
    ports: Option<BTreeSet<u16>>,
    is_announced: bool,
}

/// `lab supervise`, with the server as its child. It ends the server when its standard input closes,
/// which happens when this is dropped, and even if this process is killed. So do not kill it. A signal
/// to the process group of `lab` does not reach it.
#[derive(Debug)]
pub(super) struct Supervisor {
    /// The name of its server.
    name: String,
    process: Child,
    stdin: Option<ChildStdin>,
    output: ServerOutput,
}

impl Supervisor {
    fn start(launch: &Launch, placeholders: &Placeholders) -> anyhow::Result<Self> {
        // What a killed supervisor leaves behind becomes a child of `lab`, which then ends it.
        process::adopt_orphans().context("cannot adopt what a supervisor leaves behind")?;
        let mut command = Command::new(lab_itself()?);
        command.args(["supervise", "--"]).arg(&launch.program);
        if let Some(dir) = &launch.dir {
            command.current_dir(dir);
        }
        launch.unset.iter().for_each(|name| {
            command.env_remove(name);
        });
        let mut process = command
            .process_group(0)
            .args(launch.args.iter().map(|arg| placeholders.fill(arg)))
            .envs(launch.env.iter().map(|(key, value)| (key, placeholders.fill(value))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let mut output = ServerOutput::default();
        output.follow(process.stdout.take().context("stdout is a pipe")?);
        output.follow(process.stderr.take().context("stderr is a pipe")?);
        Ok(Self { name: launch.name.clone(), stdin: process.stdin.take(), process, output })
    }

    /// Waits until the server exits, which is always an error; reports its status and last lines.
    pub async fn died(&mut self) -> anyhow::Error {
        match self.process.wait().await {
            Ok(status) => self.why(UNDER_LOAD, status).await,
            Err(error) => anyhow::Error::new(error).context(format!("cannot watch {}", self.name)),
        }
    }

    /// Asks the server to exit, and kills it if it does not.
    ///
    /// # Errors
    ///
    /// If it has exited before: nobody may have watched it until now.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let exited = self.process.try_wait()?;
        drop(self.stdin.take());
        let ended = timeout(STOP, self.process.wait()).await;
        let status = ended.ok().with_context(|| {
            format!("{} still runs {} s after it was asked to end", self.name, STOP.as_secs())
        })??;
        if exited.is_some() || status.signal().is_some() {
            return Err(self.why(UNDER_LOAD, status).await);
        }
        Ok(())
    }

    /// Why the server ended, and what to do about it.
    async fn why(&mut self, when: &str, status: ExitStatus) -> anyhow::Error {
        let name = &self.name;
        // It reports a signal that ended the server as an exit code.
        if let Some(signal) = status.signal() {
            return anyhow!(
                "the supervisor of {name} was killed by signal {signal}, so the server ended too\n  \
                 does the server kill its parent, or does the system lack memory (`dmesg`)?"
            );
        }
        let advice = if status.success() { STAY } else { "" };
        anyhow!("{name} {when} ({}){}{advice}", exit(status), self.output.last_lines().await)
    }
}

impl Server {
    /// Starts a server, waits until it can be reached, and checks that the listener is this child
    /// or a descendant of it. One that runs already has no supervisor.
    pub(super) async fn start(
        launch: &Launch,
        placeholders: &Placeholders,
    ) -> anyhow::Result<(Self, Option<Supervisor>)> {
        let name = launch.name.clone();
        let mut placeholders = placeholders.clone();
        // Until the server listens there.
        let mut reserved = None;
        let port = match &launch.address {
            Address::Running { url, target } => {
                let server = Self {
                    name,
                    supervisor: None,
                    output: None,
                    busy_with: None,
                    url: url.clone(),
                    target: target.clone(),
                    behind: ListeningProcess::running(target.address),
                    ports: None,
                    is_announced: false,
                };
                return Ok((server, None));
            }
            Address::Announced | Address::Found => None,
            Address::Chosen => {
                let port = free_port().context("no port is free")?;
                Some(reserved.insert(port).number)
            }
            &Address::Fixed(port) => {
                ensure_is_free(port).with_context(|| name.clone())?;
                Some(port)
            }
        };
        if let Some(port) = port {
            placeholders.set("port", &port.to_string());
        }
        let mut supervisor = Supervisor::start(launch, &placeholders)?;
        let pid = supervisor.process.id().context("the child was not waited for")?;

        let patience = launch.patience();
        let attempts = Attempts::at(launch.ready.as_deref());
        let listening = timeout(patience, find(launch, port, pid, &supervisor.output, &attempts));
        let (url, ports) = tokio::select! {
            // What it announced before it exited counts.
            biased;
            listening = listening => match listening {
                Ok(found) => found.with_context(|| name.clone())?,
                Err(_) => {
                    let (trouble, advice) = unreachable(launch, port, pid, &attempts).await;
                    bail!("{name} {trouble}{}{advice}", supervisor.output.last_lines().await)
                }
            },
            status = supervisor.process.wait() => {
                return Err(supervisor.why(BEFORE, status?).await)
            }
        };
        let target: Target = lab_load::address(&url)?.into();
        let behind = match ListeningProcess::started(target.address, pid) {
            Ok(behind) => behind,
            // It was free before the start, so the command made somebody else listen, such as Docker.
            Err(behind) if matches!(launch.address, Address::Fixed(_)) => behind,
            Err(_) => match supervisor.process.try_wait()? {
                Some(status) => return Err(supervisor.why(BEFORE, status).await),
                None => bail!(
                    "{name} should listen on port {} but another process does",
                    target.address.port()
                ),
            },
        };
        if let Some(library) = preload::missing(launch, behind.pids()) {
            let complaints = supervisor.output.complaints();
            bail!(
                "{name} runs without the library `{library}`, which {} names{}\n  is it there, and is the \
                 server linked dynamically?",
                preload::VARIABLE,
                complaints.iter().map(|it| format!("\n  | {it}")).collect::<String>()
            );
        }
        let busy_with = supervisor.output.found();
        let is_announced = launch.address == Address::Announced;
        let server = Self {
            name,
            supervisor: Some(pid),
            output: Some(supervisor.output.shared()),
            busy_with,
            url,
            target,
            behind,
            ports,
            is_announced,
        };
        Ok((server, Some(supervisor)))
    }

    /// The process to measure: the one that was started, or that of a running server.
    pub fn studied_pid(&self) -> anyhow::Result<u32> {
        let why = |why| anyhow!("no process of the {} can be measured: {why}", self.name);
        self.behind.studied.clone().map_err(why)
    }

    /// Where it was found, unless it announced that itself.
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

    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// Whether it was started here, and exits when it is stopped.
    pub fn is_own(&self) -> bool {
        self.supervisor.is_some()
    }

    /// What it printed at its start about something that it missed, and went on without.
    pub fn complaints(&self) -> Vec<String> {
        self.output.as_ref().map(ServerOutput::complaints).unwrap_or_default()
    }

    /// The last panic that it printed. A panic ends a request, and the server goes on.
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

/// Waits until a server that was just started can be reached. Also returns all its ports, if it was
/// searched for.
async fn find(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    output: &ServerOutput,
    attempts: &Attempts<'_>,
) -> anyhow::Result<(Uri, Option<BTreeSet<u16>>)> {
    let (found, ports) = match port {
        _ if launch.address == Address::Announced => return Ok((output.url().await?, None)),
        Some(port) => (wait_for(port, attempts).await?, None),
        None => {
            let (found, ports) = search(pid, output, attempts).await?;
            (found, Some(ports))
        }
    };
    Ok((format!("http://{found}").parse()?, ports))
}

/// Why a server was not found in time, and what to try.
async fn unreachable(
    launch: &Launch,
    port: Option<u16>,
    pid: u32,
    attempts: &Attempts<'_>,
) -> (String, &'static str) {
    let seconds = launch.patience().as_secs_f64();
    if launch.address == Address::Announced {
        return (format!("did not print `listening on URL` within {seconds} s"), LONGER);
    }
    let listeners = process::listeners(pid).unwrap_or_default();
    let ports = ports(&listeners);
    let shown = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let (trouble, advice) = match port {
        _ if ports.is_empty()
            && let Some(path) = process::unix_listener(pid) =>
        {
            (
                format!("listens only on the unix socket {path}, not on a port,"),
                "\n  `lab` speaks HTTP over TCP: let the server listen on a port, too",
            )
        }
        None if ports.is_empty() => ("does not listen on any port".to_owned(), GIVE_PORT),
        // It was given one.
        Some(port) if ports.is_empty() => (format!("does not listen on port {port}"), LONGER),
        Some(port) if !ports.contains(&port) => (
            format!("does not listen on port {port}, but on {shown}"),
            "\n  --port N names the port that it always has",
        ),
        _ => {
            let why = match listeners.first() {
                Some(listener) if lab_load::speaks_tls(*listener).await => {
                    lab_load::IN_TLS.to_owned()
                }
                _ => attempts.obstacle().unwrap_or_else(|| "it accepts no connection".to_owned()),
            };
            return (
                format!("listens on {shown}, but is not ready after {seconds} s: {why}"),
                "\n  it has to accept a connection and, with --ready, to answer a GET with success; --patience N \
                 waits for N seconds",
            );
        }
    };
    (format!("{trouble} after {seconds} s"), advice)
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

fn exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}
