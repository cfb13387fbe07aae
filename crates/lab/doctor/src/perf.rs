//! `perf`: whether it is there, whether it works, and what the kernel lets it see.

use super::{Finding, Group, System, tools::install};

/// There is a `perf` for each kernel; another kernel's is often no more than an error message. So
/// it has to count something.
pub(super) fn perf(system: &System) -> Finding {
    let topic = "perf";
    if system.program("perf").is_none() {
        let linux = system.has("proc/self");
        let found = if linux { "missing: no flame graphs" } else { "perf is for Linux only" };
        let finding = Finding::note(Group::Tools, topic, found);
        return if linux { finding.mend(install(system, &package(system))) } else { finding };
    }
    let counted = system.run("perf", &["stat", "-x", ",", "-e", "task-clock,cycles", "true"]);
    let Some(counted) = counted else {
        return Finding::warn(Group::Tools, topic, "does not end").mend("perf stat true");
    };
    let figures = String::from_utf8_lossy(&counted.stderr).into_owned();
    let counts = |event: &str| {
        figures.lines().any(|line| {
            let mut fields = line.split(',');
            fields.next().is_some_and(|value| value.parse::<f64>().is_ok())
                && fields.any(|field| field.starts_with(event))
        })
    };
    if !counts("task-clock") {
        let finding = Finding::warn(Group::Tools, topic, "there, but it counts nothing");
        return finding.mend("perf stat -e task-clock true");
    }
    if !counts("cycles") {
        let found = "works by the timer only: no hardware counters here";
        return Finding::note(Group::Tools, topic, found);
    }
    Finding::ok(Group::Tools, topic, "works, with hardware counters")
}

/// The package that it comes in: Ubuntu builds it under another name than the others.
pub fn package(system: &System) -> String {
    let release = system.read("etc/os-release").unwrap_or_default();
    let ubuntu = release.lines().any(|line| line == "ID=ubuntu");
    let apt = system.program("apt-get").is_some();
    match (apt, ubuntu) {
        (true, true) => "linux-tools-generic",
        (true, false) => "linux-perf",
        (false, _) => "perf",
    }
    .to_owned()
}

/// From 3 on, Debian and Ubuntu let nobody but root profile; from 2 on, not into the kernel.
pub(super) fn paranoid(system: &System) -> Finding {
    let topic = "perf rights";
    let Some(level) = system.number("proc/sys/kernel/perf_event_paranoid") else {
        return Finding::note(Group::Tools, topic, "the kernel offers no perf events here");
    };
    let setting = format!("perf_event_paranoid is {level}");
    let mend = "sudo sysctl kernel.perf_event_paranoid=1";
    match level {
        _ if system.is_root() => {
            Finding::ok(Group::Tools, topic, format!("{setting}, which does not bind root"))
        }
        ..=1 => Finding::ok(Group::Tools, topic, setting),
        2 => Finding::note(Group::Tools, topic, format!("{setting}: no view into the kernel"))
            .mend(mend),
        _ => Finding::warn(Group::Tools, topic, format!("{setting}: only root may profile"))
            .mend(mend),
    }
}

/// Without the kernel's addresses its part of a flame graph has no names.
pub(super) fn kernel_symbols(system: &System) -> Finding {
    let topic = "kernel names";
    let Some(level) = system.number("proc/sys/kernel/kptr_restrict") else {
        return Finding::note(Group::Tools, topic, "cannot be read here");
    };
    let setting = format!("kptr_restrict is {level}");
    if level == 0 || (level == 1 && system.is_root()) {
        return Finding::ok(Group::Tools, topic, setting);
    }
    let found = format!("{setting}: kernel frames have no names");
    Finding::note(Group::Tools, topic, found).mend("sudo sysctl kernel.kptr_restrict=0")
}
