//! Symbols as a reader wants them: `String::clone` instead of a mangled path with hash and generics.

use std::fmt;

use super::path::Path;
use crate::languages::LANGUAGES;

/// The item that a symbol names, without hash, generics, modules and closures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Name {
    Rust(Path),
    /// The drop of a value and everything it owns: its type.
    Drop(Path),
    /// A function of C, of the kernel, or of another language; or an address.
    C(String),
}

impl Name {
    /// Takes a mangled name (legacy or v0) or one that the profiler has demangled. The mark `_[k]`
    /// of a kernel frame is dropped.
    pub fn of(symbol: &str) -> Self {
        let symbol = symbol.strip_suffix("_[k]").unwrap_or(symbol).trim();
        if let Some(name) = LANGUAGES.readable(symbol) {
            return Self::C(name);
        }
        // Linkers append `.llvm.123`, which the demangler keeps.
        let demangled = format!("{:#}", rustc_demangle::demangle(symbol));
        let demangled = demangled.split(".llvm.").next().unwrap_or_default();
        if let Some(dropped) = demangled.strip_prefix("core::ptr::drop_in_place") {
            let dropped = dropped.strip_prefix("::").unwrap_or(dropped);
            let of = dropped.strip_prefix('<').and_then(|of| of.strip_suffix('>'));
            return Self::Drop(Path::of_type(of.unwrap_or("value")));
        }
        if demangled.contains("::") {
            return Self::Rust(Path::of_function(demangled));
        }
        // `[libc.so.6]` is a library whose function has no name.
        let end = demangled.find(['@', '.']).filter(|end| *end > 0 && !demangled.starts_with('['));
        Self::C(demangled[..end.unwrap_or(demangled.len())].to_owned())
    }

    /// The name as `languages.toml` has it: for a Rust function, `crate::Type::function`.
    pub fn path(&self) -> String {
        match self {
            Self::Rust(path) | Self::Drop(path) => {
                let is_std = path.is_standard() && path.krate != "__rustc";
                let krate = if is_std { "std" } else { &path.krate };
                let poll = if path.is_poll { "(poll)" } else { "" };
                format!("{krate}::{}{poll}", path.item.join("::"))
            }
            Self::C(name) => name.clone(),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rust(path) => path.fmt(f),
            Self::Drop(path) => write!(f, "drop {path}"),
            Self::C(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    /// Names from recordings of the cases' servers, and a few made-up ones, and how they should read.
    const NAMES: &str = include_str!("../../tests/fixtures/names.txt");

    #[test]
    fn names_shrink_to_type_and_function() {
        for line in NAMES.lines() {
            let (symbol, name) = line.split_once(" => ").unwrap_or((line, line));
            assert_eq!(Name::of(symbol).to_string(), name, "from {symbol}");
        }
    }
}
