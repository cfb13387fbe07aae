//! Memory and disk: what is too little of them shows as noise first, and as failure later.

use super::{Finding, Group, System};

/// MiB that four servers, their load and a profiler together stay below.
const MEMORY_MIB: u64 = 1024;
/// MiB of a release build of the workspace with its results.
const BUILD_MIB: u64 = 4096;
/// MiB below which results can get lost.
const RESULTS_MIB: u64 = 256;

/// A field of `/proc/meminfo` in MiB.
fn meminfo(system: &System, field: &str) -> Option<u64> {
    let value = system.value("proc/meminfo", field)?;
    Some(value.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

/// Too little memory makes the kernel drop what it has cached of the binaries.
pub(super) fn memory(system: &System) -> Finding {
    let topic = "memory";
    let sizes = meminfo(system, "MemAvailable").zip(meminfo(system, "MemTotal"));
    let Some((available, total)) = sizes else {
        return Finding::note(Group::Room, topic, "cannot be read here");
    };
    let found = format!("{} of {} available", gib(available), gib(total));
    if available < MEMORY_MIB {
        return Finding::warn(Group::Room, topic, format!("{found}: close what is not needed"))
            .mend("ps -eo rss,pid,args --sort=-rss | head");
    }
    Finding::ok(Group::Room, topic, found)
}

/// A page that has to come back from a disk is the longest stall that there is.
pub(super) fn swap(system: &System) -> Finding {
    let topic = "swap";
    let sizes = meminfo(system, "SwapTotal").zip(meminfo(system, "SwapFree"));
    let Some((total, free)) = sizes else {
        return Finding::note(Group::Room, topic, "cannot be read here");
    };
    match (total, total.saturating_sub(free)) {
        (0, _) => Finding::ok(Group::Room, topic, "none"),
        (total, used) if used < 64 => {
            Finding::ok(Group::Room, topic, format!("{}, unused", gib(total)))
        }
        (total, used) => Finding::note(
            Group::Room,
            topic,
            format!("{} of {} used: it stalls who needs it back", gib(used), gib(total)),
        )
        .mend("sudo swapoff -a && sudo swapon -a"),
    }
}

/// A build needs gigabytes, and a result that cannot be written is lost.
pub(super) fn disk(system: &System) -> Finding {
    let topic = "disk";
    let dir = system.needs.bin_dir.as_deref().unwrap_or(&system.root);
    let Some(free) = free_mib(system, &dir.to_string_lossy()) else {
        return Finding::note(Group::Room, topic, "free space cannot be read here").mend("df -h .");
    };
    let found = format!("{} free for target/", gib(free));
    match free {
        free if free < RESULTS_MIB => {
            Finding::fail(Group::Room, topic, format!("{found}: results cannot be kept"))
                .mend("cargo clean")
        }
        free if free < BUILD_MIB => {
            Finding::warn(Group::Room, topic, format!("{found}: a build may not fit"))
                .mend("cargo clean")
        }
        _ => Finding::ok(Group::Room, topic, found),
    }
}

/// Free MiB where `dir` is, as POSIX `df` tells it: a header, then one line.
fn free_mib(system: &System, dir: &str) -> Option<u64> {
    let output = system.run("df", &["-Pk", dir])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kib: u64 = text.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(kib / 1024)
}

fn gib(mib: u64) -> String {
    format!("{:.1} GiB", mib as f64 / 1024.0)
}
