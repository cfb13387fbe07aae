//! The CPU quotas of control groups, of version 1 and 2: what they are, and how long they stopped programs.

use std::{collections::BTreeSet, path::PathBuf};

use super::{System, groups};

/// Where the groups are: of version 2, or of the controller `cpu` in version 1, which has two usual names.
const MOUNTS: [&str; 3] = ["sys/fs/cgroup", "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"];

/// The files of a control group, of which at least one has to exist.
const FILES: [&str; 3] = ["cpu.stat", "cpu.max", "cpu.cfs_quota_us"];

/// The groups whose quotas hold for this process: its own and all above, by their directories. `process` is an
/// entry of `/proc`, such as `self`.
pub fn groups(system: &System, process: &str) -> BTreeSet<PathBuf> {
    let dirs = groups::of_process(system, process, "cpu", &MOUNTS).into_iter();
    // Both names of the controller may lead to the same groups.
    let dirs = dirs.filter_map(|dir| system.root.join(dir).canonicalize().ok());
    dirs.filter(|dir| FILES.iter().any(|file| dir.join(file).is_file())).collect()
}

/// How long, in seconds since they were made, programs of these groups had work and were stopped.
pub fn throttled(system: &System, groups: &BTreeSet<PathBuf>) -> f64 {
    let time = |group: &PathBuf| {
        let stat = system.read(group.join("cpu.stat"))?;
        let find = |name: &str| {
            let line = stat.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<f64>().ok()
        };
        find("throttled_usec ").map(|us| us / 1e6).or_else(|| Some(find("throttled_time ")? / 1e9))
    };
    groups.iter().filter_map(time).sum()
}

/// The least quota of these groups in cores; infinite without one, and `None` if no group says.
pub fn quota(system: &System, groups: &BTreeSet<PathBuf>) -> Option<f64> {
    let of = |group: &PathBuf| {
        let read = |name: &str| system.read(group.join(name));
        let (quota, period) = match read("cpu.max") {
            Some(max) => {
                max.split_once(' ').map(|(one, other)| (one.to_owned(), other.to_owned()))?
            }
            None => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
        };
        match quota.parse::<f64>() {
            Ok(quota) if quota > 0.0 => Some(quota / period.parse::<f64>().ok()?),
            // `max` in version 2, and -1 in version 1.
            _ => Some(f64::INFINITY),
        }
    };
    groups.iter().filter_map(of).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    use fake_machine::FakeMachine;

    use super::*;

    #[test]
    fn quotas_of_both_versions_and_of_all_groups_above_count() {
        let fake = FakeMachine::healthy();
        let system = System::of_test(&fake);
        fake.write("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
        fake.write("proc/self/cgroup", "0::/a/b\n");
        fake.write("sys/fs/cgroup/a/cpu.max", "150000 100000");
        fake.write("sys/fs/cgroup/a/cpu.stat", "usage_usec 9\nthrottled_usec 50000\n");
        fake.write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
        fake.write("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nthrottled_usec 200000\n");
        let of = |process| groups(&system, process);
        assert_eq!(of("self").len(), 3);
        assert_eq!(quota(&system, &of("self")), Some(1.5));
        assert_eq!(throttled(&system, &of("self")), 0.25);
        // A server in a group of its own.
        fake.write("proc/7/cgroup", "4:memory:/m\n2:cpu,cpuacct:/c\n");
        fake.write("sys/fs/cgroup/cpu/c/cpu.stat", "nr_periods 75\nthrottled_time 3000000000\n");
        fake.write("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "20000");
        fake.write("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000");
        assert_eq!(quota(&system, &of("7")), Some(0.2));
        assert_eq!(throttled(&system, &of("7")), 3.0);
        let unlimited = "-1";
        fake.write("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", unlimited);
        assert_eq!(quota(&system, &of("7")), Some(f64::INFINITY));
        assert!(of("8").len() == 1, "the root that a container sees");
        // A name that is no UTF-8.
        let name = OsStr::from_bytes(b"gr\xf6\xdfe");
        std::fs::write(fake.path("proc/7/cgroup"), b"0::/gr\xf6\xdfe\n").unwrap();
        let group = fake.path("sys/fs/cgroup").join(name);
        std::fs::create_dir(&group).unwrap();
        std::fs::write(group.join("cpu.max"), "50000 100000").unwrap();
        assert_eq!(quota(&system, &of("7")), Some(0.5));
    }
}
