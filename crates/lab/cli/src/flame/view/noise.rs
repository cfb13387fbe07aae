//! What a reader of a flame graph does not need: glue between frames, and servers' machinery.

use crate::flame::names::{Name, Path};

/// The names of frames for stacks that never enter a case's own code, and the crates that make a
/// stack belong there. The first that has any of its crates in the stack gets it: TLS is always
/// inside of HTTP, and HTTP inside of the runtime.
pub const GROUPS: [(&str, &[&str]); 3] = [
    ("tls", &["ring", "rustls", "tokio_rustls", "webpki"]),
    (
        "http",
        &["axum", "case_server", "h2", "http", "httparse", "hyper", "hyper_util", "tower", "warp"],
    ),
    ("tokio runtime", &["mio", "tokio"]),
];

/// C functions in which every thread starts: a stack with one of them is complete.
const STARTS: [&str; 5] = ["_start", "clone3", "start_thread", "thread_start", "start"];

/// Crates whose futures only wrap other futures.
const COMBINATORS: [&str; 11] = [
    "alloc",
    "axum",
    "axum_core",
    "core",
    "futures_core",
    "futures_util",
    "std",
    "tokio",
    "tower",
    "tower_http",
    "warp",
];
/// Futures that only wrap others in crates that have real ones too.
const WRAPPERS: [&str; 3] = ["GracefulConnectionFuture", "Lazy", "Oneshot"];
/// Functions that call a closure, or catch what it throws.
const CALLS: [&str; 10] = [
    "__rust_begin_short_backtrace",
    "__rust_end_short_backtrace",
    "call_mut",
    "call_once",
    "catch_unwind",
    "do_call",
    "lang_start",
    "lang_start_internal",
    "thread_start",
    "try",
];
/// Iterators inside of iterators, and the ways of a `Vec` to be filled from them.
const ITERATION: [&str; 5] =
    ["GenericShunt", "Map", "SpecCloneIntoVec", "SpecFromIter", "try_process"];

/// The frame that stands for a stack without own code, unless it was cut off.
pub fn group(names: &[Name]) -> Option<&'static str> {
    let of = |name: &Name| match name {
        Name::Rust(path) | Name::Drop(path) => path.krate.clone(),
        Name::C(_) => String::new(),
    };
    let crates: Vec<String> = names.iter().map(of).collect();
    let has_any = |group: &[&str]| crates.iter().any(|krate| group.contains(&krate.as_str()));
    let found = GROUPS.iter().find(|(_, group)| has_any(group)).map(|(name, _)| *name);
    let is_start = |name: &Name| matches!(name, Name::C(name) if STARTS.contains(&name.as_str()));
    // A thread that does nothing of the above: the process's start and end, signals.
    found.or_else(|| names.first().filter(|name| is_start(name)).map(|_| "process"))
}

/// Whether a frame only hands on a call.
pub fn is_noise(name: &Name) -> bool {
    match name {
        Name::Rust(path) => is_glue(path),
        Name::Drop(_) => false,
        Name::C(name) => STARTS.contains(&name.as_str()) || name.starts_with("__libc_start"),
    }
}

fn is_glue(path: &Path) -> bool {
    let first = path.item.first().map_or("", String::as_str);
    // The allocator's own names for `malloc` and `free`.
    path.krate == "__rustc"
        || path.is_poll && COMBINATORS.contains(&path.krate.as_str())
        || path.is_poll && WRAPPERS.contains(&first)
        || path.is_standard() && CALLS.contains(&path.function())
        || path.is_standard() && path.item.iter().any(|name| name == "lang_start")
        || path.is_standard() && ITERATION.contains(&first)
}
