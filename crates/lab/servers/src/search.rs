//! Finds where a server listens that was not given a port.
//!
//! The sockets are the truth: a server may announce an address before it listens there, or not at all,
//! and its output also names other servers. So an announcement only picks one of the sockets. Without
//! `/proc`, where the sockets cannot be seen, the announcement alone counts.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use anyhow::bail;
use lab_load::is_ready;
use lab_system::process;
use tokio::time::{Instant, sleep};

use super::output::ServerOutput;

const POLL: Duration = Duration::from_millis(20);
/// How long the same sockets must listen: a server opens one after the other.
const STABLE: Duration = Duration::from_millis(200);
/// How long to wait for an announcement that picks one of several sockets.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits until the process `pid` or a descendant listens, and until it is ready: it accepts a
/// connection or, if given, a GET of `ready` succeeds. Also returns all ports that it listens on.
///
/// # Errors
///
/// If it listens on several ports and announces none of them, or more than one.
pub async fn search(
    pid: u32,
    output: &ServerOutput,
    ready: Option<&str>,
) -> anyhow::Result<(SocketAddr, BTreeSet<u16>)> {
    let mut seen = (BTreeSet::new(), Instant::now());
    loop {
        let mut choice = output.ports();
        if let Some(listeners) = process::listeners(pid) {
            if listeners != seen.0 {
                seen = (listeners, Instant::now());
            }
            choice = choose(&seen.0, &choice);
        }
        let age = seen.1.elapsed();
        let choice: Vec<_> = choice.into_iter().collect();
        match &choice[..] {
            [port] if age >= STABLE => {
                if let Some(found) = first_ready(ways(&seen.0, *port), ready).await {
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
pub async fn wait_for(port: u16, ready: Option<&str>) -> SocketAddr {
    loop {
        if let Some(found) = first_ready(ways(&BTreeSet::new(), port), ready).await {
            return found;
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
    let own = listeners.iter().filter(|it| it.port() == port && !it.ip().is_unspecified());
    let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    own.copied().chain(loopback.map(|ip| SocketAddr::new(ip, port))).collect()
}

async fn first_ready(ways: Vec<SocketAddr>, ready: Option<&str>) -> Option<SocketAddr> {
    for way in ways {
        if is_ready(way, ready).await {
            return Some(way);
        }
    }
    None
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
