//! A server as a child process: started, found, watched and stopped.

use std::{
    collections::VecDeque,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use hyper::Uri;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    launch::{Address, Launch},
    load, process,
};

/// The line that a server which counts its allocations prints before `listening on`.
///
/// Counting makes every allocation wait for numbers that all threads share, so such a server must
/// never be timed.
const COUNTING: &str = "counting allocations";
/// The line that a server which is built to be profiled prints before `listening on`: it does more
/// than the one that users run, and must never be timed.
const PROFILING: &str = "profiling";
/// How long a server may take until it announces itself.
const START: Duration = Duration::from_secs(20);
/// How long a server may take to end by itself.
const STOP: Duration = Duration::from_secs(4);
/// How many of its last lines are shown when it fails.
const LAST_LINES: usize = 12;

/// A running server.
///
/// It ends with us: its standard input is a pipe that only this process holds, and that closes even
/// if this process is killed. Dropped without [`Server::stop`], it is killed.
#[derive(Debug)]
pub struct Server {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    supervised: bool,
    /// What it said that it is busy with besides, so that it must not be timed.
    busy_with: Option<&'static str>,
    /// The URL that it announced.
    url: Uri,
    tail: Tail,
}

/// The last lines that a server wrote to its standard error.
#[derive(Debug)]
struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: JoinHandle<()>,
}

