//! TCP sockets and the processes that hold them: listeners, and connections to other servers.
//!
//! `/proc/net/tcp` lists the sockets of this network namespace, so a server in a container with its own
//! network is not seen.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::Command,
    time::{Duration, Instant},
};

use super::{entries, pids};
use crate::Program;

/// How long `ss` may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long the listeners of a family that opens and closes no socket count as known.
const KNOWN: Duration = Duration::from_millis(100);

/// The addresses that a process and its descendants listen on; `None` where that cannot be seen.
pub fn listeners(pid: u32) -> Option<BTreeSet<SocketAddr>> {
    ListenerWatch::new(pid).look().cloned()
}

/// Looks again and again which addresses a process and its descendants listen on.
///
/// The kernel walks its whole table of connections for each look: 14 ms of CPU time with the 262,144 slots of a machine
/// with 24 GB. A server that starts would pay for that, so an answer counts for a while, unless the family has opened
/// or closed a socket since. A socket that was open already and begins to listen is seen that much later.
pub struct ListenerWatch {
    pid: u32,
    held: BTreeSet<String>,
    found: Option<(BTreeSet<SocketAddr>, Instant)>,
}

impl ListenerWatch {
    pub fn new(pid: u32) -> Self {
        Self { pid, held: BTreeSet::new(), found: None }
    }

    /// The addresses; `None` where they cannot be seen.
    pub fn look(&mut self) -> Option<&BTreeSet<SocketAddr>> {
        let held: BTreeSet<_> = pids(self.pid).into_iter().flat_map(held).collect();
        let is_known = held == self.held
            && self.found.as_ref().is_some_and(|(_, looked)| looked.elapsed() < KNOWN);
        if !is_known {
            let listening = if held.is_empty() {
                fs::metadata(TABLE).ok()?;
                Vec::new()
            } else {
                sockets(LISTEN)?
            };
            let ours = listening.into_iter().filter(|(_, socket)| held.contains(socket));
            self.found = Some((ours.map(|(address, _)| address).collect(), Instant::now()));
            self.held = held;
        }
        self.found.as_ref().map(|(found, _)| found)
    }
}

/// The path of a unix socket that a process or a descendant listens on, or its name after `@`.
pub fn unix_listener(pid: u32) -> Option<String> {
    // The name of a socket may have any bytes.
    let table = fs::read("/proc/net/unix").ok()?;
    let table = String::from_utf8_lossy(&table);
    let held: BTreeSet<_> = pids(pid).into_iter().flat_map(held).collect();
    table
        .lines()
        .filter_map(unix_socket)
        .find(|(_, name)| held.contains(name))
        .map(|(path, _)| path)
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
        let ours =
            sockets.iter().filter(|(local, _)| (local.ip(), local.port()) == (ip, address.port()));
        ours.map(|(_, socket)| socket).collect()
    };
    let ip = address.ip().to_canonical();
    let any: [IpAddr; 2] = match ip {
        IpAddr::V4(_) => [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
        IpAddr::V6(_) => [Ipv6Addr::UNSPECIFIED.into(); 2],
    };
    let mut candidates = [ip].into_iter().chain(any).map(bound_to);
    let reached = candidates.find(|inodes| !inodes.is_empty()).unwrap_or_default();
    let all = fs::read_dir("/proc").ok()?.flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut pids: Vec<_> =
        all.filter(|pid| held(*pid).any(|inode| reached.contains(&&inode))).collect();
    pids.sort_unstable();
    Some(pids)
}

/// How many connections a process and its descendants have opened to other servers, not counting those
/// that clients opened to them; `None` where that cannot be seen.
pub fn outbound_connections(pid: u32) -> Option<usize> {
    let is_outbound = outbound(pid)?;
    let connections = sockets(ESTABLISHED)?.into_iter();
    Some(connections.filter(|(address, socket)| is_outbound(address.port(), socket)).count())
}

/// How many questions a process and its descendants have put to other servers over the connections that
/// are open now: the fewer of the segments with data sent and received, so that a long body is one.
/// `None` where the program `ss` is missing or does not show it.
pub fn round_trips(pid: u32) -> Option<u64> {
    let is_outbound = outbound(pid)?;
    let connections = ss(&["-ti", "state", "established"], exchanged)?.into_iter();
    let ours = connections.filter(|(port, socket, _)| is_outbound(*port, socket));
    Some(ours.map(|(_, _, round_trips)| round_trips).sum())
}

/// Looks how many connections of a process and its descendants to other servers hold a small write back until the other
/// side acknowledges an earlier one: Nagle's algorithm, which TCP_NODELAY switches off. Connections that are opened
/// later aren't seen. `None` where the program `ss` is missing or does not show it.
pub fn held_back(pid: u32) -> Option<impl Fn() -> Option<usize>> {
    let is_outbound = outbound(pid)?;
    Some(move || {
        let connections = ss(&["-ti", "state", "established"], holds_back)?.into_iter();
        Some(connections.filter(|(port, socket)| is_outbound(*port, socket)).count())
    })
}

