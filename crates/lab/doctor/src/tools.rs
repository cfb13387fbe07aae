//! Programs that do more than a measurement takes.

use super::{Finding, Group, System};

/// Counts instructions, which repeat where times do not.
pub(super) fn valgrind(system: &System) -> Finding {
    let topic = "valgrind";
    if system.program("valgrind").is_none() {
        return Finding::note(Group::Tools, topic, "missing: no instruction counts")
            .mend(install(system, "valgrind"));
    }
    match system.run("valgrind", &["--version"]).filter(|output| output.status.success()) {
        Some(output) => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Finding::ok(Group::Tools, topic, version)
        }
        None => Finding::warn(Group::Tools, topic, "there, but it does not run")
            .mend("valgrind --version"),
    }
}

/// What is good to have; each is a note if it is missing.
pub(super) fn optional(system: &System) -> impl Iterator<Item = Finding> {
    let tools = [
        ("just", "the recipes of the justfile", "cargo install --locked just".to_owned()),
        ("wrk", "a second opinion on throughput", install(system, "wrk")),
        (
            "gungraun-runner",
            "instruction counts as benches",
            "cargo install --locked gungraun-runner".to_owned(),
        ),
    ];
    tools.into_iter().map(|(name, purpose, mend)| match system.program(name) {
        Some(_) => Finding::ok(Group::Tools, topic(name), "found"),
        None => Finding::note(Group::Tools, topic(name), format!("missing: {purpose}")).mend(mend),
    })
}

/// What a program belongs to: `gungraun-runner` is only the half of gungraun outside the benches.
fn topic(program: &str) -> &str {
    program.split('-').next().unwrap_or(program)
}

/// The command that installs a package with what this system installs packages with.
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
    // Where none is known, what is most common is still a hint.
    let command = found.next().map_or("sudo apt-get install", |(_, command)| command);
    format!("{command} {package}")
}
