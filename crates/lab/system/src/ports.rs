//! A port for a server that has to be given one.

use std::{
    hash::{BuildHasher as _, RandomState},
    io,
    net::TcpListener,
    ops::RangeInclusive,
};

use super::{System, process};

/// Services have most of the ports below.
const FIRST: u16 = 10_000;
/// How many of them are tried. Few are taken.
const TRIES: usize = 64;

/// A port that no other `lab` chooses while this is kept.
#[derive(Debug)]
pub struct Port {
    pub number: u16,
    #[cfg(target_os = "linux")]
    _reserved: Option<std::os::unix::net::UnixListener>,
}

/// A port that was free a moment ago, and that the system gives to nobody who lets it choose. It would give others
/// to any connection, which keeps its port until after the server has to listen.
///
/// # Errors
///
/// If the system has no free port.
pub fn free_port() -> io::Result<Port> {
    let ports = ports(&System::this());
    let random = (0..TRIES).filter_map(|_| ports.get(random() % ports.len().max(1)).copied());
    let can_bind = |number| TcpListener::bind(("127.0.0.1", number)).is_ok();
    // A server may want all addresses.
    let is_free =
        |port: &Port| process::is_taken(port.number) != Some(true) && can_bind(port.number);
    let free = random.filter_map(|number| Port::reserve(number).ok()).find(is_free);
    match free {
        Some(port) => Ok(port),
        // All of them may be for connections.
        None => Port::reserve(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port()),
    }
}

impl Port {
    /// Fails if somebody else has reserved it. The system ends a reservation with its process.
    #[cfg(target_os = "linux")]
    fn reserve(number: u16) -> io::Result<Self> {
        use std::os::{
            linux::net::SocketAddrExt as _,
            unix::net::{SocketAddr, UnixListener},
        };
        let name = SocketAddr::from_abstract_name(format!("lab-port-{number}"))?;
        match UnixListener::bind_addr(&name) {
            Ok(reserved) => Ok(Self { number, _reserved: Some(reserved) }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
            // It may be forbidden, and is only a help.
            Err(_) => Ok(Self { number, _reserved: None }),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(number: u16) -> io::Result<Self> {
        Ok(Self { number })
    }
}

/// The ports to choose from.
fn ports(system: &System) -> Vec<u16> {
    let given_out = given_out(system);
    (FIRST..=u16::MAX)
        .filter(|port| !given_out.as_ref().is_some_and(|given| given.contains(port)))
        .collect()
}

/// The ports that the system chooses from; `None` if it does not say.
fn given_out(system: &System) -> Option<RangeInclusive<u16>> {
    let text = system.read("proc/sys/net/ipv4/ip_local_port_range")?;
    let mut ends = text.split_whitespace().map(str::parse);
    Some(ends.next()?.ok()?..=ends.next()?.ok()?)
}

/// Each call of this function and each process has another one.
fn random() -> usize {
    RandomState::new().hash_one(()) as usize
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use fake_machine::FakeMachine;

    use super::*;

    #[test]
    fn no_connection_and_no_other_lab_gets_the_port_of_a_server() {
        let fake = FakeMachine::healthy();
        fake.write("proc/sys/net/ipv4/ip_local_port_range", "10002\t65534\n");
        assert_eq!(ports(&System::of_test(&fake)), [10_000, 10_001, 65_535]);
        let port = free_port().unwrap();
        let given_out = given_out(&System::this()).unwrap();
        assert!(!given_out.contains(&port.number), "{port:?}");
        assert!(Port::reserve(port.number).is_err());
        let number = port.number;
        drop(port);
        // Another test's child has it, too, until it becomes another program.
        let end = Instant::now() + Duration::from_secs(60);
        while Port::reserve(number).is_err() {
            assert!(Instant::now() < end, "{number} stays reserved");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
