//! How this system installs a package, and whether it is a container.

use super::System;

/// The package that contains `perf`: Ubuntu builds it under another name.
pub fn perf_package(system: &System) -> String {
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

/// The command that installs a package here.
pub fn install(system: &System, package: &str) -> String {
    let installers = [
        ("apt-get", "sudo apt-get install"),
        ("dnf", "sudo dnf install"),
        ("pacman", "sudo pacman -S"),
        ("apk", "sudo apk add"),
        ("zypper", "sudo zypper install"),
        ("brew", "brew install"),
    ];
    let mut found = installers.iter().filter(|(program, _)| system.program(program).is_some());
    // The most common one is still a hint where none is found.
    let command = found.next().map_or("sudo apt-get install", |(_, command)| command);
    format!("{command} {package}")
}

/// The kind of container that this is, if there is a sign of one.
pub fn container_sign(system: &System) -> Option<&'static str> {
    let group = system.read("proc/1/cgroup").unwrap_or_default();
    let mut named = ["docker", "kubepods", "containerd", "lxc", "podman"].into_iter();
    match named.find(|name| group.contains(name)) {
        _ if system.has(".dockerenv") => Some("docker"),
        _ if system.has("run/.containerenv") => Some("podman"),
        named => named,
    }
}
