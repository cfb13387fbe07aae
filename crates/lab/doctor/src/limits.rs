//! What thousands of connections use up: open files and ports.

use super::{Finding, Group, System};

/// `lab` raises the soft limit by itself, so that only the hard one can stop it.
pub(super) fn open_files(system: &System) -> Finding {
    let topic = "open files";
    let needed = system.needs.open_files;
    let Some((soft, hard)) = system.open_files else {
        return Finding::note(Group::Room, topic, "the limit cannot be read here")
            .mend("ulimit -Hn");
    };
    if hard < needed {
        let found = format!("at most {hard}, and the largest case needs {needed}");
        return Finding::fail(Group::Room, topic, found)
            .mend(format!("sudo prlimit --pid $$ --nofile={needed}:{needed}"));
    }
    let (soft, hard) = (limit(soft), limit(hard));
    Finding::ok(Group::Room, topic, format!("{needed} needed; soft limit {soft}, hard {hard}"))
}

fn limit(limit: u64) -> String {
    if limit == u64::MAX { "none".to_owned() } else { limit.to_string() }
}

/// A closed connection keeps its port for a minute.
pub(super) fn ports(system: &System) -> Finding {
    let topic = "ports";
    let range = system.read("proc/sys/net/ipv4/ip_local_port_range");
    let Some(range) = range.as_deref().and_then(width) else {
        return Finding::note(Group::Room, topic, "their range cannot be read here");
    };
    let waiting = time_wait(system).unwrap_or_default();
    let found = format!("{range}, of which {waiting} are in TIME_WAIT");
    // As many as the largest case has sockets on the generator's side.
    let needed = system.needs.open_files / 2;
    if range < needed {
        return Finding::fail(Group::Room, topic, format!("{range}, and a case needs {needed}"))
            .mend("sudo sysctl net.ipv4.ip_local_port_range='32768 60999'");
    }
    if waiting + needed > range {
        let found = format!("{found}: too few left");
        return Finding::warn(Group::Room, topic, found).mend("sleep 60");
    }
    Finding::ok(Group::Room, topic, found)
}

/// The number of ports in a range such as `32768 60999`.
fn width(range: &str) -> Option<u64> {
    let (first, last) = range.split_once(char::is_whitespace)?;
    (last.trim().parse::<u64>().ok()? + 1).checked_sub(first.parse().ok()?)
}

/// How many connections wait, of both versions of IP: `TCP: inuse 7 orphan 0 tw 12 ...`.
fn time_wait(system: &System) -> Option<u64> {
    let counts = system.value("proc/net/sockstat", "TCP")?;
    let mut words = counts.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}
