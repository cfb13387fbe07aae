//! What can be wrong with a machine, and what the doctor has to say of it.

use super::{Status, fake::Fake};

/// What breaks, the topic that has to notice, how bad it is, and a part of what is said of it:
/// `found`, or the command that mends it.
pub type Fault = (fn(&mut Fake), &'static str, Status, &'static str);

/// Every fault that the doctor knows, each alone.
pub const FAULTS: [Fault; 33] = [
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
    (
        |fake| fake.write("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        "turbo",
        Status::Note,
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
    ),
    (
        |fake| {
            fake.remove("sys/devices/system/cpu/intel_pstate");
            fake.write("sys/devices/system/cpu/cpufreq/boost", "1");
        },
        "turbo",
        Status::Note,
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
    ),
    (
        |fake| {
            fake.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet")
        },
        "clock source",
        Status::Warn,
        "echo tsc | sudo tee",
    ),
    (|fake| fake.write("proc/loadavg", "3.10 1 1 1/1 1"), "load", Status::Warn, "others work too"),
    (|fake| fake.write("proc/loadavg", "0.90 1 1 1/1 1"), "load", Status::Note, "not idle"),
    (
        |fake| fake.write("proc/cpuinfo", "flags : fpu hypervisor tsc\n"),
        "virtual",
        Status::Note,
        "0.0 % stolen",
    ),
    (
        |fake| fake.write("sys/class/dmi/id/sys_vendor", "QEMU"),
        "virtual",
        Status::Note,
        "(QEMU ThinkStation)",
    ),
    (
        |fake| {
            fake.write("proc/cpuinfo", "flags : hypervisor\n");
            fake.write("proc/stat", "cpu  900 0 50 9000 10 0 0 50 0 0\n");
        },
        "virtual",
        Status::Warn,
        "5.0 % stolen",
    ),
    (|fake| fake.write(".dockerenv", ""), "container", Status::Note, "(docker)"),
    (|fake| fake.write("proc/1/cgroup", "0::/kubepods/x"), "container", Status::Note, "(kubepods)"),
    (
        |fake| fake.write("sys/class/power_supply/AC/online", "0"),
        "power",
        Status::Warn,
        "on battery",
    ),
    (
        |fake| fake.write("sys/class/power_supply/BAT0/status", "Discharging"),
        "power",
        Status::Warn,
        "plug it in",
    ),
    (
        |fake| fake.system.open_files = Some((1024, 4096)),
        "open files",
        Status::Fail,
        "sudo prlimit --pid $$ --nofile=6100:6100",
    ),
    (
        |fake| fake.write("proc/sys/net/ipv4/ip_local_port_range", "40000 41000"),
        "ports",
        Status::Fail,
        "sudo sysctl net.ipv4.ip_local_port_range",
    ),
    (
        |fake| fake.write("proc/net/sockstat", "TCP: inuse 7 orphan 0 tw 27000 alloc 9 mem 1"),
        "ports",
        Status::Warn,
        "sleep 60",
    ),
    (
        |fake| fake.write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 524288 kB\n"),
        "memory",
        Status::Warn,
        "0.5 GiB of 8.0 GiB",
    ),
    (
        |fake| fake.write("proc/meminfo", "SwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n"),
        "swap",
        Status::Note,
        "sudo swapoff -a && sudo swapon -a",
    ),
    (
        |fake| fake.program("df", "echo; echo 'd 9 8 2097152 9% /'"),
        "disk",
        Status::Warn,
        "cargo clean",
    ),
    (
        |fake| fake.program("df", "echo; echo 'd 9 9 1024 9% /'"),
        "disk",
        Status::Fail,
        "cargo clean",
    ),
    (|fake| fake.system.debug_build = true, "build", Status::Warn, "load generator is slow"),
    (
        |fake| {
            fake.write("target/debug/toy-slow", "");
            fake.write("target/debug/toy-fixed", "");
            fake.system.needs.bin_dir = Some(fake.system.root.join("target/debug"));
        },
        "build",
        Status::Warn,
        "cargo build --release",
    ),
    (
        |fake| fake.remove("target/release/toy-fixed"),
        "binaries",
        Status::Warn,
        "1 of 2 missing, such as toy-fixed",
    ),
    (|fake| fake.system.needs.bin_dir = None, "binaries", Status::Note, "--root"),
    (|fake| fake.remove("bin/perf"), "perf", Status::Note, "sudo apt-get install linux-perf"),
    (|fake| fake.program("perf", "exit 2"), "perf", Status::Warn, "it counts nothing"),
    (
        |fake| {
            fake.program("perf", "echo 1.5,msec,task-clock >&2; echo '<not supported>,,cycles' >&2")
        },
        "perf",
        Status::Note,
        "by the timer only",
    ),
    (
        |fake| fake.write("proc/sys/kernel/perf_event_paranoid", "3"),
        "perf rights",
        Status::Warn,
        "sudo sysctl kernel.perf_event_paranoid=1",
    ),
    (
        |fake| fake.write("proc/sys/kernel/kptr_restrict", "1"),
        "kernel names",
        Status::Note,
        "sudo sysctl kernel.kptr_restrict=0",
    ),
    (|fake| fake.remove("bin/wrk"), "wrk", Status::Note, "sudo apt-get install wrk"),
];
