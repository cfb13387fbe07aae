//! Who listens where, and who is connected to others: TCP sockets, and the processes that hold them.
//!
//! `/proc/net/tcp` lists the sockets of this network namespace, so a server in a container with its own
//! network is not seen.

use std::{
    collections::BTreeSet,
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::{entries, pids};

/// The addresses that a process and its descendants listen on; `None` where that cannot be seen.
pub fn listeners(pid: u32) -> Option<BTreeSet<SocketAddr>> {
    let sockets = sockets(LISTEN)?;
    let held: Vec<_> = pids(pid).into_iter().flat_map(held).collect();
    let ours = sockets.into_iter().filter(|(_, socket)| held.contains(socket));
    Some(ours.map(|(address, _)| address).collect())
}

/// Whether any process listens on `port`; `None` where that cannot be seen.
pub fn is_taken(port: u16) -> Option<bool> {
    Some(sockets(LISTEN)?.iter().any(|(address, _)| address.port() == port))
}

/// The processes that a connection to `address` can reach, in the order of their numbers, as far as this
/// process may see them; `None` where sockets cannot be seen.
///
/// Several listeners may have the same port. The system prefers one that is bound to the address itself,
/// then one that is bound to all addresses of its family, and for IPv4 at last one of IPv6.
pub fn reached_at(address: SocketAddr) -> Option<Vec<u32>> {
    let sockets = sockets(LISTEN)?;
    let bound_to = |ip: IpAddr| -> Vec<_> {
        let ours = sockets.iter().filter(|(it, _)| (it.ip(), it.port()) == (ip, address.port()));
        ours.map(|(_, socket)| socket).collect()
    };
    let ip = address.ip().to_canonical();
    let any: [IpAddr; 2] = match ip {
        IpAddr::V4(_) => [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
        IpAddr::V6(_) => [Ipv6Addr::UNSPECIFIED.into(); 2],
    };
    let mut candidates = [ip].into_iter().chain(any).map(bound_to);
    let reached = candidates.find(|it| !it.is_empty()).unwrap_or_default();
    let all = fs::read_dir("/proc").ok()?.flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut pids: Vec<_> = all.filter(|pid| held(*pid).any(|it| reached.contains(&&it))).collect();
    pids.sort_unstable();
    Some(pids)
}

/// How many connections a process and its descendants have opened to other servers, not counting those
/// that clients opened to them; `None` where that cannot be seen.
pub fn outbound_connections(pid: u32) -> Option<usize> {
    let own: BTreeSet<_> = listeners(pid)?.iter().map(SocketAddr::port).collect();
    let held: BTreeSet<_> = pids(pid).into_iter().flat_map(held).collect();
    let connections = sockets(ESTABLISHED)?.into_iter();
    let ours = connections.filter(|(_, socket)| held.contains(socket));
    Some(ours.filter(|(address, _)| !own.contains(&address.port())).count())
}

/// States as the system writes them.
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

/// All sockets in this state: the local address, and the name among a process's open files.
fn sockets(state: &str) -> Option<Vec<(SocketAddr, String)>> {
    let mut tables = fs::read_to_string("/proc/net/tcp").ok()?;
    tables += &fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Some(tables.lines().filter_map(|line| socket(line, state)).collect())
}

/// Reads a line of `/proc/net/tcp`:
/// `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode`.
fn socket(line: &str, state: &str) -> Option<(SocketAddr, String)> {
    let fields: Vec<_> = line.split_whitespace().collect();
    if *fields.get(3)? != state {
        return None;
    }
    let (ip, port) = fields.get(1)?.rsplit_once(':')?;
    let address = (address(ip)?, u16::from_str_radix(port, 16).ok()?).into();
    Some((address, format!("socket:[{}]", fields.get(9)?)))
}

/// An IP address as one or four words in hexadecimal, each in this machine's byte order.
fn address(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(hex.get(at..at + 8)?, 16).ok();
    if hex.len() == 8 {
        return Some(word(0)?.to_ne_bytes().into());
    }
    let words = [word(0)?, word(8)?, word(16)?, word(24)?].map(u32::to_ne_bytes);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(words.as_flattened());
    Some(Ipv6Addr::from(bytes).to_canonical())
}

/// The names of the sockets that a process has open.
fn held(pid: u32) -> impl Iterator<Item = String> {
    let files = entries(format!("/proc/{pid}/fd")).filter_map(|path| fs::read_link(path).ok());
    files.filter_map(|target| target.into_os_string().into_string().ok())
}

#[cfg(all(test, target_os = "linux", target_endian = "little"))]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_read_from_the_tables() {
        let tail = "00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 37 1 0";
        for (local, address) in [
            ("0100007F:1F90", "127.0.0.1:8080"),
            ("00000000:0050", "0.0.0.0:80"),
            ("00000000000000000000000001000000:1F90", "[::1]:8080"),
            ("0000000000000000FFFF00000100007F:1F90", "127.0.0.1:8080"),
        ] {
            let found = socket(&format!("   0: {local} {tail}"), LISTEN).unwrap();
            assert_eq!(found, (address.parse().unwrap(), "socket:[37]".to_owned()));
        }
        let connected = tail.replace(" 0A ", " 01 ");
        assert_eq!(socket(&format!("   0: 0100007F:1F90 {connected}"), LISTEN), None);
        assert_eq!(socket("  sl  local_address rem_address   st tx_queue rx_queue", LISTEN), None);
    }
}
