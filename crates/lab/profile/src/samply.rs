//! `samply`, which samples a process on Linux or macOS.
//!
//! It writes a profile for Firefox's profiler, which has addresses, and a second file with their
//! names.

use std::{collections::HashMap, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use lab_observation::{Folded, Profiler, Recording};
use serde_json::Value;

use super::{Failure, Obstacle, Subject, program, window};

/// The version whose files are known: their format is Firefox's and changes with it.
pub const INSTALL: &str = "cargo install --locked samply@0.13.1 && samply setup";

/// Samples per second of each thread.
const RATE: u32 = 1000;

/// Attaches, and tells `samply` after the window to end. It looks up names then.
pub async fn sample(
    samply: &Path,
    subject: Subject<'_>,
    length: Duration,
    patience: Duration,
) -> Result<impl Future<Output = Result<Recording, Failure>> + use<>, Failure> {
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
    let pid = subject.pid;
    Ok(async move {
        if let Err(obstacle) = program::wait(child, WHAT, 4 * patience).await {
            window::ensure_alive_for_a_while(pid).await?;
            let fix = match cfg!(target_os = "macos") {
                // It may not attach before its binary is signed.
                true => "samply setup",
                false => "sudo sysctl kernel.perf_event_paranoid=1",
            };
            return Err(obstacle.fix(fix).into());
        }
        let names = file.with_extension("syms.json");
        let read = read_file(&file).and_then(|profile| stacks(&profile, &read_file(&names)?));
        let (stacks, sampled_cpu) = read.map_err(|error| {
            Obstacle::new(format!("cannot parse what `samply` wrote: {error:#}")).fix(INSTALL)
        })?;
        Ok(Recording { sampled_cpu, ..Recording::new(Profiler::Samply, stacks, window) })
    })
}

fn read_file(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The stacks of all threads while they ran, in samples, and the CPU time of those samples.
///
/// The profile consists of tables whose columns refer to each other by index. Only the needed ones
/// are read.
fn stacks(profile: &str, names: &str) -> anyhow::Result<(Folded, Duration)> {
    let profile: Value = serde_json::from_str(profile).context("not a profile")?;
    let names: Value = serde_json::from_str(names).context("not a file of symbols")?;
    let names = by_address(&names).context("not a file of symbols")?;
    let (mut stacks, mut cpu) = (Folded::default(), Duration::ZERO);
    for thread in profile["threads"].as_array().context("a profile without threads")? {
        let samples =
            ["stack", "threadCPUDelta"].map(|column| thread["samples"][column].as_array());
        let [Some(sampled), Some(used)] = samples else { bail!("a thread without samples") };
        for (stack, used) in sampled.iter().zip(used) {
            // Microseconds since the previous sample: 0 while the thread waited.
            let used = used.as_u64().unwrap_or_default();
            cpu += Duration::from_micros(used);
            if used > 0 && !stack.is_null() {
                let frames = frames(thread, index(stack), &profile["libs"], &names);
                stacks.add(frames.context("an index leads nowhere")?, 1);
            }
        }
    }
    Ok((stacks, cpu))
}

/// The names of functions, by library and address.
type Names<'a> = HashMap<(&'a str, i64), &'a str>;

fn by_address(names: &Value) -> Option<Names<'_>> {
    let mut by_address = HashMap::new();
    for lib in names["data"].as_array()? {
        let lib_name = lib["debug_name"].as_str()?;
        for known in lib["known_addresses"].as_array()? {
            let symbol = index(&known[1]).and_then(|at| index(&lib["symbol_table"][at]["symbol"]));
            let name = symbol.and_then(|at| names["string_table"][at].as_str());
            if let (Some(address), Some(name)) = (known[0].as_i64(), name) {
                by_address.insert((lib_name, address), name);
            }
        }
    }
    Some(by_address)
}

/// An index into a table; `null` and -1 mean no entry.
fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// The names of a stack's frames, the outermost first.
fn frames(
    thread: &Value,
    stack: Option<usize>,
    libs: &Value,
    names: &Names,
) -> Option<Vec<String>> {
    let mut frames = Vec::new();
    let mut next = stack;
    while let Some(stack) = next {
        let frame = index(&thread["stackTable"]["frame"][stack])?;
        frames.push(name(thread, frame, libs, names)?);
        // The stack without its innermost frame has a lower index. A cycle would never end.
        next = index(&thread["stackTable"]["prefix"][stack]);
        next.is_none_or(|prefix| prefix < stack).then_some(())?;
    }
    frames.reverse();
    Some(frames)
}

fn name(thread: &Value, frame: usize, libs: &Value, names: &Names) -> Option<String> {
    let func = index(&thread["frameTable"]["func"][frame])?;
    let address = thread["frameTable"]["address"][frame].as_i64()?;
    let resource = index(&thread["funcTable"]["resource"][func]);
    let lib = resource.and_then(|resource| index(&thread["resourceTable"]["lib"][resource]));
    let Some(lib) = lib.and_then(|lib| libs[lib]["debugName"].as_str()) else {
        let name = index(&thread["funcTable"]["name"][func])?;
        return thread["stringArray"][name].as_str().map(str::to_owned);
    };
    let name = names.get(&(lib, address));
    Some(name.map_or_else(|| format!("[{lib}]"), |name| (*name).to_owned()))
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
        let (stacks, cpu) = stacks(PROFILE, NAMES).unwrap();
        assert_eq!(stacks.to_string(), "thread_start;[server];jit 2\n");
        assert_eq!(cpu, Duration::from_micros(1900));
    }

    #[test]
    fn inconsistent_files_are_rejected() {
        let circle = PROFILE.replace("[null, 0, 1]", "[2, 0, 1]");
        assert!(stacks(&circle, NAMES).is_err());
        assert!(stacks(&PROFILE.replace("[2, 2, 2]", "[7, 2, 2]"), NAMES).is_err());
        assert!(stacks("{}", NAMES).is_err());
    }
}