/// How often the system has dropped an attempt to connect to a process or a descendant of it, because too
/// many were waiting to be accepted; `None` where the program `ss` is missing or does not show it.
pub fn refused_connections(pid: u32) -> Option<u64> {
    let held: BTreeSet<_> = pids(pid).into_iter().flat_map(held).collect();
    let sockets = ss(&["-ltm"], dropped)?.into_iter();
    Some(sockets.filter(|(socket, _)| held.contains(socket)).map(|(_, drops)| drops).sum())
}

/// Says of a connection, by its local port and its name, whether this family opened it.
fn outbound(pid: u32) -> Option<impl Fn(u16, &String) -> bool> {
    let own: BTreeSet<_> = listeners(pid)?.iter().map(SocketAddr::port).collect();
    let held: BTreeSet<_> = pids(pid).into_iter().flat_map(held).collect();
    Some(move |port, socket: &String| held.contains(socket) && !own.contains(&port))
}

/// The sockets that `ss` lists: one line each, without a header, with numeric addresses.
fn ss<T>(args: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let mut command = Command::new("ss");
    command.arg("-HneO").args(args);
    let list = Program::new(command, PATIENCE).wait().ok()?;
    Some(String::from_utf8_lossy(&list).lines().filter_map(read).collect())
}

/// The local port of a connection, and its name.
fn connection(line: &str) -> Option<(u16, String)> {
    let port = line.split_whitespace().nth(2)?.rsplit_once(':')?.1.parse().ok()?;
    Some((port, format!("socket:[{}]", value(line, "ino:")?)))
}

/// A connection that holds back less than a segment, although the network would take more, and less is on its way.
fn holds_back(line: &str) -> Option<(u16, String)> {
    let count = |name| value(line, name)?.parse::<u64>().ok();
    let is_small = count("notsent:")? < count("mss:")?;
    (is_small && count("unacked:")? < count("cwnd:")?).then(|| connection(line))?
}

/// The local port of a connection, its name, and how many questions were answered.
fn exchanged(line: &str) -> Option<(u16, String, u64)> {
    let (port, name) = connection(line)?;
    // Without data there is no figure.
    let segments = |name| value(line, name).map_or(Some(0), |count| count.parse::<u64>().ok());
    let round_trips = segments("data_segs_out:")?.min(segments("data_segs_in:")?);
    Some((port, name, round_trips))
}

/// The name of a listener, and its drops: `skmem:(r0,...,d13)`.
fn dropped(line: &str) -> Option<(String, u64)> {
    let (_, drops) = value(line, "skmem:")?.trim_end_matches(')').rsplit_once(",d")?;
    Some((format!("socket:[{}]", value(line, "ino:")?), drops.parse().ok()?))
}

/// The rest of the word that begins with this name.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name))
}

const TABLE: &str = "/proc/net/tcp";
/// States as the system writes them.
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";
/// Bytes.
const PAGE: usize = 4096;
/// The flag of a unix socket that accepts connections.
const ACCEPTS: &str = "00010000";

/// All sockets in this state: the local address, and the name among a process's open files.
fn sockets(state: &str) -> Option<Vec<(SocketAddr, String)>> {
    let mut found = in_table(TABLE, state)?;
    found.extend(in_table("/proc/net/tcp6", state).unwrap_or_default());
    Some(found)
}

/// Those of one table. The kernel lists the listeners first. After a load with many connections, tens of thousands of
/// closed ones follow, so a look at the listeners ends where they do.
fn in_table(table: &str, state: &str) -> Option<Vec<(SocketAddr, String)>> {
    // A read fills the buffer, so it is small.
    let table = BufReader::with_capacity(PAGE, fs::File::open(table).ok()?);
    let mut found = Vec::new();
    for line in table.lines().skip(1) {
        let line = line.ok()?;
        match socket(&line, state) {
            Some(socket) => found.push(socket),
            None if state == LISTEN => break,
            None => {}
        }
    }
    Some(found)
}

/// Reads a line of `/proc/net/tcp`:
/// `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode`.
fn socket(line: &str, state: &str) -> Option<(SocketAddr, String)> {
    let mut fields = line.split_whitespace().skip(1);
    let local = fields.next()?;
    if fields.nth(1)? != state {
        return None;
    }
    let (ip, port) = local.rsplit_once(':')?;
    let address = (address(ip)?, u16::from_str_radix(port, 16).ok()?).into();
    Some((address, format!("socket:[{}]", fields.nth(5)?)))
}

