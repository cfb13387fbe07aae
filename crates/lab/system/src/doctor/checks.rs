//! The checks, in the order in which they are printed.

use super::{Finding, System};
use crate::Processors;

/// Debian's command, and the names of the package elsewhere.
pub const INSTALL_PERF: &str =
    "sudo apt-get install linux-perf  # Ubuntu: linux-tools-generic, others: perf";

/// Runs every check.
pub fn examine(system: &System) -> Vec<Finding> {
    [cores, quota, governor, load, steal, open_files, perf_rights, build]
        .map(|check| check(system))
        .into()
}

/// Server and generator need a core each, or they slow each other down.
fn cores(system: &System) -> Finding {
    let topic = "cores";
    let Some(usable) = system.cores else {
        return Finding::note(topic, "unknown on this system");
    };
    let online = system.read("sys/devices/system/cpu/online").and_then(|list| count(&list));
    let of = online.map_or(String::new(), |online| format!(" of {online} online"));
    if usable < 2 {
        let found = format!("{usable}{of} usable: server and load generator share it");
        let finding = Finding::warn(topic, found);
        return match online {
            Some(online) if online > 1 => {
                finding.fix(format!("taskset -c 0-{} just bench-all", online - 1))
            }
            _ => finding,
        };
    }
    if online.is_some_and(|online| online > usable) {
        let found = format!("{usable}{of} usable: affinity or a quota excludes the others");
        return Finding::note(topic, found).fix("taskset -cp $$");
    }
    Finding::ok(topic, format!("{usable}{of} usable"))
}

/// The number of members of a list such as `0-3,6`.
fn count(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + (last + 1).checked_sub(first)?)
    })
}

/// A process that has used up its quota stops for the rest of each 100 ms.
fn quota(system: &System) -> Finding {
    let topic = "CPU quota";
    let v1 = "sys/fs/cgroup/cpu/cpu.cfs";
    let limit = match system.read("sys/fs/cgroup/cpu.max") {
        Some(max) => max.split_once(' ').and_then(|(quota, period)| {
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        }),
        None => system
            .number(&format!("{v1}_quota_us"))
            .filter(|quota| *quota > 0)
            .zip(system.number(&format!("{v1}_period_us")))
            .map(|(quota, period)| quota as f64 / period as f64),
    };
    match limit {
        Some(limit) => {
            let found =
                format!("the container may use {limit:.1} cores and is stopped beyond that");
            Finding::warn(topic, found).fix("docker update --cpu-quota=-1 CONTAINER")
        }
        None => Finding::ok(topic, "none"),
    }
}

/// A governor that follows the load changes the clock speed during a run.
fn governor(system: &System) -> Finding {
    let topic = "governor";
    let mut governors: Vec<_> = system
        .entries("sys/devices/system/cpu")
        .iter()
        .filter_map(|cpu| system.read(&format!("{cpu}/cpufreq/scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    match governors.join(", ").as_str() {
        "" => Finding::note(topic, "unknown: the host or the system decides"),
        "performance" => Finding::ok(topic, "performance"),
        other => Finding::warn(topic, format!("{other}: the clock speed follows the load")).fix(
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        ),
    }
}

/// Other busy programs are the most common source of noise.
fn load(system: &System) -> Finding {
    let topic = "load";
    let minute = system
        .read("proc/loadavg")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let (Some(load), Some(cores)) = (minute, system.cores) else {
        return Finding::note(topic, "unknown on this system").fix("uptime");
    };
    let found = format!("{load:.2} over the last minute on {cores} cores");
    let top = "ps -eo pcpu,pid,args --sort=-pcpu | head";
    match load / cores as f64 {
        share if share < 0.15 => Finding::ok(topic, found),
        share if share < 0.5 => Finding::note(topic, format!("{found}: not idle")).fix(top),
        _ => Finding::warn(topic, format!("{found}: other programs are busy")).fix(top),
    }
}

/// In a virtual machine, the host gives time to its neighbours.
fn steal(system: &System) -> Finding {
    let topic = "steal";
    let share = Processors::read(system).map(|it| it.stolen / (it.programs + it.stolen));
    let Some(share) = share.filter(|share| share.is_finite()) else {
        return Finding::note(topic, "unknown on this system");
    };
    let found = format!("{:.1} % of the busy time since boot", 100.0 * share);
    if share > 0.01 {
        let found = format!("{found}: the host runs others instead");
        return Finding::warn(topic, found)
            .fix("vmstat 1 10  # column st: wait until it stays at 0");
    }
    Finding::ok(topic, found)
}

/// Every connection needs one.
fn open_files(system: &System) -> Finding {
    let topic = "open files";
    let needed = system.open_files_needed;
    match system.open_files {
        None => Finding::note(topic, "the limit is unknown on this system").fix("ulimit -Hn"),
        Some(hard) if hard < needed => {
            let found = format!("at most {hard}, and the largest case needs {needed}");
            Finding::fail(topic, found)
                .fix(format!("sudo prlimit --pid $$ --nofile={needed}:{needed}"))
        }
        Some(u64::MAX) => Finding::ok(topic, format!("{needed} needed; no hard limit")),
        Some(hard) => Finding::ok(topic, format!("{needed} needed; the hard limit is {hard}")),
    }
}

/// From level 2 on, `perf` cannot see the kernel; from 3 on, Debian and Ubuntu allow only root.
fn perf_rights(system: &System) -> Finding {
    let topic = "perf rights";
    let Some(level) = system.number("proc/sys/kernel/perf_event_paranoid") else {
        return Finding::note(topic, "the kernel offers no perf events here");
    };
    if system.program("perf").is_none() {
        let found = "perf is missing: flame graphs come from the server's own sampler";
        return Finding::note(topic, found).fix(INSTALL_PERF);
    }
    let setting = format!("perf_event_paranoid is {level}");
    let fix = "sudo sysctl kernel.perf_event_paranoid=1";
    match level {
        _ if system.is_root() => Finding::ok(topic, format!("{setting}; root ignores it")),
        ..=1 => Finding::ok(topic, setting),
        2 => Finding::note(topic, format!("{setting}: no kernel frames")).fix(fix),
        _ => Finding::warn(topic, format!("{setting}: only root may profile")).fix(fix),
    }
}

/// A debug build is slower by a factor that differs from place to place. The servers have the profile of
/// `lab`, which builds them.
fn build(system: &System) -> Finding {
    match system.debug_build {
        false => Finding::ok("build", "release"),
        true => Finding::warn("build", "a debug build: figures mean nothing")
            .fix("cargo build --release --workspace && just doctor"),
    }
}
