//! Where a server was found.

use std::{fmt, net::SocketAddr};

use serde::{Deserialize, Serialize};

/// Where a server was reached that did not announce it, and which process is there.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Listener {
    pub address: SocketAddr,
    /// The process that listens there; of several the first. `None` if it cannot be seen.
    pub pid: Option<u32>,
    /// The command line of the process.
    pub command: Option<String>,
    /// Why nothing is known about the CPU time of the server, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
}

/// How much of a command line is shown.
const SHOWN: usize = 80;

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        if let Some(pid) = self.pid {
            write!(f, ", process {pid}")?;
        }
        if let Some(command) = &self.command {
            let rest = if command.chars().count() > SHOWN { "…" } else { "" };
            write!(f, ": {}{rest}", command.chars().take(SHOWN).collect::<String>())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_shown_in_a_line() {
        let command = Some(format!("java {}", "x".repeat(200)));
        let address = ([127, 0, 0, 1], 80).into();
        let shown = Listener { address, pid: Some(7), command, unmeasured: None }.to_string();
        assert!(shown.starts_with("127.0.0.1:80, process 7: java xxx"), "{shown}");
        assert!(shown.ends_with("xx…") && shown.chars().count() < 120, "{shown}");
    }
}
