//! Finds what distorts figures on this machine, and the command that fixes it.
//!
//! The checks read `/proc`, `/sys` and the programs on `PATH` only through a [`System`], so that a test can
//! show them any machine. What a system does not expose is reported as unknown, never as a fault.

use serde::Serialize;

use crate::{Processors, System, quota};

/// Debian's command, and the names of the package elsewhere.
pub const INSTALL_PERF: &str =
    "sudo apt-get install linux-perf  # Ubuntu: linux-tools-generic; else: perf";

/// The finding of a check, and the fix if the finding distorts figures or makes a tool useless.
type Finding = (String, Option<&'static str>);

/// A check, which returns `None` if the system does not expose the fact.
type Diagnosis = fn(&System) -> Option<Finding>;

/// The checks, in the order in which they are printed.
const CHECKS: [(&str, Diagnosis); 7] = [
    ("cores", cores),
    ("CPU quota", quota),
    ("governor", governor),
    ("load", load),
    ("steal", steal),
    ("perf rights", perf_rights),
    ("build", build),
];

/// The result of one check.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    pub topic: &'static str,
    pub found: String,
    /// A command, if something distorts figures.
    pub fix: Option<&'static str>,
}

/// All checks, in their order.
pub fn examine(system: &System) -> impl Iterator<Item = Checked> {
    CHECKS.into_iter().map(|(topic, check)| {
        let unknown = || ("unknown on this system".to_owned(), None);
        let (found, fix) = check(system).unwrap_or_else(unknown);
        Checked { topic, found, fix }
    })
}

/// Server and generator need a core each, or they slow each other down.
fn cores(system: &System) -> Option<Finding> {
    Some(match system.cores? {
        0 | 1 => (
            "1 usable: server and load generator share it".to_owned(),
            Some("taskset -cp 0-99 $$  # or use a machine with two cores"),
        ),
        usable => (format!("{usable} usable"), None),
    })
}

/// A process that has used up its quota stops for the rest of each 100 ms.
fn quota(system: &System) -> Option<Finding> {
    let cores = quota::quota(system, &quota::groups(system, "self"))?;
    if cores.is_infinite() {
        return Some(("none".to_owned(), None));
    }
    let found = format!("the container may use {cores:.1} cores and is stopped beyond that");
    Some((found, Some("docker update --cpu-quota=-1 CONTAINER")))
}

/// A governor that follows the load changes the clock speed during a run.
fn governor(system: &System) -> Option<Finding> {
    let governor = system.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
    if governor == "performance" {
        return Some((governor, None));
    }
    let fix = "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/*_governor";
    Some((format!("{governor}: the clock speed follows the load"), Some(fix)))
}

/// Other busy programs are the most common source of noise.
fn load(system: &System) -> Option<Finding> {
    let load: f64 = system.read("proc/loadavg")?.split_whitespace().next()?.parse().ok()?;
    let cores = system.cores?;
    let found = format!("{load:.2} over the last minute on {cores} cores");
    if load < 0.3 * cores as f64 {
        return Some((found, None));
    }
    let fix = "ps -eo pcpu,pid,args --sort=-pcpu | head";
    Some((format!("{found}: other programs are busy"), Some(fix)))
}

/// In a virtual machine, the host gives time to its neighbours.
fn steal(system: &System) -> Option<Finding> {
    let times = Processors::read(system)?;
    let share = times.stolen / (times.programs + times.stolen).max(1.0);
    let found = format!("{:.1} % of the busy time since boot", 100.0 * share);
    if share <= 0.01 {
        return Some((found, None));
    }
    let fix = "vmstat 1 10  # column st: wait until it stays at 0";
    Some((format!("{found}: the host runs others instead"), Some(fix)))
}

/// From level 2 on, `perf` cannot see the kernel; from 3 on, Debian and Ubuntu allow only root.
fn perf_rights(system: &System) -> Option<Finding> {
    let level = system.number("proc/sys/kernel/perf_event_paranoid")?;
    if system.program("perf").is_none() {
        let found = "perf is missing: flame graphs come from the server's own sampler";
        return Some((found.to_owned(), Some(INSTALL_PERF)));
    }
    let setting = format!("perf_event_paranoid is {level}");
    let fix = Some("sudo sysctl kernel.perf_event_paranoid=1");
    Some(match level {
        _ if system.is_root() => (format!("{setting}; root ignores it"), None),
        ..=1 => (setting, None),
        2 => (format!("{setting}: no kernel frames"), fix),
        _ => (format!("{setting}: only root may profile"), fix),
    })
}

/// A debug build is slower by a factor that differs from place to place. The servers have the profile of
/// `lab`, which builds them.
fn build(system: &System) -> Option<Finding> {
    if !system.debug_build {
        return Some(("release".to_owned(), None));
    }
    let fix = "cargo build --release --workspace && just lab doctor";
    Some(("a debug build: figures mean nothing".to_owned(), Some(fix)))
}

#[cfg(test)]
mod tests {
    use fake_machine::FakeMachine;

    use super::*;

    /// A change that breaks the machine, and a part of the expected finding or fix.
    type Fault = (fn(&FakeMachine, &mut System), &'static str);

    const FAULTS: [Fault; 9] = [
        (|_, system| system.cores = Some(1), "taskset -cp"),
        (|fake, _| fake.write("sys/fs/cgroup/cpu.max", "150000 100000"), "1.5 cores"),
        (
            |fake, _| {
                fake.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
            },
            "echo performance | sudo tee /sys/",
        ),
        (|fake, _| fake.write("proc/loadavg", "3.10 1 1 1/1 1"), "are busy"),
        (|fake, _| fake.write("proc/stat", "cpu  900 0 50 9000 10 0 0 50 0 0\n"), "5.0 %"),
        (|fake, _| fake.remove("bin/perf"), INSTALL_PERF),
        (|fake, _| fake.write("proc/sys/kernel/perf_event_paranoid", "2"), "no kernel frames"),
        (|fake, _| fake.write("proc/sys/kernel/perf_event_paranoid", "3"), "only root may profile"),
        (|_, system| system.debug_build = true, "cargo build --release"),
    ];

    #[test]
    fn each_fault_is_one_warning_and_what_is_unknown_or_harmless_is_none() {
        for (damage, said) in FAULTS {
            let fake = FakeMachine::healthy();
            let mut system = System::of_test(&fake);
            damage(&fake, &mut system);
            let faults: Vec<_> = examine(&system).filter(|checked| checked.fix.is_some()).collect();
            let [Checked { found, fix: Some(fix), .. }] = &faults[..] else { panic!("{faults:?}") };
            assert!(found.contains(said) || fix.contains(said), "{faults:?}");
        }
        let root = FakeMachine::healthy();
        root.write("proc/self/status", "Uid:\t0\t0\t0\t0\n");
        root.write("proc/sys/kernel/perf_event_paranoid", "4");
        let bare = FakeMachine::healthy();
        ["proc", "sys", "bin"].iter().for_each(|gone| bare.remove(gone));
        let (healthy, cores) = (FakeMachine::healthy(), Some(4));
        for (fake, cores) in [(healthy, cores), (root, cores), (bare, None)] {
            let system = System { cores, ..System::of_test(&fake) };
            assert_eq!(examine(&system).find_map(|checked| checked.fix), None);
        }
    }
}