/// Reads a line of `/proc/net/unix` about a listener: `Num RefCount Protocol Flags Type St Inode Path`.
fn unix_socket(line: &str) -> Option<(String, String)> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let &[_, _, _, flags, _, _, inode, path, ..] = &fields[..] else { return None };
    (flags == ACCEPTS).then(|| (path.to_owned(), format!("socket:[{inode}]")))
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
    let names = files.filter_map(|target| target.into_os_string().into_string().ok());
    names.filter(|name| name.starts_with("socket:"))
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

    #[test]
    fn a_watch_sees_a_listener_at_once_if_its_socket_is_opened_or_closed() {
        let mut watch = ListenerWatch::new(std::process::id());
        watch.look().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(watch.look().unwrap().contains(&address));
        assert!(watch.look().unwrap().contains(&address), "from what is known");
        drop(listener);
        // The child of another test has it until it executes its program.
        let mut is_gone = || !watch.look().unwrap().contains(&address);
        assert!((0..1000).any(|_| is_gone() || (std::thread::yield_now(), false).1));
    }

    #[test]
    fn a_unix_socket_that_listens_has_a_path() {
        let line = "00000000a1: 00000002 00000000 00010000 0001 01 4711 /run/a.sock";
        assert_eq!(unix_socket(line), Some(("/run/a.sock".to_owned(), "socket:[4711]".to_owned())));
        assert_eq!(unix_socket(&line.replace(" 00010000", " 00000000")), None);
        assert_eq!(unix_socket("Num       RefCount Protocol Flags    Type St Inode Path"), None);
    }

    #[test]
    fn a_malformed_table_has_no_socket_that_its_line_does_not_name() {
        let tail = "00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 37 1 0";
        let lines = ["0100007F:1F90", "0000000000000000FFFF00000100007F:1F90"];
        malformed_input::texts(lines.map(|local| format!("   0: {local} {tail}")), |line| {
            if let Some((_, name)) = socket(line, LISTEN) {
                assert!(line.contains(name.trim_start_matches("socket:[").trim_end_matches(']')));
            }
        });
        let connection = "0 0 127.0.0.1:40332 127.0.0.1:5432 ino:80117 sk:1 <-> cubic segs_out:18 \
                          data_segs_out:8 data_segs_in:14 rcv_space:5 mss:9 cwnd:2 unacked:1 notsent:1";
        let listener = "LISTEN 0 2 127.0.0.1:59085 0.0.0.0:* ino:2028 <-> skmem:(r0,rb131072,d13)";
        malformed_input::texts([connection, listener], |line| {
            let names = [
                exchanged(line).map(|found| found.1),
                holds_back(line).map(|found| found.1),
                dropped(line).map(|found| found.0),
            ];
            for name in names.into_iter().flatten() {
                assert!(line.contains(name.trim_start_matches("socket:[").trim_end_matches(']')));
            }
        });
    }

    #[test]
    fn questions_are_read_from_what_ss_prints() {
        let line = "0 0 127.0.0.1:40332 127.0.0.1:5432 ino:80117 sk:1 <-> cubic segs_out:18 segs_in:18 \
                    data_segs_out:8 data_segs_in:14 rcv_space:5";
        assert_eq!(exchanged(line), Some((40332, "socket:[80117]".to_owned(), 8)));
        let quiet = line.replace(" data_segs_in:14", "");
        assert_eq!(exchanged(&quiet), Some((40332, "socket:[80117]".to_owned(), 0)));
        assert_eq!(exchanged("Recv-Q Send-Q Local Peer"), None);
    }

    #[test]
    fn a_connection_holds_back_a_small_write_while_an_earlier_one_is_on_its_way() {
        let line = "0 21 127.0.0.1:57686 127.0.0.1:5432 ino:50339 sk:1 <-> ts sack bbr mss:32768 rcvmss:536 \
                    advmss:65483 cwnd:18 data_segs_out:37 unacked:1 notsent:1 minrtt:0.01";
        assert_eq!(holds_back(line), Some((57686, "socket:[50339]".to_owned())));
        // With TCP_NODELAY, all is sent. A large write waits for the window.
        assert_eq!(holds_back(&line.replace(" notsent:1", "")), None);
        assert_eq!(holds_back(&line.replace("notsent:1", "notsent:40000")), None);
        assert_eq!(holds_back(&line.replace("unacked:1", "unacked:18")), None);
        assert_eq!(holds_back("Recv-Q Send-Q Local Peer"), None);
    }

    #[test]
    fn dropped_connections_are_read_from_what_ss_prints() {
        let line =
            "LISTEN 0 2 127.0.0.1:59085 0.0.0.0:* ino:2028 sk:4f15 <-> skmem:(r0,rb131072,bl0,d13)";
        assert_eq!(dropped(line), Some(("socket:[2028]".to_owned(), 13)));
    }
}
