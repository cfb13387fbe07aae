//! A server together with the servers that it needs.

use std::{future::Future, time::Duration};

use anyhow::Context as _;
use tokio::time::timeout;

use super::{Launch, Scratch, Server, launch::Placeholders};

/// How long a server that has died may take to be seen: its supervisor exits after it.
const LAST_BREATH: Duration = Duration::from_secs(1);

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
            if let Ok(death) = timeout(LAST_BREATH, self.died()).await {
                return Err(death.into());
            }
        }
        result
    }

    /// [`Self::watch`], for work that asks the server. If a panic ended a request, the error says so: the
    /// server goes on, and the client only sees that no answer comes.
    pub async fn ask<T>(
        &mut self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let result = self.watch(work).await;
        match self.server.panic() {
            Some(panic) => result.context(panic),
            None => result,
        }
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

    /// Stops the server and then its companions. Fails if it is not known any more whether the server was
    /// measured at the right port.
    pub async fn clear(self) -> anyhow::Result<()> {
        let is_certain = self.server.ensure_its_port_is_certain();
        self.server.stop().await?;
        for companion in self.companions.into_iter().rev() {
            companion.stop().await?;
        }
        is_certain
    }
}
