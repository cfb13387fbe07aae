//! A server as a child process: start, find, watch and stop it.

use std::{
    future::Future,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use http::Uri;
use lab_load::process;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use crate::servers::{Address, Launch, Scratch};

/// What a server that counts its allocations announces. Each allocation updates counters that all
/// threads share, so such a server must not be timed.
const COUNTING: &str = "counting allocations";
/// What a server that is built for profiling announces. It does more than the one users run.
const PROFILING: &str = "profiling";
/// How long a server may take to announce itself.
const START: Duration = Duration::from_secs(20);
/// How long a server may take to exit after it was asked to.
const STOP: Duration = Duration::from_secs(4);
/// How many of its last lines are shown when it fails.
const LAST_LINES: usize = 12;
/// How much of its standard error is kept for these lines, at least.
const LAST_BYTES: usize = 8 << 10;

/// A running server.
///
/// It exits when this process does: its standard input is a pipe that only this process holds, and
/// that closes even if this process is killed. Dropping it without [`Server::stop`] kills it.
#[derive(Debug)]
pub struct Server {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    supervised: bool,
    /// What it announced to be doing besides serving, which makes it too slow to be timed.
    busy_with: Option<&'static str>,
    url: Uri,
    tail: Tail,
}

/// The last bytes that a process wrote to its standard error. They need not be text.
#[derive(Debug)]
pub struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Server {
    /// Starts a server, waits until it can be reached, and checks that the listener is this child
    /// or a descendant of it.
    async fn start(launch: &Launch, placeholders: &Placeholders) -> anyhow::Result<Self> {
        let mut placeholders = placeholders.clone();
        let port = match launch.address {
            Address::Announced => None,
            Address::Chosen { .. } => Some(free_port()?),
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
        let stdout = BufReader::new(child.stdout.take().context("stdout is a pipe")?);
        let mut tail = Tail::follow(child.stderr.take().context("stderr is a pipe")?);
        let name = launch.name.clone();

        let listening = async {
            match &launch.address {
                Address::Announced => announced(stdout).await,
                Address::Chosen { ready } => {
                    // At once: a server that prints much before it listens must not block either.
                    drain(stdout);
                    let url = format!("http://127.0.0.1:{}", port.context("a port was chosen")?);
                    let url: Uri = url.parse()?;
                    reachable(&url, ready.as_deref()).await?;
                    Ok((url, None))
                }
            }
        };
        let (url, busy_with) = tokio::select! {
            // What it announced before it exited counts.
            biased;
            listening = timeout(START, listening) => match listening {
                Ok(listening) => listening.with_context(|| name.clone())?,
                Err(_) => {
                    let what = match launch.address {
                        Address::Announced => "did not print `listening on URL`",
                        Address::Chosen { .. } => "was not ready on its port",
                    };
                    bail!("{name} {what} within {} s{}", START.as_secs(), tail.words().await)
                }
            },
            status = child.wait() => {
                let status = in_words(status?);
                bail!("{name} exited before it listened ({status}){}", tail.words().await)
            }
        };
        let supervised = launch.supervised;
        let server = Self { name, child, stdin, supervised, busy_with, url, tail };
        let port = server.url.port_u16().context("the announced URL has a port")?;
        ensure!(
            process::listens_on(server.pid()?, port) != Some(false),
            "{} should listen on port {port} but another process does",
            server.name
        );
        Ok(server)
    }

    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().with_context(|| format!("{} has exited", self.name))
    }

    /// The process to measure: this child, or the one that it supervises.
    pub fn studied_pid(&self) -> anyhow::Result<u32> {
        let pid = self.pid()?;
        Ok(if self.supervised { process::first_child(pid).unwrap_or(pid) } else { pid })
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

    /// Waits until the server exits, which is always an error; reports its status and last lines.
    async fn died(&mut self) -> anyhow::Error {
        match self.child.wait().await {
            Ok(status) => {
                let last_words = self.tail.words().await;
                anyhow::anyhow!("{} died under load ({}){last_words}", self.name, in_words(status))
            }
            Err(error) => anyhow::Error::new(error).context(format!("cannot watch {}", self.name)),
        }
    }

    /// Asks the server to exit, and kills it if it does not.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        drop(self.stdin.take());
        if timeout(STOP, self.child.wait()).await.is_err() {
            self.child.kill().await.with_context(|| format!("cannot stop {}", self.name))?;
        }
        Ok(())
    }
}

/// Waits for the line `listening on URL`, and drops all that follows. Also returns what the server
/// announced to be busy with.
async fn announced(
    mut stdout: BufReader<ChildStdout>,
) -> anyhow::Result<(Uri, Option<&'static str>)> {
    let mut busy_with = None;
    let mut line = Vec::new();
    while stdout.read_until(b'\n', &mut line).await? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        busy_with = [COUNTING, PROFILING].into_iter().find(|what| text == *what).or(busy_with);
        if let Some(url) = text.strip_prefix("listening on ") {
            let url = url.trim();
            let url = url.parse().with_context(|| format!("`{url}` is no URL"))?;
            drain(stdout);
            return Ok((url, busy_with));
        }
        line.clear();
    }
    // It closed its output, so it should exit.
    std::future::pending().await
}

/// Waits until a connection is accepted or, if given, a GET of `ready` succeeds.
async fn reachable(url: &Uri, ready: Option<&str>) -> anyhow::Result<()> {
    let target = lab_load::address(url)?;
    while !lab_load::is_ready(target, ready).await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Reads and drops all that a server prints until it exits. A full pipe would block it, and a closed
/// one would kill it.
fn drain(mut stdout: BufReader<ChildStdout>) {
    tokio::spawn(async move { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await });
}

/// A port that was free a moment ago.
pub fn free_port() -> anyhow::Result<u16> {
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
    pub fn follow(mut stderr: ChildStderr) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = tokio::spawn({
            let tail = bytes.clone();
            async move {
                let mut piece = [0; 4096];
                while let Ok(read @ 1..) = stderr.read(&mut piece).await {
                    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                    tail.extend_from_slice(&piece[..read]);
                    if tail.len() > 2 * LAST_BYTES {
                        let surplus = tail.len() - LAST_BYTES;
                        tail.drain(..surplus);
                    }
                }
            }
        });
        Self { bytes, reader }
    }

    /// The last lines, as the end of an error message.
    ///
    /// The last of them may still be in the pipe, so this reads on for a moment. A process that the
    /// server started may keep the pipe open.
    pub async fn words(&mut self) -> String {
        if !self.reader.is_finished() {
            let _ = timeout(Duration::from_millis(500), &mut self.reader).await;
        }
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().collect();
        if lines.is_empty() {
            return "; it wrote nothing to standard error".to_owned();
        }
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let last = last.iter().map(|line| format!("\n  | {line}"));
        format!("; its last lines:{}", last.collect::<String>())
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
