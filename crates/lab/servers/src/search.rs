//! Finds the address of a server that was not given a port.
//!
//! The sockets are the truth: a server may announce an address before it listens there, or not at all,
//! and its output also names other servers. So an announcement only picks one of the sockets. Without
//! `/proc`, where the sockets cannot be seen, the announcement alone counts.

use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{bail, ensure};
use lab_load::is_ready;
use lab_system::process;
use tokio::time::{Instant, sleep};

use super::output::ServerOutput;

const POLL: Duration = Duration::from_millis(20);
/// How long the same sockets must listen: a server opens one after the other.
const STABLE: Duration = Duration::from_millis(200);
/// How long to wait for an announcement that picks one of several sockets.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the first attempt to reach a server may take; the next one may take twice as long. A connection may
/// be lost in the queue of a server that has just begun to listen.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);
const NO_LOOPBACK: &str =
    "the loopback network is down here, so no server can be reached: `ip link set lo up` starts it";

/// Attempts to reach a server that was just started.
#[derive(Debug)]
pub struct Attempts<'a> {
    /// The path that succeeds once the server is ready. Without it, an accepted connection is enough.
    path: Option<&'a str>,
    last: Mutex<LastAttempt>,
}

#[derive(Debug)]
struct LastAttempt {
    patience: Duration,
    /// Why it failed.
    obstacle: Option<String>,
}

impl<'a> Attempts<'a> {
    pub fn at(path: Option<&'a str>) -> Self {
        let last = LastAttempt { patience: FIRST_ATTEMPT, obstacle: None };
        Self { path, last: Mutex::new(last) }
    }

    /// Why the last attempt failed.
    pub fn obstacle(&self) -> Option<String> {
        self.last().obstacle.clone()
    }

    fn last(&self) -> MutexGuard<'_, LastAttempt> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of these addresses that is ready.
    ///
    /// # Errors
    ///
    /// If no other attempt can succeed.
    async fn first_ready(&self, ways: Vec<SocketAddr>) -> anyhow::Result<Option<SocketAddr>> {
        let mut obstacle = None;
        for way in ways {
            let (began, patience) = (Instant::now(), self.last().patience);
            let Err(error) = is_ready(way, self.path, patience).await else { return Ok(Some(way)) };
            let is_down = |cause: &io::Error| cause.kind() == io::ErrorKind::NetworkUnreachable;
            ensure!(
                !error.chain().filter_map(|cause| cause.downcast_ref()).any(is_down),
                NO_LOOPBACK
            );
            // That of the likeliest way.
            obstacle.get_or_insert(format!("{error:#}"));
            if began.elapsed() >= patience {
                self.last().patience = 2 * patience;
            }
        }
        self.last().obstacle = obstacle;
        Ok(None)
    }
}

/// Waits until the process `pid` or a descendant listens, and until it is ready. Also returns all ports that it
/// listens on.
///
/// # Errors
///
/// If it listens on several ports and announces none of them, or more than one; or if it cannot be reached.
pub async fn search(
    pid: u32,
    output: &ServerOutput,
    attempts: &Attempts<'_>,
) -> anyhow::Result<(SocketAddr, BTreeSet<u16>)> {
    let mut watch = process::ListenerWatch::new(pid);
    let mut seen = (BTreeSet::new(), Instant::now());
    loop {
        let mut choice = output.ports();
        if let Some(listeners) = watch.look() {
            if *listeners != seen.0 {
                seen = (listeners.clone(), Instant::now());
            }
            choice = choose(&seen.0, &choice);
        }
        let age = seen.1.elapsed();
        let choice: Vec<_> = choice.into_iter().collect();
        match &choice[..] {
            [port] if age >= STABLE => {
                if let Some(found) = attempts.first_ready(ways(&seen.0, *port)).await? {
                    return Ok((found, ports(&seen.0)));
                }
            }
            [_, _, ..] if age >= PATIENCE => bail!(
                "it listens on the ports {}: choose one with --port N",
                choice.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
            ),
            _ => {}
        }
        sleep(POLL).await;
    }
}

/// Waits until a known port of this machine is ready.
///
/// # Errors
///
/// If it cannot be reached.
pub async fn wait_for(port: u16, attempts: &Attempts<'_>) -> anyhow::Result<SocketAddr> {
    loop {
        if let Some(found) = attempts.first_ready(ways(&BTreeSet::new(), port)).await? {
            return Ok(found);
        }
        sleep(POLL).await;
    }
}

pub fn ports(listeners: &BTreeSet<SocketAddr>) -> BTreeSet<u16> {
    listeners.iter().map(SocketAddr::port).collect()
}

/// The ports that a server listens on; of several, only those that it announced, if any.
fn choose(listeners: &BTreeSet<SocketAddr>, announced: &BTreeSet<u16>) -> BTreeSet<u16> {
    let ports = ports(listeners);
    let named = &ports & announced;
    if named.is_empty() { ports } else { named }
}

/// The addresses under which a port may be reached, the likeliest first.
fn ways(listeners: &BTreeSet<SocketAddr>, port: u16) -> Vec<SocketAddr> {
    let own = listeners
        .iter()
        .filter(|listener| listener.port() == port && !listener.ip().is_unspecified());
    let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    own.copied().chain(loopback.map(|ip| SocketAddr::new(ip, port))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_reached_over_loopback() {
        let ways_to = |address: &str| {
            let address: SocketAddr = address.parse().unwrap();
            let ways = ways(&[address].into(), address.port());
            ways.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(ways_to("0.0.0.0:80"), ["127.0.0.1:80", "[::1]:80"]);
        assert_eq!(ways_to("127.0.0.2:80")[0], "127.0.0.2:80");
        assert_eq!(ways_to("[::1]:80")[0], "[::1]:80");
    }
}
