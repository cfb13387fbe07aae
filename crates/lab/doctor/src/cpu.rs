//! The processor: how much of it there is, how steady it runs, and who else is on it.

use super::{Finding, Group, System};

/// Server and generator need a core each, or they measure each other.
pub(super) fn cores(system: &System) -> Finding {
    let topic = "cores";
    let Some(usable) = system.cores else {
        return Finding::note(Group::Cpu, topic, "their number cannot be read here");
    };
    let online = system.read("sys/devices/system/cpu/online").and_then(|list| count(&list));
    let of = online.map_or(String::new(), |online| format!(" of {online} online"));
    if usable < 2 {
        let found = format!("{usable}{of} usable: server and load generator share it");
        let finding = Finding::warn(Group::Cpu, topic, found);
        return match online {
            Some(online) if online > 1 => {
                finding.mend(format!("taskset -c 0-{} just bench-all", online - 1))
            }
            _ => finding,
        };
    }
    if online.is_some_and(|online| online > usable) {
        let found = format!("{usable}{of} usable: affinity or quota bars the others");
        return Finding::note(Group::Cpu, topic, found).mend("taskset -cp $$");
    }
    Finding::ok(Group::Cpu, topic, format!("{usable}{of} usable"))
}

/// The members of a list such as `0-3,6`.
fn count(list: &str) -> Option<usize> {
    list.split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + (last + 1).checked_sub(first)?)
    })
}

/// A quota stops a process for the rest of each 100 ms once it has had its share of them.
pub(super) fn quota(system: &System) -> Finding {
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
        Some(limit) => Finding::warn(
            Group::Cpu,
            topic,
            format!("the container may use {limit:.1} cores and is stopped beyond that"),
        )
        .mend("docker update --cpu-quota=-1 CONTAINER"),
        None => Finding::ok(Group::Cpu, topic, "none"),
    }
}

/// A governor that follows the load changes the clock in the middle of a run.
pub(super) fn governor(system: &System) -> Finding {
    let topic = "governor";
    let mut governors: Vec<_> = system
        .entries("sys/devices/system/cpu")
        .iter()
        .filter_map(|cpu| system.read(&format!("{cpu}/cpufreq/scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    match governors.join(", ").as_str() {
        "" => Finding::note(Group::Cpu, topic, "not shown here: the host or the system decides"),
        "performance" => Finding::ok(Group::Cpu, topic, "performance"),
        other => Finding::warn(Group::Cpu, topic, format!("{other}: the clock follows the load"))
            .mend(
                "echo performance | \
                 sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            ),
    }
}

/// Turbo ends when the processor gets warm, which the later runs pay for.
pub(super) fn turbo(system: &System) -> Finding {
    let topic = "turbo";
    let switches = [("intel_pstate/no_turbo", 0), ("cpufreq/boost", 1)];
    for (switch, on) in switches {
        let path = format!("sys/devices/system/cpu/{switch}");
        let Some(value) = system.number(&path) else { continue };
        if value != on {
            return Finding::ok(Group::Cpu, topic, "off");
        }
        return Finding::note(Group::Cpu, topic, "on: the clock depends on the temperature")
            .mend(format!("echo {} | sudo tee /{path}", 1 - on));
    }
    Finding::note(Group::Cpu, topic, "not shown here: the host or the system decides")
}

/// Reading some clocks takes a call into the kernel, or a device's answer.
pub(super) fn clock(system: &System) -> Finding {
    let topic = "clock source";
    let dir = "sys/devices/system/clocksource/clocksource0";
    let Some(current) = system.read(&format!("{dir}/current_clocksource")) else {
        return Finding::note(Group::Cpu, topic, "cannot be read here");
    };
    if !matches!(current.as_str(), "hpet" | "acpi_pm" | "jiffies" | "pit") {
        return Finding::ok(Group::Cpu, topic, current);
    }
    let found = format!("{current}: slow to read, which every latency pays for");
    let finding = Finding::warn(Group::Cpu, topic, found);
    let others = system.read(&format!("{dir}/available_clocksource")).unwrap_or_default();
    if others.split_whitespace().any(|clock| clock == "tsc") {
        return finding.mend(format!("echo tsc | sudo tee /{dir}/current_clocksource"));
    }
    finding
}

/// Others who work at the same time are the commonest noise.
pub(super) fn load(system: &System) -> Finding {
    let topic = "load";
    let minute = system
        .read("proc/loadavg")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let (Some(load), Some(cores)) = (minute, system.cores) else {
        return Finding::note(Group::Cpu, topic, "cannot be read here").mend("uptime");
    };
    let found = format!("{load:.2} over the last minute on {cores} cores");
    let top = "ps -eo pcpu,pid,args --sort=-pcpu | head";
    match load / cores as f64 {
        share if share < 0.15 => Finding::ok(Group::Cpu, topic, found),
        share if share < 0.5 => {
            Finding::note(Group::Cpu, topic, format!("{found}: not idle")).mend(top)
        }
        _ => Finding::warn(Group::Cpu, topic, format!("{found}: others work too")).mend(top),
    }
}
