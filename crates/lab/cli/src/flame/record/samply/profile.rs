//! The files that `samply` writes: a processed profile, and the names of its addresses.

use std::{collections::HashMap, path::PathBuf, time::Duration};

use anyhow::Context as _;
use serde::Deserialize;

use super::super::{
    super::{Folded, Recording, Rung},
    roots::is_rooted,
};

/// Firefox's processed profile, as far as it is needed: tables of columns that refer to each other
/// by index.
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
    /// Microseconds of CPU time since the sample before: none while the thread waited.
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
    /// Where it comes from; -1 if unknown.
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

/// The stacks of all threads, while they ran.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    stacks: Folded,
    samples: u64,
    rooted: u64,
    cpu: Duration,
}

impl Stacks {
    /// Reads both files. Samples of threads that waited count nothing.
    pub(super) fn read(profile: &str, names: &str) -> anyhow::Result<Self> {
        let profile: Profile = serde_json::from_str(profile).context("not a processed profile")?;
        let names: Names = serde_json::from_str(names).context("not a file of symbols")?;
        let names = names.by_address();
        let mut read = Self::default();
        for thread in &profile.threads {
            for (stack, cpu) in thread.samples.stack.iter().zip(&thread.samples.cpu) {
                let cpu = cpu.unwrap_or_default();
                read.cpu += Duration::from_micros(cpu);
                let Some(stack) = stack.filter(|_| cpu > 0) else { continue };
                let frames = thread.frames(stack, &profile.libs, &names);
                let frames = frames.context("an index leads nowhere")?;
                read.samples += 1;
                read.rooted += u64::from(is_rooted(&frames));
                read.stacks.add(frames, 1);
            }
        }
        Ok(read)
    }

    /// With all that is known of a recording.
    pub(super) fn recording(self, rung: Rung, window: Duration, file: PathBuf) -> Recording {
        Recording {
            rung,
            samples: self.samples,
            rooted_share: (self.samples > 0).then(|| self.rooted as f64 / self.samples as f64),
            lost_share: 0.0,
            sampled_cpu: self.cpu,
            // The window is the profiler's own, so that nothing else is measured over the same time.
            system_cpu: None,
            window,
            file: Some(file),
            by_timer: true,
            notices: Vec::new(),
            stacks: self.stacks,
        }
    }
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
            // A prefix comes before what it is a prefix of, or this would go on for ever.
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
            Some(((address.0), self.string_table.get(symbol)?.as_str()))
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

    /// In the shape of `samply` 0.13: a stack of three frames, of which the library's second has no
    /// name, sampled twice while it ran and once while it waited.
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
    fn addresses_get_their_names_and_waiting_counts_nothing() {
        let read = Stacks::read(PROFILE, NAMES).unwrap();
        assert_eq!(read.stacks.to_string(), "thread_start;[server];jit 2\n");
        let recording = read.recording(Rung::Samply, Duration::from_secs(1), PathBuf::new());
        assert_eq!((recording.samples, recording.rooted_share), (2, Some(1.0)));
        assert_eq!(recording.sampled_cpu, Duration::from_micros(1900));
    }

    #[test]
    fn a_file_that_contradicts_itself_is_an_error_and_no_endless_loop() {
        let circle = PROFILE.replace("[null, 0, 1]", "[2, 0, 1]");
        assert!(Stacks::read(&circle, NAMES).is_err());
        assert!(Stacks::read(&PROFILE.replace("[2, 2, 2]", "[7, 2, 2]"), NAMES).is_err());
        assert!(Stacks::read("{}", NAMES).is_err());
    }
}
