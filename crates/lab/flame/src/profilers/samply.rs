//! `samply`, which samples a process on Linux or macOS.
//!
//! It writes a profile for Firefox's profiler, which has addresses, and a second file with their
//! names.

use std::{collections::HashMap, path::Path, time::Duration};

use anyhow::Context as _;
use serde::Deserialize;

use super::{Failure, Obstacle, Profiler, Recording, Subject, program, window};
use crate::stacks::Folded;
use lab_doctor::System;

/// The version whose files are known: their format is Firefox's and changes with it.
const INSTALL: &str = "cargo install --locked samply@0.13.1 && samply setup";

/// Samples per second of each thread.
const RATE: u32 = 1000;

/// Checks whether it is installed. Whether it may attach is known only after trying.
pub fn look(system: &System) -> Result<(), Obstacle> {
    match system.program("samply") {
        Some(_) => Ok(()),
        None => Err(Obstacle::new("`samply` is missing").fix(INSTALL)),
    }
}

/// Samples for the window and reads the files.
pub async fn record(
    samply: &Path,
    subject: &Subject<'_>,
    length: Duration,
    patience: Duration,
) -> Result<Recording, Failure> {
    const WHAT: &str = "samply record";
    let file = subject.dir.join(format!("{}.samply.json", subject.name));
    let mut command = program::command(samply);
    command
        .args(["record", "--save-only", "--unstable-presymbolicate"])
        .args(["--rate", &RATE.to_string(), "--pid", &subject.pid.to_string(), "--output"])
        .arg(&file);
    // On Linux, samply ignores `--duration` when it attaches.
    let mut child = program::start(&mut command, WHAT)?;
    let window = window::pass(subject.pid, length).await?;
    program::interrupt(&mut child);
    if let Err(obstacle) = program::wait(child, WHAT, 4 * patience).await {
        window::ensure_alive_for_a_while(subject.pid).await?;
        let fix = match cfg!(target_os = "macos") {
            // It may not attach before its binary is signed.
            true => "samply setup",
            false => "sudo sysctl kernel.perf_event_paranoid=1",
        };
        return Err(obstacle.fix(fix).into());
    }
    let names = file.with_extension("syms.json");
    let read = read_file(&file).and_then(|profile| read(&profile, &read_file(&names)?));
    let (stacks, cpu) = read.map_err(|error| {
        Obstacle::new(format!("cannot parse what `samply` wrote: {error:#}")).fix(INSTALL)
    })?;
    Ok(Recording {
        sampled_cpu: cpu,
        system_cpu: window.system_cpu,
        ..Recording::new(Profiler::Samply, stacks, window.length)
    })
}

