//! What a reader of a flame graph does not need: glue between frames, and the server's machinery.

use super::super::names::{Name, Path};

/// The frame for stacks that never enter a case's own code, and the crates that put a stack there.
/// The first group with a crate in the stack wins: TLS runs inside HTTP, and HTTP inside the runtime.
const GROUPS: [(&str, &[&str]); 3] = [
    ("tls", &["ring", "rustls", "tokio_rustls", "webpki"]),
    (
        "http",
        &["axum", "case_server", "h2", "http", "httparse", "hyper", "hyper_util", "tower", "warp"],
    ),
    ("tokio runtime", &["mio", "tokio"]),
];

/// C functions in which threads start: a stack with one of them is complete.
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
/// Futures that only wrap others, in crates that also have futures of substance.
const WRAPPERS: [&str; 3] = ["GracefulConnectionFuture", "Lazy", "Oneshot"];
/// Functions that only call a closure or catch its panic.
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
/// Iterator adapters, and the code that collects them into a `Vec`.
const ITERATION: [&str; 5] =
    ["GenericShunt", "Map", "SpecCloneIntoVec", "SpecFromIter", "try_process"];

/// The frame for a stack without the case's code; `None` if the stack was cut.
pub fn group(names: &[Name]) -> Option<&'static str> {
    let of = |name: &Name| match name {
        Name::Rust(path) | Name::Drop(path) => path.krate.clone(),
        Name::C(_) => String::new(),
    };
    let crates: Vec<String> = names.iter().map(of).collect();
    let has_any = |group: &[&str]| crates.iter().any(|krate| group.contains(&krate.as_str()));
    let found = GROUPS.iter().find(|(_, group)| has_any(group)).map(|(name, _)| *name);
    let is_start = |name: &Name| matches!(name, Name::C(name) if STARTS.contains(&name.as_str()));
    // The rest of a complete stack: the start and end of the process, signals.
    found.or_else(|| names.first().filter(|name| is_start(name)).map(|_| "process"))
}

/// Whether a frame only passes a call on.
pub fn is_noise(name: &Name) -> bool {
    match name {
        Name::Rust(path) => is_glue(path),
        Name::Drop(_) => false,
        Name::C(name) => STARTS.contains(&name.as_str()) || name.starts_with("__libc_start"),
    }
}

fn is_glue(path: &Path) -> bool {
    let first = path.item.first().map_or("", String::as_str);
    // Rust's own names for `malloc` and `free`, and the wrappers that record spans.
    matches!(path.krate.as_str(), "__rustc" | "case_probe")
        || path.is_poll && COMBINATORS.contains(&path.krate.as_str())
        || path.is_poll && WRAPPERS.contains(&first)
        || path.is_standard() && CALLS.contains(&path.function())
        || path.is_standard() && path.item.iter().any(|name| name == "lang_start")
        || path.is_standard() && ITERATION.contains(&first)
}
