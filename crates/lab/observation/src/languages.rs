//! Facts about languages: how their threads start, what their functions are for, and how to unwind them.
//!
//! All of it is in `languages.toml`, one entry a language.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use anyhow::Context as _;
use regex_lite::Regex;
use rustc_demangle::demangle;
use serde::Deserialize;

use super::stacks::{KERNEL, PROCESS, UNKNOWN};

pub static LANGUAGES: LazyLock<Languages> = LazyLock::new(|| {
    Languages::parse(include_str!("languages.toml")).expect("languages.toml is valid")
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Languages {
    language: Vec<Language>,
}

/// An entry; `languages.toml` says what each field is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Language {
    pub name: String,
    programs: Vec<Pattern>,
    contains: Option<String>,
    pub frame_pointers: bool,
    pub maps_early: bool,
    pub write_names: Vec<String>,
    pub whole_stacks: Option<String>,
    pub named_code: Option<String>,
    pub heap_tool: Option<String>,
    starts: Vec<Pattern>,
    pub nameless: Vec<Pattern>,
    shown: Vec<(Symbol, String)>,
    pub glue: Vec<Pattern>,
    layers: Vec<(String, Vec<Pattern>)>,
    pub runtime: Vec<Pattern>,
    groups: BTreeMap<String, Vec<Pattern>>,
}

/// How `perf` marks a function of the kernel.
const IN_KERNEL: &str = "_[k]";

/// A name in which each `*` is any text. It fits a function of the kernel only if it says so: the kernel has
/// allocators of its own.
#[derive(Clone, Debug, Deserialize)]
pub struct Pattern(String);

impl Pattern {
    pub fn fits(&self, name: &str) -> bool {
        if name.ends_with(IN_KERNEL) && !self.is_of_kernel() {
            return false;
        }
        let mut parts = self.0.split('*');
        let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
            return false;
        };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }

    /// Whether it fits functions of the kernel only.
    pub fn is_of_kernel(&self) -> bool {
        self.0.ends_with(IN_KERNEL)
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Symbol(Regex);

impl TryFrom<String> for Symbol {
    type Error = regex_lite::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Languages {
    fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).context("languages.toml")
    }

    /// The language of a running program, by its executable file or a link to that; `None` for one that
    /// needs no care.
    pub fn of_program(&self, file: &Path) -> Option<&Language> {
        let program = std::fs::read_link(file);
        let name = program.as_deref().unwrap_or(file).file_name()?.to_string_lossy();
        let named =
            |language: &&Language| language.programs.iter().any(|program| program.fits(&name));
        self.language.iter().find(named).or_else(|| {
            let content = std::fs::read(file).ok()?;
            let has =
                |sign: &String| content.windows(sign.len()).any(|window| window == sign.as_bytes());
            self.language.iter().find(|language| language.contains.as_ref().is_some_and(has))
        })
    }

    /// Whether a stack, outermost frame first, starts where threads start. One that does not was cut and
    /// sits at the wrong place.
    ///
    /// A stripped C library has no names for its own frames outside the thread's first function.
    pub fn is_rooted(&self, stack: &[String]) -> bool {
        let is_nameless = |frame: &&String| self.any(|language| &language.nameless, frame);
        stack.iter().find(|frame| !is_nameless(frame)).is_some_and(|frame| {
            let name = format!("{:#}", demangle(frame.trim_end_matches("_[k]")));
            let name = name.split('@').next().unwrap_or_default().trim_start_matches('_');
            // The calling convention of a Go function.
            self.any(|language| &language.starts, name.trim_end_matches(".abi0"))
        })
    }

    /// A symbol as the programmers of its language write it; `None` if it needs more than its entry.
    pub fn readable(&self, symbol: &str) -> Option<String> {
        let mut all = self.language.iter().flat_map(|language| &language.shown);
        let (Symbol(regex), shown) = all.find(|(Symbol(regex), _)| regex.is_match(symbol))?;
        Some(regex.replace(symbol, shown.as_str()).into_owned())
    }

    /// Whether a name is in this list of any language.
    pub fn any(&self, list: impl Fn(&Language) -> &[Pattern], name: &str) -> bool {
        self.language.iter().any(|language| fits(list(language), name))
    }

    /// Whether a function allocates memory, frees it or collects garbage.
    pub fn is_allocator(&self, name: &str) -> bool {
        let is_in = |group| {
            self.any(|language| language.groups.get(group).map_or(&[], |patterns| patterns), name)
        };
        is_in("allocator") || is_in("gc")
    }

    /// The part of a server, outside its own code, that a stack with these functions is in.
    pub fn layer(&self, paths: &[String]) -> Option<String> {
        let mut layers = self.language.iter().flat_map(|language| &language.layers);
        let found = layers.find(|(_, patterns)| paths.iter().any(|path| fits(patterns, path)));
        found.map(|(name, _)| name.clone())
    }

    /// Whether a frame is the kernel, a layer, or what has neither: neither the case's fault nor its fix.
    pub fn is_machinery(&self, frame: &str) -> bool {
        [KERNEL, PROCESS, UNKNOWN].contains(&frame)
            || self
                .language
                .iter()
                .flat_map(|language| &language.layers)
                .any(|(name, _)| name == frame)
    }

    /// Adds the groups of functions of all languages to these.
    pub fn add_groups(&self, groups: &mut BTreeMap<String, Vec<Pattern>>) {
        for (name, patterns) in self.language.iter().flat_map(|language| &language.groups) {
            groups.entry(name.clone()).or_default().extend_from_slice(patterns);
        }
    }

    /// The advice of all languages about the problem that `of` selects.
    pub fn advice<'a>(&'a self, of: impl Fn(&'a Language) -> Option<&'a String>) -> String {
        self.language.iter().filter_map(of).cloned().collect::<Vec<_>>().join(", ")
    }
}

fn fits(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.fits(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &str) -> Vec<String> {
        frames.split(';').map(str::to_owned).collect()
    }

    #[test]
    fn a_pattern_fits_a_function_of_the_kernel_only_if_it_says_so() {
        let fits = |pattern: &str, name| Pattern(pattern.to_owned()).fits(name);
        assert!(
            fits("*malloc*", "__libc_malloc") && fits("*sys_open*_[k]", "__x64_sys_openat_[k]")
        );
        assert!(!fits("*malloc*", "__kmalloc_noprof_[k]") && !fits("*_[k]", "malloc"));
    }

    #[test]
    fn only_stacks_from_the_start_of_a_thread_are_rooted() {
        for rooted in [
            "clone3;start_thread;work",
            "_start;__libc_start_main@@GLIBC_2.34;main",
            "__libc_start_call_main;main",
            "ret_from_fork_asm_[k];schedule_tail_[k]",
            "start;main",
            "[libc.so.6];[libc.so.6];<std::sys::thread::unix::Thread>::new::thread_start",
            "[libc-2.31.so];main;work",
            "runtime.goexit.abi0;net/http.(*Server).Serve.gowrap3;net/http.(*conn).serve",
            "[libc.so.6];node::Start;node::NodeMainInstance::Run",
        ] {
            assert!(LANGUAGES.is_rooted(&stack(rooted)), "{rooted}");
        }
        for cut in ["tokio::task::poll;work", "[libc.so.6]", "[unknown];main", "do_exit_[k]"] {
            assert!(!LANGUAGES.is_rooted(&stack(cut)), "{cut}");
        }
    }
}
