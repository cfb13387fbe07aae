//! The checks on a healthy machine, and on one with each fault alone.

use super::{Finding, Status, examine};
use crate::fake::Fake;

#[test]
fn a_healthy_machine_has_no_faults() {
    for finding in examine(&Fake::healthy().system) {
        assert_eq!((finding.status, &finding.fix), (Status::Ok, &None), "{finding:?}");
    }
}

/// What breaks, the topic that must notice, its status, and a part of what is found or of the fix.
type Fault = (fn(&mut Fake), &'static str, Status, &'static str);

const FAULTS: [Fault; 12] = [
    (|fake| fake.system.cores = Some(1), "cores", Status::Warn, "taskset -c 0-3"),
    (|fake| fake.system.cores = Some(2), "cores", Status::Note, "2 of 4 online"),
    (
        |fake| fake.write("sys/fs/cgroup/cpu.max", "150000 100000"),
        "CPU quota",
        Status::Warn,
        "1.5 cores",
    ),
    (
        |fake| fake.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave"),
        "governor",
        Status::Warn,
        "echo performance | sudo tee /sys/",
    ),
    (|fake| fake.write("proc/loadavg", "3.10 1 1 1/1 1"), "load", Status::Warn, "are busy"),
    (|fake| fake.write("proc/loadavg", "0.90 1 1 1/1 1"), "load", Status::Note, "not idle"),
    (
        |fake| fake.write("proc/stat", "cpu  900 0 50 9000 10 0 0 50 0 0\n"),
        "steal",
        Status::Warn,
        "5.0 %",
    ),
    (
        |fake| fake.system.open_files = Some(4096),
        "open files",
        Status::Fail,
        "sudo prlimit --pid $$ --nofile=6100:6100",
    ),
    (
        |fake| fake.remove("bin/perf"),
        "perf rights",
        Status::Note,
        "sudo apt-get install linux-perf",
    ),
    (
        |fake| fake.write("proc/sys/kernel/perf_event_paranoid", "2"),
        "perf rights",
        Status::Note,
        "no kernel frames",
    ),
    (
        |fake| fake.write("proc/sys/kernel/perf_event_paranoid", "3"),
        "perf rights",
        Status::Warn,
        "sudo sysctl kernel.perf_event_paranoid=1",
    ),
    (|fake| fake.system.debug_build = true, "build", Status::Warn, "cargo build --release"),
];

#[test]
fn each_fault_is_found_by_its_check_and_no_other() {
    for (index, (damage, topic, status, said)) in FAULTS.into_iter().enumerate() {
        let mut fake = Fake::healthy();
        damage(&mut fake);
        let finding = finding(&fake, topic);
        let all = format!("{} {}", finding.found, finding.fix.clone().unwrap_or_default());
        assert_eq!(finding.status, status, "fault {index}: {finding:?}");
        assert!(all.contains(said), "fault {index}: {finding:?}");
        let mut others = examine(&fake.system);
        others.retain(|other| other.topic != topic && other.status != Status::Ok);
        assert!(others.is_empty(), "fault {index}: {others:?}");
    }
}

fn finding(fake: &Fake, topic: &str) -> Finding {
    let findings = examine(&fake.system);
    findings.into_iter().find(|finding| finding.topic == topic).unwrap()
}

#[test]
fn root_may_profile_whatever_the_setting() {
    let fake = Fake::healthy();
    fake.write("proc/self/status", "Uid:\t0\t0\t0\t0\n");
    fake.write("proc/sys/kernel/perf_event_paranoid", "4");
    assert_eq!(finding(&fake, "perf rights").status, Status::Ok);
}

#[test]
fn a_system_that_exposes_nothing_has_no_faults() {
    let mut fake = Fake::healthy();
    for gone in ["proc", "sys", "bin"] {
        fake.remove(gone);
    }
    fake.system.cores = None;
    fake.system.open_files = None;
    let findings = examine(&fake.system);
    assert!(findings.iter().all(|finding| finding.status <= Status::Note), "{findings:?}");
}
