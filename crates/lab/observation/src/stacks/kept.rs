//! The memory that stays after the requests, and who allocated it.

use std::collections::BTreeMap;

use super::{Folded, View, names::Name, view::is_glue};
use crate::languages::LANGUAGES;

/// How many functions of a stack are named.
const NAMED: usize = 4;

/// The memory that a server allocated under load, and had not freed at its end.
#[derive(Debug)]
pub struct KeptHeap {
    /// Stacks with the symbols as the server names them, and their bytes.
    pub stacks: Folded,
    /// Requests that were answered meanwhile.
    pub requests: u64,
    /// CPU time per request while allocations were recorded, as a multiple of that without; if both are known.
    pub slowdown: Option<f64>,
}

/// A stack as a reader sees it, and what it keeps.
#[derive(Debug, PartialEq)]
pub struct KeptStack {
    /// The innermost function first: `Vec::push ← remember ← serve ← main`.
    pub name: String,
    pub bytes_per_request: u64,
    /// Of all that is kept.
    pub share: f64,
}

impl KeptHeap {
    /// Bytes per request, in these stacks as the page shows them.
    pub fn per_request(&self, view: &View) -> Folded {
        view.of(&self.stacks).scaled_to(self.stacks.total() / self.requests.max(1))
    }

    /// The stacks that keep most.
    pub fn largest(&self, most: usize) -> Vec<KeptStack> {
        let total = self.stacks.total().max(1) as f64;
        let mut by_name = BTreeMap::<String, u64>::new();
        for (stack, bytes) in self.stacks.iter() {
            *by_name.entry(callers(stack)).or_default() += bytes;
        }
        let kept = |(name, bytes): (String, u64)| KeptStack {
            name,
            bytes_per_request: bytes / self.requests.max(1),
            share: bytes as f64 / total,
        };
        let mut stacks: Vec<_> = by_name.into_iter().map(kept).collect();
        stacks.sort_by(|a, b| b.share.total_cmp(&a.share));
        stacks.truncate(most);
        stacks
    }
}

/// The program's functions that led to an allocation, and what the first of them called of a library.
fn callers(stack: &[String]) -> String {
    let names: Vec<Name> = stack.iter().rev().map(|frame| Name::of(frame)).collect();
    let is_library = |name: &Name| {
        let path = name.path();
        path.starts_with("std::") || LANGUAGES.is_allocator(&path) || is_glue(name)
    };
    let own = names.iter().position(|name| !is_library(name)).unwrap_or(0);
    let called = names[..own].last();
    let program = names[own..].iter().filter(|name| !is_library(name));
    let shown: Vec<_> =
        called.into_iter().chain(program).take(NAMED).map(Name::to_string).collect();
    shown.join(" ← ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stacks_that_keep_most_are_named_from_the_inside_by_the_program_s_functions() {
        let stacks = "clone3;main;serve;remember;alloc::vec::Vec::push;alloc::alloc::realloc;malloc 3000\n\
                      clone3;main;serve;remember;alloc::vec::Vec::push;malloc 3000\nmain;serve;log;malloc 2000\n";
        let heap = KeptHeap { stacks: stacks.parse().unwrap(), requests: 100, slowdown: None };
        let name = "Vec::push ← remember ← serve ← main".to_owned();
        let largest = heap.largest(1);
        assert_eq!(largest, [KeptStack { name, bytes_per_request: 60, share: 0.75 }]);
        assert_eq!(heap.largest(3)[1].name, "malloc ← log ← serve ← main");
        assert_eq!(heap.per_request(&View::default()).total(), 80);
    }
}