impl Server {
    /// Starts a server with what its placeholders stand for, waits until it can be reached, and
    /// makes sure that the listener is this very child or a child of it.
    async fn start(launch: &Launch, placeholders: &Placeholders) -> anyhow::Result<Self> {
        let mut placeholders = placeholders.clone();
        let port = match launch.address {
            Address::Announced => None,
            Address::Chosen { .. } => Some(free_port()?),
        };
        if let Some(port) = port {
            placeholders.set("port", &port.to_string());
        }
        let mut child = Command::new(&launch.program)
            .args(launch.args.iter().map(|arg| placeholders.fill(arg)))
            .envs(launch.env.iter().map(|(key, value)| (key, placeholders.fill(value))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(!launch.supervised)
            .spawn()
            .with_context(|| format!("cannot start {}", launch.program.display()))?;
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is a pipe")?).lines();
        let tail = Tail::follow(child.stderr.take().context("stderr is a pipe")?);
        let name = launch.name.clone();
        let supervised = launch.supervised;
        let mut server =
            Self { name, child, stdin, supervised, busy_with: None, url: Uri::default(), tail };

        server.url = match &launch.address {
            Address::Announced => server.announced(&mut stdout).await?,
            Address::Chosen { ready } => {
                let url = format!("http://127.0.0.1:{}", port.context("a port was chosen")?);
                let url: Uri = url.parse()?;
                server.reachable(&url, ready.as_deref()).await?;
                url
            }
        };
        // Whatever it prints from here on is read and dropped, lest a full pipe stops it.
        tokio::spawn(async move { while let Ok(Some(_)) = stdout.next_line().await {} });

        let port = server.url.port_u16().context("the announced URL has a port")?;
        ensure!(
            process::listens_on(server.pid()?, port) != Some(false),
            "{} should listen on port {port} but another process does",
            server.name
        );
        Ok(server)
    }

    /// Waits for the line `listening on URL`.
    async fn announced(
        &mut self,
        stdout: &mut Lines<BufReader<ChildStdout>>,
    ) -> anyhow::Result<Uri> {
        let announcement = async {
            while let Some(line) = stdout.next_line().await? {
                let busy_with = [COUNTING, PROFILING];
                self.busy_with =
                    busy_with.into_iter().find(|what| line == *what).or(self.busy_with);
                if let Some(url) = line.strip_prefix("listening on ") {
                    let url = url.trim();
                    return Ok(Some(url.parse().with_context(|| format!("`{url}` is no URL"))?));
                }
            }
            anyhow::Ok(None)
        };
        match timeout(START, announcement).await {
            Ok(Ok(Some(url))) => Ok(url),
            Ok(Ok(None)) => {
                let status = self.child.wait().await?;
                let (status, last_words) = (in_words(status), self.tail.words().await);
                bail!("{} ended before it listened ({status}){last_words}", self.name)
            }
            Ok(Err(error)) => Err(error.context(format!("{}: no announcement", self.name))),
            Err(_) => bail!(
                "{} did not print `listening on URL` within {} s{}",
                self.name,
                START.as_secs(),
                self.tail.words().await
            ),
        }
    }

    /// Waits until a connection is accepted, and until `ready` answers with success if it is given.
    async fn reachable(&mut self, url: &Uri, ready: Option<&str>) -> anyhow::Result<()> {
        let target = load::address(url)?;
        let reached = async {
            loop {
                if load::is_ready(target, ready).await {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            status = self.child.wait() => {
                let (status, last_words) = (in_words(status?), self.tail.words().await);
                bail!("{} ended before it listened on {target} ({status}){last_words}", self.name)
            }
            reached = timeout(START, reached) => match reached {
                Ok(()) => Ok(()),
                Err(_) => bail!(
                    "{} was not ready on {target} within {} s{}",
                    self.name,
                    START.as_secs(),
                    self.tail.words().await
                ),
            }
        }
    }

    /// The process id.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().with_context(|| format!("{} has ended", self.name))
    }

    /// The process whose CPU time and memory count: this child, or what it supervises.
    pub fn studied_pid(&self) -> anyhow::Result<u32> {
        let pid = self.pid()?;
        Ok(if self.supervised { process::first_child(pid).unwrap_or(pid) } else { pid })
    }

    /// Refuses a server that counts or is profiled: it is slower than the one that users run.
    pub fn ensure_it_can_be_timed(&self) -> anyhow::Result<()> {
        match self.busy_with {
            None => Ok(()),
            Some(busy_with) => bail!(
                "{} says that it is {busy_with}, and must not be timed; build the ordinary one \
                 with `cargo build --release`",
                self.name
            ),
        }
    }

    /// The URL that it announced.
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// Waits until the server ends by itself, which is always an error: says how, and what it
    /// last wrote.
    pub async fn died(&mut self) -> anyhow::Error {
        match self.child.wait().await {
            Ok(status) => {
                let last_words = self.tail.words().await;
                anyhow::anyhow!("{} died under load ({}){last_words}", self.name, in_words(status))
            }
            Err(error) => anyhow::Error::new(error).context(format!("cannot watch {}", self.name)),
        }
    }

    /// Asks the server to end, and kills it if it does not.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        drop(self.stdin.take());
        if timeout(STOP, self.child.wait()).await.is_err() {
            self.child.kill().await.with_context(|| format!("cannot stop {}", self.name))?;
        }
        Ok(())
    }
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

impl Tail {
    fn follow(stderr: ChildStderr) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let reader = tokio::spawn({
            let tail = lines.clone();
            async move {
                let mut lines = BufReader::new(stderr).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                    if tail.len() == LAST_LINES {
                        tail.pop_front();
                    }
                    tail.push_back(line);
                }
            }
        });
        Self { lines, reader }
    }

    /// The lines, fit for the end of an error message.
    ///
    /// What a server wrote before it died may still be in the pipe, so this reads to its end; not
    /// for long, as a process that the server started may hold the pipe open.
    async fn words(&mut self) -> String {
        if !self.reader.is_finished() {
            let _ = timeout(Duration::from_millis(500), &mut self.reader).await;
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return "; it wrote nothing to standard error".to_owned();
        }
        let lines = lines.iter().map(|line| format!("\n  | {line}"));
        format!("; its last lines:{}", lines.collect::<String>())
    }
}

/// What `{NAME}` stands for in arguments and environment.
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

/// A server that serves, with all that it needs to do so.
#[derive(Debug)]
pub struct Stage {
    /// The server under study.
    pub server: Server,
    /// The servers that it needs, in the order of their start.
    pub companions: Vec<Server>,
    /// `{scratch}`, for as long as the servers run.
    _scratch: TempDir,
}

impl Stage {
    /// Starts a server's companions and then itself, fresh and on free ports.
    pub async fn set(launch: &Launch) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
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

    /// Waits until one of the servers ends by itself; see [`Server::died`].
    pub async fn died(&mut self) -> anyhow::Error {
        let servers = std::iter::once(&mut self.server).chain(&mut self.companions);
        let deaths = servers.map(|server| Box::pin(server.died()));
        futures_util::future::select_all(deaths).await.0
    }

    /// The companions, in the order of the case file.
    pub fn companions(&self) -> &[Server] {
        &self.companions
    }

    /// Stops the variant and then its companions.
    pub async fn clear(self) -> anyhow::Result<()> {
        self.server.stop().await?;
        for companion in self.companions.into_iter().rev() {
            companion.stop().await?;
        }
        Ok(())
    }
}
