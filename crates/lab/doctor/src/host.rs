//! The machine as a whole: whether it is one, who shares it, and what it runs on.

use super::{Finding, Group, System};

/// In a virtual machine the neighbours count too; how much, the stolen time tells.
pub(super) fn virtual_machine(system: &System) -> Finding {
    let topic = "virtual";
    let dmi = |file| system.read(&format!("sys/class/dmi/id/{file}")).unwrap_or_default();
    let product = format!("{} {}", dmi("sys_vendor"), dmi("product_name")).trim().to_owned();
    let known = ["KVM", "QEMU", "VMware", "VirtualBox", "Virtual Machine", "Amazon EC2", "Xen"]
        .iter()
        .any(|name| product.contains(name));
    let Some(cpuinfo) = system.read("proc/cpuinfo") else {
        return Finding::note(Group::Machine, topic, "whether it is one cannot be read here");
    };
    let flagged = cpuinfo
        .lines()
        .any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"));
    if !flagged && !known {
        return Finding::ok(Group::Machine, topic, "no sign of a virtual machine");
    }
    let name = if product.is_empty() { String::new() } else { format!(" ({product})") };
    let found = format!("virtual machine{name}");
    match stolen(system) {
        Some(share) if share > 0.01 => {
            Finding::warn(Group::Machine, topic, format!("{found}: {:.1} % stolen", 100.0 * share))
                .mend("vmstat 1 10  # column st: wait until it stays at 0")
        }
        Some(share) => {
            let found = format!("{found}, {:.1} % stolen", 100.0 * share);
            Finding::note(Group::Machine, topic, found)
        }
        None => Finding::note(Group::Machine, topic, found),
    }
}

/// The share of all busy time since the start that the host gave to others (`steal`).
fn stolen(system: &System) -> Option<f64> {
    let stat = system.read("proc/stat")?;
    // user nice system idle iowait irq softirq steal
    let ticks: Vec<f64> =
        stat.lines().next()?.split_whitespace().skip(1).flat_map(str::parse).collect();
    let busy = ticks.get(..8)?.iter().sum::<f64>() - ticks[3] - ticks[4];
    (busy > 0.0).then(|| ticks[7] / busy)
}

/// A container shares its kernel, and often lacks the rights that profiling takes.
pub(super) fn container(system: &System) -> Finding {
    let topic = "container";
    match container_sign(system) {
        Some(kind) => {
            let found = format!("yes ({kind}): its limits and its kernel are the host's");
            Finding::note(Group::Machine, topic, found)
        }
        None => Finding::ok(Group::Machine, topic, "no sign of one"),
    }
}

/// What kind of container this is in, if there is a sign of one.
pub fn container_sign(system: &System) -> Option<&'static str> {
    let group = system.read("proc/1/cgroup").unwrap_or_default();
    let mut named = ["docker", "kubepods", "containerd", "lxc", "podman"].into_iter();
    match named.find(|name| group.contains(name)) {
        _ if system.has(".dockerenv") => Some("docker"),
        _ if system.has("run/.containerenv") => Some("podman"),
        named => named,
    }
}

/// On battery, the clock is kept low.
pub(super) fn power(system: &System) -> Finding {
    let topic = "power";
    let supplies = system.entries("sys/class/power_supply");
    let read = |supply: &str, file: &str| system.read(&format!("{supply}/{file}"));
    let mains = |online| {
        supplies.iter().any(|supply| {
            read(supply, "type").as_deref() == Some("Mains")
                && read(supply, "online").as_deref() == Some(online)
        })
    };
    let discharging =
        supplies.iter().any(|supply| read(supply, "status").as_deref() == Some("Discharging"));
    if discharging || (mains("0") && !mains("1")) {
        let found = "on battery: the clock is kept low";
        // No command plugs in a cable; this one shows that somebody has.
        return Finding::warn(Group::Machine, topic, found)
            .mend("cat /sys/class/power_supply/*/online  # plug it in, until this says 1");
    }
    if !system.has("sys/class/power_supply") {
        return Finding::note(Group::Machine, topic, "cannot be read here: is it plugged in?");
    }
    let found = if mains("1") { "plugged in" } else { "no battery" };
    Finding::ok(Group::Machine, topic, found)
}