fn read_file(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The stacks of all threads while they ran, in samples, and the CPU time of those samples.
fn read(profile: &str, names: &str) -> anyhow::Result<(Folded, Duration)> {
    let profile: Profile = serde_json::from_str(profile).context("not a processed profile")?;
    let names: Names = serde_json::from_str(names).context("not a file of symbols")?;
    let names = names.by_address();
    let (mut stacks, mut cpu) = (Folded::default(), Duration::ZERO);
    for thread in &profile.threads {
        for (stack, used) in thread.samples.stack.iter().zip(&thread.samples.cpu) {
            let used = used.unwrap_or_default();
            cpu += Duration::from_micros(used);
            let Some(stack) = stack.filter(|_| used > 0) else { continue };
            let frames = thread.frames(stack, &profile.libs, &names);
            stacks.add(frames.context("an index leads nowhere")?, 1);
        }
    }
    Ok((stacks, cpu))
}

/// Firefox's processed profile, as far as it is needed: tables whose columns refer to each other by
/// index.
#[derive(Deserialize)]
struct Profile {
    libs: Vec<Lib>,
    threads: Vec<Thread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lib {
    debug_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    samples: Samples,
    stack_table: StackTable,
    frame_table: FrameTable,
    func_table: FuncTable,
    resource_table: ResourceTable,
    string_array: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    stack: Vec<Option<usize>>,
    /// Microseconds of CPU time since the previous sample: 0 while the thread waited.
    #[serde(rename = "threadCPUDelta")]
    cpu: Vec<Option<u64>>,
}

#[derive(Deserialize)]
struct StackTable {
    /// The stack without its innermost frame.
    prefix: Vec<Option<usize>>,
    frame: Vec<usize>,
}

#[derive(Deserialize)]
struct FrameTable {
    /// Relative to the library; -1 if there is none.
    address: Vec<i64>,
    func: Vec<usize>,
}

#[derive(Deserialize)]
struct FuncTable {
    name: Vec<usize>,
    /// Where the function comes from; -1 if unknown.
    resource: Vec<i64>,
}

#[derive(Deserialize)]
struct ResourceTable {
    lib: Vec<Option<usize>>,
}

/// The second file.
#[derive(Deserialize)]
struct Names {
    string_table: Vec<String>,
    data: Vec<LibNames>,
}

#[derive(Deserialize)]
struct LibNames {
    debug_name: String,
    symbol_table: Vec<Symbol>,
    /// An address and its index in the table of symbols.
    known_addresses: Vec<(i64, usize)>,
}

#[derive(Deserialize)]
struct Symbol {
    symbol: usize,
}

impl Thread {
    /// The names of a stack's frames, the outermost first.
    fn frames(
        &self,
        stack: usize,
        libs: &[Lib],
        names: &HashMap<(&str, i64), &str>,
    ) -> Option<Vec<String>> {
        let mut frames = Vec::new();
        let mut next = Some(stack);
        while let Some(stack) = next {
            frames.push(self.name(*self.stack_table.frame.get(stack)?, libs, names)?);
            next = *self.stack_table.prefix.get(stack)?;
            // A prefix has a lower index than its stack. A cycle would never end.
            next.is_none_or(|prefix| prefix < stack).then_some(())?;
        }
        frames.reverse();
        Some(frames)
    }

    fn name(
        &self,
        frame: usize,
        libs: &[Lib],
        names: &HashMap<(&str, i64), &str>,
    ) -> Option<String> {
        let func = *self.frame_table.func.get(frame)?;
        let address = *self.frame_table.address.get(frame)?;
        let resource = usize::try_from(*self.func_table.resource.get(func)?).ok();
        let lib = resource.and_then(|resource| *self.resource_table.lib.get(resource)?);
        let Some(lib) = lib.and_then(|lib| libs.get(lib)) else {
            return self.string_array.get(*self.func_table.name.get(func)?).cloned();
        };
        let name = names.get(&(lib.debug_name.as_str(), address));
        Some(name.map_or_else(|| format!("[{}]", lib.debug_name), |name| (*name).to_owned()))
    }
}

impl Names {
    fn by_address(&self) -> HashMap<(&str, i64), &str> {
        let of = |lib: &'_ LibNames, address: &(i64, usize)| {
            let symbol = lib.symbol_table.get(address.1)?.symbol;
            Some((address.0, self.string_table.get(symbol)?.as_str()))
        };
        let all = self.data.iter().flat_map(|lib| {
            let names = lib.known_addresses.iter().filter_map(move |address| of(lib, address));
            names.map(|(address, name)| ((lib.debug_name.as_str(), address), name))
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the shape of `samply` 0.13: a stack of three frames, whose second has no name, sampled twice
    /// while it ran and once while it waited.
    const PROFILE: &str = r#"{"meta": {"interval": 1.0}, "libs": [{"debugName": "server", "name": "server"}],
        "threads": [{
            "samples": {"length": 3, "stack": [2, 2, 2], "threadCPUDelta": [1000, 900, 0]},
            "stackTable": {"length": 3, "prefix": [null, 0, 1], "frame": [0, 1, 2]},
            "frameTable": {"length": 3, "address": [16, 32, -1], "func": [0, 1, 2]},
            "funcTable": {"length": 3, "name": [0, 1, 2], "resource": [0, 0, -1]},
            "resourceTable": {"length": 1, "lib": [0], "name": [3]},
            "stringArray": ["0x10", "0x20", "jit", "server"]}]}"#;
    const NAMES: &str = r#"{"string_table": ["UNKNOWN", "thread_start"], "data": [{
        "debug_name": "server", "debug_id": "0", "code_id": "0",
        "symbol_table": [{"rva": 8, "size": 16, "symbol": 1}], "known_addresses": [[16, 0]]}]}"#;

    #[test]
    fn addresses_get_names_and_waiting_does_not_count() {
        let (stacks, cpu) = read(PROFILE, NAMES).unwrap();
        assert_eq!(stacks.to_string(), "thread_start;[server];jit 2\n");
        assert_eq!(cpu, Duration::from_micros(1900));
    }

    #[test]
    fn inconsistent_files_are_rejected() {
        let circle = PROFILE.replace("[null, 0, 1]", "[2, 0, 1]");
        assert!(read(&circle, NAMES).is_err());
        assert!(read(&PROFILE.replace("[2, 2, 2]", "[7, 2, 2]"), NAMES).is_err());
        assert!(read("{}", NAMES).is_err());
    }
}
