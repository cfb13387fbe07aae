//! Turns addresses into folded stacks, on request. Each address is looked up once.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::c_void,
    fmt::Write as _,
    sync::{LazyLock, Mutex, PoisonError},
};

use serde::Serialize;

use super::account::Account;

/// The functions at an address, at least one, the innermost first. All but the last were inlined.
static NAMES: LazyLock<Mutex<HashMap<usize, Vec<String>>>> = LazyLock::new(Mutex::default);

/// The answer about allocations.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    samples: u64,
    /// Estimated bytes in all stacks.
    bytes: u64,
    /// Bytes between two samples, on average.
    mean_distance: u64,
    /// A line a stack, the outermost frame first, and its estimated bytes.
    folded: String,
}

pub(super) fn report(stacks: &Account, inlined: bool, mean_distance: f64) -> Answer {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    for address in stacks.keys().flatten() {
        names.entry(*address).or_insert_with(|| look_up(*address));
    }
    let (mut samples, mut by_name) = (0, BTreeMap::<_, f64>::new());
    for (stack, spent) in stacks {
        let frames: Vec<_> = stack.iter().map(|address| names[address].as_slice()).collect();
        let caller = &frames[of_allocator(&frames)..];
        let first = |functions: &[String]| if inlined { 0 } else { functions.len() - 1 };
        let functions = caller.iter().rev().flat_map(|at| at[first(at)..].iter().rev());
        let stack = functions.map(String::as_str).collect::<Vec<_>>().join(";");
        samples += spent.samples;
        *by_name.entry(stack).or_default() += spent.bytes;
    }
    let mut folded = String::new();
    for (stack, bytes) in by_name.iter().filter(|(_, bytes)| **bytes >= 0.5) {
        let _ = writeln!(folded, "{stack} {bytes:.0}");
    }
    let (bytes, mean_distance) = (by_name.values().sum::<f64>() as u64, mean_distance as u64);
    Answer { samples, bytes, mean_distance, folded }
}

/// How many frames belong to the sampler and the allocator. Their caller's frames come after.
fn of_allocator(frames: &[&[String]]) -> usize {
    // The functions that the compiler puts between a program and its allocator, such as `__rust_alloc`.
    let glue = |name: &String| name.starts_with("__rustc::__r");
    let sampler = |name: &String| name.contains("tracking_allocator");
    let is_allocator = |at: &&[String]| at.iter().any(|name| glue(name) || sampler(name));
    frames.iter().rposition(is_allocator).map_or(0, |last| last + 1)
}

fn look_up(address: usize) -> Vec<String> {
    let mut functions = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        functions.extend(symbol.name().map(|name| format!("{name:#}").replace(';', ":")));
    });
    if functions.is_empty() {
        functions.push(format!("{address:#x}"));
    }
    functions
}
