//! A server as a child process: started, found, watched and stopped.

use std::{
    collections::VecDeque,
    path::Path,
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

use crate::{case::Case, process, workspace::Workspace};

/// How long a server may take until it announces itself.
const START: Duration = Duration::from_secs(20);
/// How long a server may take to end by itself.
const STOP: Duration = Duration::from_secs(4);
/// How many of its last lines are shown when it fails.
const LAST_LINES: usize = 12;

/// A running server.
///
/// It is told to end with us: its standard input is a pipe that only this process holds, and that
/// closes even if this process is killed. Dropped without [`Server::stop`], it is killed.
#[derive(Debug)]
pub struct Server {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
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
    /// Starts `binary`, waits for its announcement, and makes sure that the listener is this very
    /// child.
    async fn start(
        binary: &Path,
        args: &[String],
        env: &[(String, String)],
    ) -> anyhow::Result<Self> {
        let name = binary.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut child = Command::new(binary)
            .args(args)
            .arg("--exit-with-parent")
            .envs(env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is a pipe")?).lines();
        let mut tail = Tail::follow(child.stderr.take().context("stderr is a pipe")?);

        let url = match timeout(START, announcement(&mut stdout)).await {
            Ok(Ok(Some(url))) => url,
            Ok(Ok(None)) => {
                let status = child.wait().await?;
                bail!(
                    "{name} ended before it listened ({}){}",
                    in_words(status),
                    tail.words().await
                );
            }
            Ok(Err(error)) => return Err(error.context(format!("{name}: no announcement"))),
            Err(_) => {
                let seconds = START.as_secs();
                bail!("{name} did not announce itself within {seconds} s{}", tail.words().await);
            }
        };
        // Whatever it prints from here on is read and dropped, lest a full pipe stops it.
        tokio::spawn(async move { while let Ok(Some(_)) = stdout.next_line().await {} });

        let server = Self { name, child, stdin, url, tail };
        let port = server.url.port_u16().context("the announced URL has a port")?;
        ensure!(
            process::listens_on(server.pid()?, port) != Some(false),
            "{} announced port {port} but another process listens there",
            server.name
        );
        Ok(server)
    }

    /// The process id.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().with_context(|| format!("{} has ended", self.name))
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

/// The URL after `listening on `, or `None` if the output ends without it.
async fn announcement(stdout: &mut Lines<BufReader<ChildStdout>>) -> anyhow::Result<Option<Uri>> {
    while let Some(line) = stdout.next_line().await? {
        if let Some(url) = line.strip_prefix("listening on ") {
            return Ok(Some(url.trim().parse().with_context(|| format!("`{url}` is no URL"))?));
        }
    }
    Ok(None)
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

/// A variant that serves, with all that it needs to do so.
#[derive(Debug)]
pub struct Stage {
    /// The variant's server.
    pub server: Server,
    companions: Vec<Server>,
    scratch: TempDir,
}

impl Stage {
    /// Starts the companions of a case and then one of its variants, fresh and on free ports.
    pub async fn set(workspace: &Workspace, case: &Case, variant: &str) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
        let mut names = vec![("{scratch}".to_owned(), scratch.path().display().to_string())];
        let filled = |text: &String, names: &[(String, String)]| {
            names.iter().fold(text.clone(), |text, (name, value)| text.replace(name, value))
        };
        let mut companions = Vec::new();
        for companion in &case.companions {
            let args: Vec<_> = companion.args.iter().map(|arg| filled(arg, &names)).collect();
            let server = Server::start(&workspace.binary(&companion.bin)?, &args, &[]).await?;
            let url = server.url().to_string();
            names.push((format!("{{{}}}", companion.name), url.trim_end_matches('/').to_owned()));
            companions.push(server);
        }
        let args: Vec<_> = case.args.iter().map(|arg| filled(arg, &names)).collect();
        let env: Vec<_> =
            case.env.iter().map(|(key, value)| (key.clone(), filled(value, &names))).collect();
        let binary = workspace.binary(&format!("{}-{variant}", case.name))?;
        let server = Server::start(&binary, &args, &env).await?;
        Ok(Self { server, companions, scratch })
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

    /// A directory that lives as long as the stage.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
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
