//! The process behind the address of a server.

use std::net::{SocketAddr, TcpListener};

use lab_protocol::Listener;
use lab_system::{process, without_secrets};

/// The process that accepts the connections to an address.
#[derive(Debug)]
pub struct ListeningProcess {
    pub address: SocketAddr,
    /// The processes that listen there, as far as they can be seen.
    pids: Vec<u32>,
    /// The process to measure, with its descendants. The error says why no process can be measured.
    pub studied: Result<u32, String>,
}

impl ListeningProcess {
    /// A server that `lab` did not start.
    pub fn running(address: SocketAddr) -> Self {
        // Only an address of this machine can be listened on.
        let is_here = TcpListener::bind((address.ip(), 0)).is_ok();
        let pids = process::reached_at(address).filter(|_| is_here).unwrap_or_default();
        let studied = process::root_of(&pids).ok_or_else(|| why_none(address, &pids));
        Self { address, pids, studied }
    }

    /// A server that `lab` started as the child of `supervisor`. The error says that another process
    /// listens instead.
    pub fn started(address: SocketAddr, supervisor: u32) -> Result<Self, Self> {
        let server = process::first_child(supervisor).unwrap_or(supervisor);
        let Some(pids) = process::reached_at(address) else {
            return Ok(Self { address, pids: Vec::new(), studied: Ok(server) });
        };
        let family = process::pids(supervisor);
        let own = pids.iter().filter(|pid| family.contains(pid)).count();
        let is_one = own > 0 && own == pids.len();
        let studied = if is_one { Ok(server) } else { Err(why_none(address, &pids)) };
        let found = Self { address, pids, studied };
        if own > 0 { Ok(found) } else { Err(found) }
    }

    /// The processes that listen, as far as they can be seen.
    pub fn pids(&self) -> &[u32] {
        &self.pids
    }

    /// The listener in the form of the record.
    pub fn listener(&self) -> Listener {
        let pid = self.pids.first().copied();
        let unmeasured = self.studied.as_ref().err().cloned();
        Listener { address: self.address, pid, command: pid.and_then(command), unmeasured }
    }
}

fn command(pid: u32) -> Option<String> {
    Some(lab_system::plain(&without_secrets(&process::command(pid)?)))
}

/// Why no single process is the server. A container's processes may be invisible, for example.
fn why_none(address: SocketAddr, pids: &[u32]) -> String {
    let stranger = |one| pids.iter().find(|other| process::root_of(&[one, **other]).is_none());
    let pair = pids.iter().find_map(|one| Some([one, stranger(*one)?]));
    let Some(pair) = pair else { return "its process cannot be seen from here".to_owned() };
    let [one, other] = pair.map(|pid| format!("{pid} ({})", command(*pid).unwrap_or_default()));
    format!("the unrelated processes {one} and {other} both listen on {address}")
}
