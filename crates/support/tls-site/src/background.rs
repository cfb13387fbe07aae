//! The site on a thread of its own, for tests and benches. It shares no runtime with the proxy.

use std::{sync::Arc, thread::JoinHandle};

use anyhow::Context as _;
use tokio::{runtime, sync::oneshot};

use crate::{Counted, Counters, Server};

/// A site that runs until it is dropped.
pub struct Background {
    url: String,
    authority: String,
    counters: Arc<Counters>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a site on a free port of the loopback.
    pub fn start() -> anyhow::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start the site's runtime")?;
        let server = {
            let _within = runtime.enter();
            Server::bind(([127, 0, 0, 1], 0).into())?
        };
        let (stop, stopped) = oneshot::channel();
        Ok(Self {
            url: server.url()?,
            authority: server.authority().to_owned(),
            counters: server.counters(),
            stop: Some(stop),
            thread: Some(std::thread::spawn(move || {
                runtime.block_on(server.run(Box::pin(async { drop(stopped.await) })));
            })),
        })
    }

    /// Where it listens: `https://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate authority to trust, as PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub fn counted(&self) -> Counted {
        self.counters.now()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
