//! From addresses to folded stacks: only when somebody asks, and each address once.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::c_void,
    fmt::Write as _,
    sync::{LazyLock, Mutex, PoisonError},
};

use serde::Serialize;

use super::account::{Spent, Stack};

/// The functions at an address, at least one, the innermost first: all but the last were inlined.
static NAMES: LazyLock<Mutex<HashMap<usize, Vec<String>>>> = LazyLock::new(Mutex::default);

/// What is told of allocations.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    samples: u64,
    /// Estimated bytes in all stacks.
    bytes: u64,
    /// Bytes between two samples, on average.
    mean_distance: u64,
    /// A line a stack, the outermost frame first, and its estimated bytes.
    folded: String,
}

pub(super) fn tell(stacks: &[(Stack, Spent)], inlined: bool, mean_distance: f64) -> Told {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    for address in stacks.iter().flat_map(|(stack, _)| stack.iter()) {
        names.entry(*address).or_insert_with(|| look_up(*address));
    }
    let (mut samples, mut by_name) = (0, BTreeMap::<_, f64>::new());
    for (stack, spent) in stacks {
        let frames: Vec<_> = stack.iter().map(|address| names[address].as_slice()).collect();
        let (allocator, caller) = frames.split_at(of_allocator(&frames));
        let grows = allocator.iter().copied().flatten().any(|name| name.contains("realloc"));
        let first = |functions: &[String]| if inlined { 0 } else { functions.len() - 1 };
        let functions = caller.iter().rev().flat_map(|at| at[first(at)..].iter().rev());
        let stack = functions.map(String::as_str).collect::<Vec<_>>().join(";");
        samples += spent.samples;
        *by_name.entry(stack).or_default() += if grows { spent.grown } else { spent.bytes };
    }
    let mut folded = String::new();
    for (stack, bytes) in by_name.iter().filter(|(_, bytes)| **bytes >= 0.5) {
        let _ = writeln!(folded, "{stack} {bytes:.0}");
    }
    let (bytes, mean_distance) = (by_name.values().sum::<f64>() as u64, mean_distance as u64);
    Told { samples, bytes, mean_distance, folded }
}

/// How many frames of a stack are those of the sampler and the allocator, and not their caller's.
fn of_allocator(frames: &[&[String]]) -> usize {
    // What the compiler puts between a program and its allocator: `__rust_alloc` and the like.
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
