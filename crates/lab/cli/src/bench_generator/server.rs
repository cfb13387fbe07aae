//! The server that both generators load.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::Context as _;

use crate::servers::affinity;

/// `lab answer` as a child process. It exits when this is dropped, and when this process exits.
#[derive(Debug)]
pub struct AnswerServer {
    child: Child,
    pub address: SocketAddr,
}

impl AnswerServer {
    /// Starts it on the server's cores and waits until it listens.
    pub fn start(lab: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(lab);
        command.arg("answer").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = affinity::on_server_cores(|| command.spawn())
            .context("cannot start the server `lab answer`")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("stdout is a pipe")?;
        BufReader::new(stdout).read_line(&mut line).context("the server announces nothing")?;
        let url = line.trim().strip_prefix("listening on ").context("the server did not start")?;
        let address = lab_load::address(&url.parse()?)?;
        Ok(Self { child, address })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for AnswerServer {
    fn drop(&mut self) {
        // It exits when its input closes. Killing it first allows waiting for it here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
