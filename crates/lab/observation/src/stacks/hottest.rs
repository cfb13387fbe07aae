//! The functions of a server that cost most: those of its handler first, then those around it.
//!
//! A stack leads through the runtime into the handler: the program's own code, and all that it calls. In
//! a release build the handler often has no function, because the compiler inlined it into one of the
//! runtime. That one is then so busy that it counts as the handler.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{Folded, JIT, KERNEL, names::Name, view::is_glue};
use crate::languages::LANGUAGES;

/// From this share of the samples on, what a function of the runtime does itself is an inlined handler.
const INLINED: f64 = 0.25;
/// A function that spends this share of its samples in one other function only passes the call on.
const PASSED_ON: f64 = 0.99;
/// Functions below this share say little.
const LEAST: f64 = 0.01;

/// A function with all that it called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Function {
    pub name: String,
    /// The function's share of the samples, from 0 to 1; recursion counts once.
    pub share: f64,
    /// Whether the function is the program's own code, or was called by it.
    pub in_handler: bool,
}

/// The `n` functions that cost most in stacks as they were recorded. Those of the handler come before
/// larger ones of the runtime.
pub fn hottest(raw: &Folded, n: usize) -> Vec<Function> {
    let mut known = HashMap::new();
    let mut stacks: Vec<(Stack, u64)> =
        raw.iter().map(|(stack, weight)| (Stack::of(stack, &mut known), weight)).collect();
    let total = raw.total().max(1) as f64;

    let mut busy: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, weight) in
        stacks.iter().filter(|(stack, _)| stack.entry.is_none() && !stack.in_kernel)
    {
        *busy.entry(stack.name(stack.runtime)).or_default() += weight;
    }
    busy.retain(|_, weight| *weight as f64 >= INLINED * total);
    for (stack, _) in stacks.iter_mut().filter(|(stack, _)| stack.entry.is_none()) {
        stack.entry = busy.contains_key(&stack.name(stack.runtime)).then_some(stack.runtime);
    }

    let (mut handler, mut around) = (BTreeMap::new(), BTreeMap::new());
    let mut calls: BTreeMap<[String; 2], u64> = BTreeMap::new();
    for (stack, weight) in &stacks {
        let Some(entry) = stack.entry else {
            *around.entry(stack.name(stack.runtime)).or_insert(0) += weight;
            continue;
        };
        for name in stack.functions(entry) {
            *handler.entry(name).or_insert(0) += weight;
        }
        for call in stack.calls(entry) {
            *calls.entry(call).or_default() += weight;
        }
    }
    for ([caller, _], weight) in calls {
        if handler.get(&caller).is_some_and(|all| weight as f64 >= PASSED_ON * *all as f64) {
            handler.remove(&caller);
        }
    }
    let sorted = |functions: BTreeMap<String, u64>, in_handler| {
        let share = |(name, weight)| Function { name, share: weight as f64 / total, in_handler };
        let mut all: Vec<_> = functions.into_iter().map(share).collect();
        all.retain(|function| function.share >= LEAST);
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all.into_iter()
    };
    sorted(handler, true).chain(sorted(around, false)).take(n).collect()
}

/// The symbol of the runtime's function into which the compiler inlined a busy handler, if it did.
pub fn inlined(raw: &Folded) -> Option<&str> {
    let mut known = HashMap::new();
    let mut busy: BTreeMap<&str, u64> = BTreeMap::new();
    for (stack, weight) in raw.iter() {
        let read = Stack::of(stack, &mut known);
        if let Some(symbol) = stack.last().filter(|_| read.entry.is_none() && !read.in_kernel) {
            *busy.entry(symbol.as_str()).or_default() += weight;
        }
    }
    let (symbol, weight) = busy.into_iter().max_by_key(|(_, weight)| *weight)?;
    (weight as f64 >= INLINED * raw.total() as f64).then_some(symbol)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FrameOwner {
    /// The program's own code, or a library that is not part of the runtime.
    Program,
    /// Code that calls the program, or works for it.
    Runtime,
    /// The standard library, or the C library below another language.
    System,
}

/// The functions of one stack, outermost first, without those that only pass a call on.
#[derive(Debug)]
struct Stack {
    frames: Vec<(String, FrameOwner)>,
    in_kernel: bool,
    /// Where the handler begins.
    entry: Option<usize>,
    /// The innermost function of the runtime, or the outermost function.
    runtime: usize,
}

impl Stack {
    fn of<'a>(raw: &'a [String], known: &mut HashMap<&'a str, Name>) -> Self {
        let user = raw.iter().position(|frame| frame.ends_with("_[k]")).unwrap_or(raw.len());
        let mut frames: Vec<(String, FrameOwner)> = Vec::new();
        let mut all_c = true;
        for (at, symbol) in raw[..user].iter().enumerate() {
            let name = known.entry(symbol.as_str()).or_insert_with(|| Name::of(symbol));
            let label = name.to_string();
            let is_c = label
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || character == '_');
            let kind = match name {
                _ if LANGUAGES.any(|language| &language.runtime, &label) => FrameOwner::Runtime,
                Name::Rust(path) if !path.is_standard() => FrameOwner::Program,
                Name::C(_) if is_nameless(&label) => FrameOwner::System,
                Name::C(_) if all_c || !is_c => FrameOwner::Program,
                _ => FrameOwner::System,
            };
            // In a program without names, all named functions are those of the system.
            all_c &= is_c
                || is_nameless(&label)
                    && (!frames.is_empty() || LANGUAGES.any(|language| &language.nameless, &label));
            // What only passes a call on does the work itself if it calls nothing.
            if at + 1 == user || !is_glue(name) && !is_nameless(&label) {
                frames.push((label, kind));
            }
        }
        // Above its runtime, a program only starts.
        let first = frames.iter().position(|(_, owner)| *owner == FrameOwner::Runtime).unwrap_or(0);
        let entry = (first..frames.len()).find(|at| frames[*at].1 == FrameOwner::Program);
        let runtime =
            frames.iter().rposition(|(_, owner)| *owner == FrameOwner::Runtime).unwrap_or(0);
        Self { frames, in_kernel: user < raw.len(), entry, runtime }
    }

    fn name(&self, at: usize) -> String {
        self.frames.get(at).map_or(KERNEL, |(name, _)| name.as_str()).to_owned()
    }

    /// The functions from here on. Where functions of the runtime call each other, the first is meant.
    fn functions(&self, entry: usize) -> BTreeSet<String> {
        let is_runtime = |at: usize| self.frames[at].1 == FrameOwner::Runtime;
        let is_meant = |at: &usize| *at == entry || !is_runtime(*at) || !is_runtime(at - 1);
        (entry..self.frames.len()).filter(is_meant).map(|at| self.name(at)).collect()
    }

    /// Pairs of functions of the program, of which the first calls the second, from `entry` on.
    fn calls(&self, entry: usize) -> BTreeSet<[String; 2]> {
        let pairs = self.frames[entry.min(self.frames.len())..].windows(2);
        let own = pairs.filter(|pair| pair[1].1 == FrameOwner::Program && pair[0].0 != pair[1].0);
        own.map(|pair| [pair[0].0.clone(), pair[1].0.clone()]).collect()
    }
}

