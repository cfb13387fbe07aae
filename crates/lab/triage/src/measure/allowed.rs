//! The cores on which the threads of a server may run. Somebody may have pinned it, as `taskset` does.

use std::{collections::BTreeSet, fs};

use lab_system::process;

/// How many cores at least one thread of a process or of its descendants may use; `None` where the system does
/// not say so.
pub fn allowed_cores(pid: u32) -> Option<usize> {
    let tasks = process::pids(pid)
        .into_iter()
        .flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten());
    let masks = tasks.filter_map(|task| process::status(&task.path(), "Cpus_allowed:"));
    let cores: BTreeSet<_> = masks.flat_map(|mask| allowed(&mask)).collect();
    (!cores.is_empty()).then_some(cores.len())
}

/// The cores in the mask of a thread: groups of hexadecimal digits, the first cores last.
fn allowed(mask: &str) -> Vec<usize> {
    let digits = mask.chars().rev().filter_map(|digit| digit.to_digit(16));
    let bits = digits.flat_map(|digit| (0..4).map(move |bit| digit & (1 << bit) != 0));
    bits.enumerate().filter_map(|(core, may_run)| may_run.then_some(core)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_core() {
        assert_eq!(allowed("3"), [0, 1]);
        assert_eq!(allowed("2"), [1]);
        assert_eq!(allowed("80000001,00000004"), [2, 32, 63]);
        assert_eq!(allowed(""), [0; 0]);
    }
}
