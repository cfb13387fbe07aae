//! Stacks as a lesson needs them: they start at the case's own code and leave the machinery out.

use std::collections::HashMap;

use super::{Folded, names::Name, path::Path};
use crate::languages::LANGUAGES;

/// The frame for everything the kernel did for its caller.
pub const KERNEL: &str = "kernel";
/// A function without a name that was compiled at run time.
pub const JIT: &str = "[JIT]";
/// The frame below stacks that the profiler cut.
pub const UNKNOWN: &str = "unknown caller";
/// The frame for what belongs to no request.
pub const PROCESS: &str = "process";
/// A module that contains variants but is not one.
const STEPS: &str = "steps";

/// How stacks are simplified, so that two variants can be compared.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The case's own crates as paths show them: `hot_clone`. Stacks start at the first frame of
    /// these crates. Without any, stacks keep all their frames.
    pub crates: Vec<String>,
    /// Modules to drop from the names of own functions, one for each variant: `slow`, `no_clone`.
    pub variants: Vec<String>,
}

impl View {
    /// The stacks with readable names. A stack that never enters the case's own code becomes one
    /// frame: `tls`, `http`, `tokio runtime` or `process`. A cut stack sits on `unknown caller`. The
    /// kernel's work is one frame on top of its caller.
    pub fn of(&self, raw: &Folded) -> Folded {
        let mut known = HashMap::new();
        raw.iter().map(|(stack, spent)| (self.simplified(stack, &mut known), spent)).collect()
    }

    fn simplified<'a>(
        &self,
        stack: &'a [String],
        known: &mut HashMap<&'a str, Name>,
    ) -> Vec<String> {
        let user = stack.iter().position(|frame| frame.ends_with("_[k]")).unwrap_or(stack.len());
        let name = |symbol| known.entry(symbol).or_insert_with(|| Name::of(symbol)).clone();
        let names: Vec<Name> = stack[..user].iter().map(String::as_str).map(name).collect();

        let mut frames = Vec::new();
        match names.iter().position(|name| self.is_own(name)) {
            Some(entry) => frames.extend(self.labels(&names[entry..])),
            None if self.crates.is_empty() => frames.extend(self.labels(&names)),
            None => match outside(stack, &names) {
                Some(layer) => frames.push(layer),
                None => {
                    frames.push(UNKNOWN.to_owned());
                    frames.extend(self.labels(&names));
                }
            },
        }
        if user < stack.len() {
            frames.push(KERNEL.to_owned());
        }
        // Recursion through frames that are left out is one frame.
        frames.dedup();
        frames
    }

    fn labels<'a>(&'a self, names: &'a [Name]) -> impl Iterator<Item = String> + 'a {
        let shown = |name: &&Name| self.is_own(name) || !is_glue(name);
        names.iter().filter(shown).map(|name| self.label(name))
    }

    fn is_own(&self, name: &Name) -> bool {
        matches!(name, Name::Rust(path) if self.crates.contains(&path.krate))
    }

    /// An own function has the name it has in its source; all others show their crate.
    fn label(&self, name: &Name) -> String {
        let owned = |path: &Path| self.crates.contains(&path.krate);
        match name {
            Name::Rust(path) if owned(path) && path.is_method() => path.item.join("::"),
            Name::Rust(path) if owned(path) => {
                let is_variant = |name: &&String| self.variants.contains(name) || *name == STEPS;
                let modules = path.modules.iter().filter(|name| !is_variant(name));
                modules.chain(&path.item).cloned().collect::<Vec<_>>().join("::")
            }
            Name::Drop(path) if owned(path) => format!("drop {}", path.item.join("::")),
            _ => name.to_string(),
        }
    }
}

/// The frame for a stack without the case's code; `None` if the stack was cut.
fn outside(stack: &[String], names: &[Name]) -> Option<String> {
    let paths: Vec<_> = names.iter().map(Name::path).collect();
    LANGUAGES.layer(&paths).or_else(|| {
        // The start and the end of the process, signals.
        LANGUAGES.is_rooted(stack).then(|| PROCESS.to_owned())
    })
}

/// Whether a frame only passes a call on.
pub fn is_glue(name: &Name) -> bool {
    !matches!(name, Name::Drop(_)) && LANGUAGES.any(|language| &language.glue, &name.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(stacks: &str) -> String {
        let view = View {
            crates: ["hot_clone", "double_parse", "per_request_client"].map(str::to_owned).into(),
            variants: ["slow", "fixed"].map(str::to_owned).into(),
        };
        view.of(&stacks.parse().unwrap()).to_string()
    }

    const WORKER: &str = "clone3;start_thread;tokio::runtime::scheduler::multi_thread::worker::run";

    #[test]
    fn stacks_start_at_the_cases_own_code_and_leave_the_machinery_out() {
        let through_glue = format!(
            "{WORKER};<warp::filter::then::ThenFuture<T,F> as core::future::future::Future>::poll;\
             hot_clone::slow::sum_in_rounds;<alloc::string::String as core::clone::Clone>::clone;\
             __rustc::__rust_alloc;malloc 7\n"
        );
        let both_variants = "double_parse::slow::summarise;double_parse::slow::parse 1\n\
                             double_parse::fixed::summarise;double_parse::fixed::parse 2\n\
                             double_parse::fixed::summarise;double_parse::shape::check 3\n";
        let kernel = "hot_clone::slow::cpu;malloc;asm_exc_page_fault_[k];exc_page_fault_[k] 1\n";
        let http = format!("{WORKER};hyper::proto::h1::conn::Conn<I,B,T>::poll_read_head 1\n");
        let parked = format!("{WORKER};mio::poll::Poll::poll;epoll_wait;do_epoll_wait_[k] 2\n");
        let tls = format!("{WORKER};hyper::a::Conn::poll;rustls::conn::Connection::write 3\n");
        for (raw, simplified) in [
            (&*through_glue, "sum_in_rounds;String::clone;malloc 7\n"),
            (both_variants, "summarise;parse 3\nsummarise;shape::check 3\n"),
            (kernel, "cpu;malloc;kernel 1\n"),
            (&http, "http 1\n"),
            (&parked, "tokio runtime;kernel 2\n"),
            (&tls, "tls 3\n"),
            ("alloc::string::String::clone;malloc 4\n", "unknown caller;String::clone;malloc 4\n"),
        ] {
            assert_eq!(view(raw), simplified, "{raw}");
        }
    }

    /// Stacks of the cases' servers as `perf` printed them, and the result.
    #[test]
    fn recorded_stacks_show_the_functions_of_the_cases() {
        let raw = include_str!("../../tests/fixtures/recorded.raw");
        let simplified = include_str!("../../tests/fixtures/recorded.folded");
        assert_eq!(view(raw), simplified);
    }

    #[test]
    fn without_a_known_crate_everything_but_glue_is_kept() {
        let stack = "main;std::rt::lang_start::{{closure}};my::main;hyper::Conn::write;\
                     <std::sync::Mutex<T> as core::future::future::Future>::poll;writev 1\n";
        let all = View::default().of(&stack.parse().unwrap());
        assert_eq!(all.to_string(), "main;my::main;hyper::Conn::write;writev 1\n");
    }
}
