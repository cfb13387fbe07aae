//! What is measured: release builds, and all of them there.

use super::{Finding, Group, System};

/// A debug build is slower by any factor, and not by the same one everywhere.
pub(super) fn build(system: &System) -> Finding {
    let topic = "build";
    let dir = system.needs.bin_dir.as_deref();
    let debug_dir = dir.is_some_and(|dir| dir.ends_with("debug"));
    let found = match (system.debug_build, debug_dir) {
        (false, false) => return Finding::ok(Group::Servers, topic, "release"),
        (true, true) => "`lab` and servers are debug builds: figures mean nothing",
        (true, false) => "`lab` is a debug build: its load generator is slow",
        (false, true) => "the servers are debug builds: figures mean nothing",
    };
    Finding::warn(Group::Servers, topic, found)
        .mend("cargo build --release --workspace && just doctor")
}

/// A measurement in the middle of which a binary is missing is a measurement lost.
pub(super) fn binaries(system: &System) -> Finding {
    let topic = "binaries";
    let needs = &system.needs;
    let Some(dir) = &needs.bin_dir else {
        return Finding::note(Group::Servers, topic, "no cases here: outside the workspace")
            .mend("lab doctor --root WORKSPACE");
    };
    let missing: Vec<_> = needs
        .binaries
        .iter()
        .filter(|name| !dir.join(name).with_extension(std::env::consts::EXE_EXTENSION).is_file())
        .collect();
    let all = needs.binaries.len();
    let Some(first) = missing.first() else {
        return Finding::ok(Group::Servers, topic, format!("all {all} are built"));
    };
    let found = format!("{} of {all} missing, such as {first}", missing.len());
    Finding::warn(Group::Servers, topic, found).mend("cargo build --release --workspace")
}
