//! The time of all processors of this machine, and who got it.

use std::path::Path;

use super::System;

/// Seconds since boot, the sum of all processors. Only differences have a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processors {
    /// All time, idle time included.
    pub all: f64,
    /// What all programs used, in steps of 10 ms: `user`, `nice` and `system` of `/proc/stat`. Interrupts
    /// are left out, because some systems also count them as time of the program that they interrupt.
    pub programs: f64,
    /// What the host gave to other virtual machines while this one had work.
    pub stolen: f64,
    /// How long programs of this process's control group, or of those above it, had work and were stopped
    /// because the group had used up its quota.
    pub throttled: f64,
}

/// The units of `/proc/stat` in a second: USER_HZ is 100 on every architecture that Rust supports.
const TICKS_PER_S: f64 = 100.0;

impl Processors {
    /// `None` if the system does not report it.
    pub fn read(system: &System) -> Option<Self> {
        let stat = system.read("proc/stat")?;
        let times = stat.lines().next()?.split_whitespace().skip(1);
        let times: Vec<_> = times.flat_map(str::parse::<f64>).map(|it| it / TICKS_PER_S).collect();
        // What follows, `guest`, is part of `user`.
        let all @ [user, nice, kernel, .., stolen] = *times.first_chunk::<8>()?;
        Some(Self {
            all: all.iter().sum(),
            programs: user + nice + kernel,
            stolen,
            throttled: throttled(system),
        })
    }
}

fn throttled(system: &System) -> f64 {
    let groups = system.read("proc/self/cgroup").unwrap_or_default();
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let above = Path::new(path).ancestors();
    let time = |group: &Path| {
        let stat = system.read(&format!("sys/fs/cgroup/{}/cpu.stat", group.display()))?;
        let time = stat.lines().find_map(|line| line.strip_prefix("throttled_usec "))?;
        Some(time.parse::<f64>().ok()? / 1e6)
    };
    above.filter_map(time).sum()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn times_are_read_from_the_system_and_the_control_groups() {
        let fake = Fake::healthy();
        let stat = "cpu  900 50 50 9000 10 20 30 40 700 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        fake.write("proc/stat", stat);
        let time = |throttled| Processors { all: 101.0, programs: 10.0, stolen: 0.4, throttled };
        assert_eq!(Processors::read(&fake.system), Some(time(0.0)));
        fake.write("proc/self/cgroup", "0::/a/b\n");
        fake.write("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
        fake.write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nthrottled_usec 250000\n");
        assert_eq!(Processors::read(&fake.system), Some(time(0.25)));
        fake.remove("proc/stat");
        assert_eq!(Processors::read(&fake.system), None);
    }
}
