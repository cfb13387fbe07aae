//! Names for the code that a JVM compiled while it ran.

use std::time::Duration;

use lab_system::{System, process};

use super::program;

/// Has each JVM among the server's processes write `/tmp/perf-PID.map`, which `perf script` reads.
/// `jcmd` of JDK 17 or newer can ask for that. Without it the code has no names, and a notice says so.
pub async fn write_names(system: &System, pid: u32, patience: Duration) {
    let Some(jcmd) = system.program("jcmd") else { return };
    for pid in process::pids(pid) {
        let binary = std::fs::read_link(format!("/proc/{pid}/exe"));
        if binary.is_ok_and(|binary| binary.ends_with("java")) {
            let mut command = program::command(&jcmd);
            command.args([&pid.to_string(), "Compiler.perfmap"]);
            let _ = program::run(&mut command, "jcmd", patience).await;
        }
    }
}
