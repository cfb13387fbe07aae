//! The memory that this machine and the control groups of a process still have.

use std::path::Path;

use super::{System, groups};

/// Where the groups of memory are: of version 2, or of the controller `memory` in version 1.
const MOUNTS: [&str; 2] = ["sys/fs/cgroup", "sys/fs/cgroup/memory"];

/// How much memory a process may still take, in MiB, before the system or the limit of one of its groups is short of
/// it. `process` is an entry of `/proc`, such as `self`. `None` where the system doesn't say.
pub fn available_mib(system: &System, process: &str) -> Option<f64> {
    let info = system.read("proc/meminfo")?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? / 1024.0;
    let groups = groups::of_process(system, process, "memory", &MOUNTS);
    Some(groups.iter().filter_map(|group| left_mib(system, group)).fold(machine, f64::min))
}

/// The MiB that a control group has left of its limit. Its page cache counts as free, because the kernel can drop it.
fn left_mib(system: &System, group: &Path) -> Option<f64> {
    let read = |file: &str| system.read(group.join(file));
    let bytes = |file: &str| read(file)?.parse::<f64>().ok();
    // Without a limit, version 2 says `max`, and version 1 more than any machine has.
    let limit = bytes("memory.max").or_else(|| bytes("memory.limit_in_bytes"))?;
    let used = bytes("memory.current").or_else(|| bytes("memory.usage_in_bytes"))?;
    let stat = read("memory.stat").unwrap_or_default();
    let of_files = |name| stat.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
    let files: f64 = of_files("total_cache ").or_else(|| of_files("file ")).unwrap_or(0.0);
    Some(((limit - used + files) / 1024.0 / 1024.0).max(0.0))
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _};

    use fake_machine::FakeMachine;

    use super::*;

    #[test]
    fn the_least_of_the_machine_and_of_all_groups_counts() {
        let fake = FakeMachine::healthy();
        let system = System::of_test(&fake);
        fake.write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:    8192 kB\n");
        let mib = |process| available_mib(&system, process);
        assert_eq!(mib("7"), Some(8.0));
        fake.write("proc/7/cgroup", "4:cpu:/c\n5:memory:/m/n\n0::/a/b\n");
        fake.write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "7340032");
        fake.write("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "1048576");
        assert_eq!(mib("7"), Some(6.0));
        fake.write("sys/fs/cgroup/a/memory.max", "5242880");
        fake.write("sys/fs/cgroup/a/memory.current", "3145728");
        fake.write("sys/fs/cgroup/a/memory.stat", "anon 1048576\nfile 2097152\n");
        fake.write("sys/fs/cgroup/a/b/memory.max", "max");
        fake.write("sys/fs/cgroup/a/b/memory.current", "1048576");
        assert_eq!(mib("7"), Some(4.0));
        assert_eq!(mib("8"), Some(8.0), "a process of no group");
        // A name that is no UTF-8.
        let root = fake.root();
        fs::write(root.join("proc/7/cgroup"), b"0::/gr\xf6\xdfe\n").unwrap();
        let group = root.join("sys/fs/cgroup").join(OsStr::from_bytes(b"gr\xf6\xdfe"));
        fs::create_dir(&group).unwrap();
        fs::write(group.join("memory.max"), "2097152").unwrap();
        fs::write(group.join("memory.current"), "1048576").unwrap();
        assert_eq!(mib("7"), Some(1.0));
    }
}