/// Whether this is a file whose functions have no names: `[libc.so.6]`.
fn is_nameless(label: &str) -> bool {
    label.starts_with('[') && label != JIT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str) -> Vec<String> {
        let line = |function: Function| {
            let mark = if function.in_handler { "" } else { ", around it" };
            format!("{:.0} {}{mark}", 100.0 * function.share, function.name)
        };
        hottest(&raw.parse().unwrap(), 6).into_iter().map(line).collect()
    }

    const WORKER: &str = "clone3;start_thread;<std::sys::thread::unix::Thread>::new::thread_start;\
                          tokio::runtime::scheduler::multi_thread::worker::run";
    const WRITE: &str = "hyper::proto::h1::conn::Conn<I,B,T>::poll_flush;writev;tcp_sendmsg_[k]";

    #[test]
    fn the_handler_comes_before_larger_functions_of_the_runtime() {
        let stacks = format!(
            "{WORKER};shop::price;shop::parse;malloc 20\n{WORKER};shop::price;read;vfs_read_[k] 10\n\
             {WORKER};{WRITE} 70\n"
        );
        let expected = ["30 shop::price", "20 malloc", "20 shop::parse", "10 read"];
        assert_eq!(shown(&stacks)[..4], expected);
        assert_eq!(shown(&stacks)[4], "70 hyper::Conn::poll_flush, around it");
    }

    #[test]
    fn a_handler_that_was_inlined_into_the_runtime_is_listed_under_its_name() {
        let call = "<F as axum::handler::Handler<(M,T1),S>>::call::{{closure}}";
        let insert = "std::collections::hash::map::HashMap<K,V,S>::insert";
        let stacks =
            format!("{WORKER};{call} 50\n{WORKER};{call};{insert} 40\n{WORKER};{WRITE} 10\n");
        let expected = [
            "90 axum::Handler::call",
            "40 HashMap::insert",
            "10 hyper::Conn::poll_flush, around it",
        ];
        assert_eq!(shown(&stacks), expected);
        assert_eq!(inlined(&stacks.parse().unwrap()), Some(call));
        assert_eq!(inlined(&format!("{WORKER};shop::price 9\n").parse().unwrap()), None);
        let glue = "<axum::util::MapIntoResponseFuture<F> as core::future::future::Future>::poll";
        let stacks = format!("{WORKER};{glue} 90\n{WORKER};{WRITE} 10\n");
        assert_eq!(shown(&stacks)[0], "90 axum::MapIntoResponseFuture::poll");
    }

    #[test]
    fn a_handler_that_takes_all_the_time_is_listed_and_what_only_calls_it_is_not() {
        let main = "_start;__libc_start_main;main;serve;accept_one";
        let stacks = format!("{main};handle;checksum 9990\n{main};handle;log 8\n{main};reply 2\n");
        assert_eq!(shown(&stacks), ["100 checksum"]);
        // A file without names in between hides nothing.
        assert_eq!(shown(&stacks.replace("serve", "serve;[nginx]")), ["100 checksum"]);
        assert_eq!(
            shown("[libc.so.6];[dufs];syscall;vfs_read_[k] 9\n"),
            ["100 syscall, around it"]
        );
    }

    #[test]
    fn every_language_has_a_handler() {
        for (raw, first) in [
            (
                "runtime.goexit.abi0;net/http.(*conn).serve;main.price;runtime.mallocgc;runtime.nextFree 9\n",
                "100 main.price",
            ),
            (
                "_start;main;node::Start;v8::Call;JS:*price /srv/server.js:12:3;Builtins_ArraySort 6\n\
                 _start;main;node::Start;v8::Call;JS:*price /srv/server.js:12:3 4\n",
                "100 price server.js:12",
            ),
            (
                "Py_BytesMain;Py_RunMain;_PyEval_EvalFrameDefault;sha256_update 9\n",
                "100 sha256_update",
            ),
            ("main;worker;handle;read;vfs_read_[k] 5\nmain;worker;handle;parse 5\n", "100 handle"),
        ] {
            assert_eq!(shown(raw)[0], first);
        }
    }
}
