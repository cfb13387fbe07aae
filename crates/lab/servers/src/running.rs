//! A server together with the servers that it needs, for as long as some work takes.

use std::{future::Future, time::Duration};

use anyhow::Context as _;
use tokio::time::timeout;

use super::{Launch, Scratch, Server, launch::Placeholders, supervisor::Supervisor};

/// How long a server that has died may take to be seen: its supervisor exits after it.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// Servers that run.
#[derive(Debug)]
pub struct Running {
    pub server: Server,
    /// The companions, in the order of the case file.
    pub companions: Vec<Server>,
    /// `{scratch}`, for as long as the servers run.
    _scratch: Scratch,
}

impl Running {
    /// Starts a server and its companions, fresh and on free ports, does `work`, and stops them whatever
    /// `work` returns.
    ///
    /// # Errors
    ///
    /// Those of `work`; or if a server doesn't start, if one exits in the meantime, or if it is not certain any
    /// more that the server was measured at the right port.
    pub async fn with<T, E: From<anyhow::Error>>(
        launch: &Launch,
        work: impl AsyncFnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let (running, mut supervisors) = Self::open(launch).await?;
        let done = watch(&mut supervisors, work(&running)).await;
        running.close(supervisors, done).await
    }

    /// [`Self::with`], for work that asks the server. If a panic ended a request, the error says so: the
    /// server goes on, and the client only sees that no answer comes.
    ///
    /// # Errors
    ///
    /// As [`Self::with`].
    pub async fn ask<T>(
        launch: &Launch,
        work: impl AsyncFnOnce(&Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let (running, mut supervisors) = Self::open(launch).await?;
        let done = watch(&mut supervisors, work(&running)).await;
        let done = match running.server.panic() {
            Some(panic) => done.context(panic),
            None => done,
        };
        running.close(supervisors, done).await
    }

    /// The supervisor of the server is the last one.
    async fn open(launch: &Launch) -> anyhow::Result<(Self, Vec<Supervisor>)> {
        let scratch = Scratch::new()?;
        let mut placeholders = Placeholders::default();
        placeholders.set("scratch", &scratch.path().display().to_string());
        let (mut companions, mut supervisors) = (Vec::new(), Vec::new());
        for (name, companion) in &launch.companions {
            let (server, supervisor) = Server::start(companion, &placeholders).await?;
            placeholders.set(name, server.url().to_string().trim_end_matches('/'));
            companions.push(server);
            supervisors.extend(supervisor);
        }
        let (server, supervisor) = Server::start(launch, &placeholders).await?;
        supervisors.extend(supervisor);
        Ok((Self { server, companions, _scratch: scratch }, supervisors))
    }

    /// Stops the server and then its companions. What went wrong in the work comes before what goes wrong now.
    async fn close<T, E: From<anyhow::Error>>(
        self,
        supervisors: Vec<Supervisor>,
        done: Result<T, E>,
    ) -> Result<T, E> {
        let closing = async {
            let is_certain = self.server.ensure_its_port_is_certain();
            for supervisor in supervisors.into_iter().rev() {
                supervisor.stop().await?;
            }
            self.server.release().await;
            is_certain
        };
        let closed = closing.await;
        let done = done?;
        closed?;
        Ok(done)
    }
}

/// Does `work`, and fails if one of the servers exits in the meantime.
async fn watch<T, E: From<anyhow::Error>>(
    supervisors: &mut [Supervisor],
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let result = tokio::select! {
        // Check whether a server exited first; an error of `work` is only a consequence.
        biased;
        death = died(supervisors) => return Err(death.into()),
        result = work => result,
    };
    if result.is_err() {
        // `work` may notice the lost server before the process is gone.
        if let Ok(death) = timeout(LAST_BREATH, died(supervisors)).await {
            return Err(death.into());
        }
    }
    result
}

/// Waits for the first that dies; forever if nothing was started here.
async fn died(supervisors: &mut [Supervisor]) -> anyhow::Error {
    if supervisors.is_empty() {
        return std::future::pending().await;
    }
    let deaths = supervisors.iter_mut().map(|supervisor| Box::pin(supervisor.died()));
    futures_util::future::select_all(deaths).await.0
}
